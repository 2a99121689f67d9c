"""``nodewright world``: a fake world to try things on."""

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from nodewright.api import Command, ConfigurationError, NodewrightError

from nodewright_fake.cloud.actions import ACTIONS
from nodewright_fake.interruption import Interruption
from nodewright_fake.provider.client import CloudClient
from nodewright_fake.provider.provider import URL_VARIABLE

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from nodewright_fake.scenario import Scenario
    from nodewright_fake.world import World

_GUIDE = """\
The world is up{name}. Ctrl-C ends it.

  export KUBECONFIG={kubeconfig}
  kubectl get nodes,pods --all-namespaces
"""
_OWN_CLOUD = """
Let Nodewright scale it with this file, and `nodewright run --config` it:

  apiVersion: nodewright.dev/v1
  kind: Autoscaler
  cluster: world
  providers:
    - fake: {{url: {url}}}

Let things go wrong:

  nodewright world control --url {url} stock-out '{pool}'
  nodewright world control --url {url} heal
"""
_ADOPTION = """
Each Node that others create at the API server has a kubelet until it is deleted. nodewright.testing.Nodes does both.
"""


class WorldCommand(Command):
    """Runs a world, changes one that runs, or prints a scenario to begin with."""

    summary = "run a fake world: cloud, API server and everything that acts in a cluster"
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright world scenario": "print a scenario to begin with",
        "nodewright world up --scenario world.yaml --speed 10": "run it, ten times as fast",
        "nodewright world control --url http://127.0.0.1:8000 heal": "end all faults in a world that runs",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare ``up``, ``control`` and ``scenario``."""
        commands = parser.add_subparsers(dest="world_command", metavar="COMMAND", required=True)

        up = commands.add_parser("up", help="run a world until Ctrl-C")
        up.add_argument("--scenario", type=Path, metavar="FILE", help="the world to run; an example if not given")
        up.add_argument("--speed", type=float, metavar="N", help="seconds of the world for each second of real time")
        up.add_argument("--port", type=int, default=0, metavar="P", help="port of the API server; any free one if 0")
        up.add_argument("--cloud-port", type=int, default=0, metavar="P", help="port of the cloud; any free one if 0")
        up.add_argument(
            "--adopt", action="store_true", help="also run pods on nodes that others make, such as a cloud of your own"
        )

        control = commands.add_parser("control", help="change a world that runs, or show what is set and counted")
        control.add_argument(
            "--url", default=os.environ.get(URL_VARIABLE), help=f"the cloud's URL; by default ${URL_VARIABLE}"
        )
        _add_actions(control)

        commands.add_parser("scenario", help="print an example of a scenario")

    def run(self, arguments: Namespace) -> int:
        """Do what was asked for."""
        match arguments.world_command:
            case "up":
                return _up(arguments)
            case "control":
                return _control(arguments)
        _say(_example())
        return 0


def _add_actions(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    for name, action in ACTIONS.items():
        fields = actions.add_parser(name, help=action.summary, description=action.__doc__)
        for field, info in action.model_fields.items():
            # Values stay text: the cloud reads them, and reports what is wrong with them.
            flag = field if info.is_required() else f"--{field.replace('_', '-')}"
            fields.add_argument(flag, metavar=field.upper(), help=_choices(info))


def _choices(info: "FieldInfo") -> str | None:
    kind = info.annotation
    choices = list(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else get_args(kind)
    named = [str(choice) for choice in choices if isinstance(choice, StrEnum)]
    default = None if info.is_required() or info.default is None else f"{info.default} if not given"
    return "; ".join(part for part in (", ".join(named), default) if part) or None


def _up(arguments: Namespace) -> int:
    from nodewright_fake.scenario import load_scenario, parse_scenario
    from nodewright_fake.world import World

    if arguments.speed is not None and arguments.speed <= 0:
        return _complain("--speed must be above 0", status=2)
    try:
        scenario = load_scenario(arguments.scenario) if arguments.scenario else parse_scenario(_example())
        clock = scenario.clock.make(arguments.speed)
        world = World(scenario, clock, api_port=arguments.port, cloud_port=arguments.cloud_port, adopt=arguments.adopt)
    except ConfigurationError as error:
        return _complain(str(error), status=2)
    with Interruption() as interruption, ExitStack() as stack:
        try:
            stack.enter_context(world)
        except OSError as error:
            return _complain(f"the world can't be opened: {error}; choose another --port or --cloud-port", status=1)
        _say(_guide(world, scenario, adopt=arguments.adopt))
        return _narrate(world, interruption)


def _guide(world: "World", scenario: "Scenario", *, adopt: bool) -> str:
    parts = (_GUIDE, _OWN_CLOUD if scenario.groups else "", _ADOPTION if adopt else "")
    return "".join(parts).format(
        name=f": {scenario.name}" if scenario.name else "",
        kubeconfig=world.kubeconfig,
        url=world.cloud_server.url,
        pool=next(iter(world.cloud.known.pools), "*"),
    )


def _narrate(world: "World", interruption: Interruption) -> int:
    """Print the story as it goes on, until it is interrupted."""
    told = 0
    while not interruption:
        time.sleep(0.1)
        for note in world.notes[told:]:
            _say(f"{_since(int((note.at - world.began).total_seconds()))}  {note.text}\n")
            told += 1
        if world.failure is not None:
            return _complain(f"the world has come to an end: {world.failure!r}", status=1)
    return 0


def _since(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _control(arguments: Namespace) -> int:
    if not arguments.url:
        return _complain(f"which world? Give its --url, or set {URL_VARIABLE}", status=2)
    client = CloudClient(arguments.url, user_agent="nodewright world control")
    try:
        state = _act(client, arguments) if arguments.action else client.get("control")
    except NodewrightError as error:
        return _complain(str(error), status=1)
    finally:
        client.close()
    _say(json.dumps(state, indent=2) + "\n")
    return 0


def _act(client: CloudClient, arguments: Namespace) -> Any:
    given = {field: getattr(arguments, field) for field in ACTIONS[arguments.action].model_fields}
    return client.post(
        "control", arguments.action, body={field: value for field, value in given.items() if value is not None}
    )


def _example() -> str:
    return (resources.files("nodewright_fake.scenario") / "example.yaml").read_text()


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _complain(text: str, *, status: int) -> int:
    sys.stderr.write(f"{text}\n")
    return status
