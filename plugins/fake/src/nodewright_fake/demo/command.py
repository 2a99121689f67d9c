"""``nodewright demo``."""

import math
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from nodewright.api import Command

if TYPE_CHECKING:
    from rich.console import Console

    from nodewright_fake.demo.player import Player
    from nodewright_fake.demo.stage import Stage
    from nodewright_fake.interruption import Interruption
    from nodewright_fake.scenario import Scenario

_FRAME_SECONDS = 1 / 8


class DemoCommand(Command):
    """Plays a story in a fake world with the real autoscaler in it, and sums it up."""

    summary = "watch a small cluster breathe: a story of a minute, in a fake world"
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright demo": "a minute on the screen",
        "nodewright demo --plain --duration 10m": "lines for a log, and an early end",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what is played, and how it is shown."""
        parser.add_argument("--scenario", type=Path, metavar="FILE", help="play a story of your own")
        parser.add_argument(
            "--speed", type=_speed, metavar="N", help="seconds of the story for each second of real time"
        )
        parser.add_argument("--plain", action="store_true", help="print lines, even on a terminal")
        parser.add_argument(
            "--duration",
            type=_duration,
            metavar="D",
            help="end after so much of the story's time, such as 10m; not given: with its last step",
        )
        parser.add_argument(
            "--keep", action="store_true", help="go on when the story is over, until Ctrl-C, for kubectl to look at"
        )

    def run(self, arguments: Namespace) -> int:
        """Play and print the summary. Returns 0; 130 if Ctrl-C came before the end of the story."""
        from rich.console import Console

        from nodewright_fake.demo.player import Player
        from nodewright_fake.demo.report import report
        from nodewright_fake.demo.stage import Stage, StoryClock
        from nodewright_fake.interruption import Interruption

        scenario = _scenario(arguments.scenario)
        speed = arguments.speed or scenario.clock.speed
        clock = StoryClock(speed=speed, start=scenario.clock.start)
        console = Console()
        length = _length(scenario, arguments.duration)
        with Interruption() as interruption:
            with (
                Stage(scenario, clock, speed=speed, length=length) as stage,
                Player(stage, on_ready=clock.begin) as player,
                _show(stage, console, plain=arguments.plain) as update,
            ):
                told = _play(stage, player, update, interruption, keep=arguments.keep)
                summary = stage.summary()
            _say(f"\n{report(summary, console.width)}")
        return 0 if told else interruption.status


def _play(
    stage: "Stage", player: "Player", update: Callable[[], None], interruption: "Interruption", *, keep: bool
) -> bool:
    """Show frame after frame to the end, or to the first interruption; return whether the story came to its end."""
    told = False
    while not interruption:
        over = stage.over
        update()
        player.check()
        if over and not told:
            told = True
            if not keep:
                break
            stage.announce(f"export KUBECONFIG={stage.world.kubeconfig} (the story is over, Ctrl-C ends its world)")
        time.sleep(_FRAME_SECONDS)
    return told


def _show(stage: "Stage", console: "Console", *, plain: bool) -> AbstractContextManager[Callable[[], None]]:
    from nodewright_fake.demo.plain import PlainShow
    from nodewright_fake.demo.view.frame import live_show

    if plain or not console.is_terminal or console.is_dumb_terminal:
        return nullcontext(PlainShow(stage, _say).update)
    return live_show(stage, console)


def _scenario(file: Path | None) -> "Scenario":
    from nodewright_fake.scenario import load_scenario, parse_scenario

    if file is not None:
        return load_scenario(file)
    return parse_scenario((resources.files("nodewright_fake.demo") / "story.yaml").read_text(), source="story.yaml")


def _length(scenario: "Scenario", duration: float | None) -> timedelta | None:
    """Where the story ends: as asked for, or with its last step; nowhere if it has none."""
    if duration is None and scenario.story:
        duration = max(step.at for step in scenario.story)
    return None if duration is None else timedelta(seconds=duration)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if 0 < speed < math.inf:
        return speed
    raise ArgumentTypeError(f"{text} is no speed: write a number above 0, such as 20")


def _duration(text: str) -> float:
    from nodewright_fake.duration import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
