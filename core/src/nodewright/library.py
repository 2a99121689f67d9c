"""Decisions as library calls: read a scenario, make a policy, decide, explain. Nothing is connected to or changed.

::

    scenario = read_scenario(Path("picture.yaml"))
    with policy_of(scenario.settings) as policy:
        look = decide(scenario.world(), scenario.memory, policy, scenario.now)
    print(look.decision.grow)
    print("\\n".join(explain_pod(look, "shop/web-1")))

`Scenario`, `World`, `Memory`, `Settings` and `Policy` are values to pass on: what they are made of may change at any
time. A `Look` holds what was decided; its `Decision` is part of the contract of `nodewright.api`.

All errors are `nodewright.api.NodewrightError`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nodewright.api.attribute_docs import show_attributes
from nodewright.config.document import load
from nodewright.config.model import Settings
from nodewright.config.paths import Path as SettingPath
from nodewright.decision.decide import decide as make_decision
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.explain.explanation import explain_group, explain_node, explain_pod
from nodewright.explain.look import Look
from nodewright.plugins import Faults, Registry
from nodewright.runtime.clock import SystemClock
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.answer import answer
from nodewright.scenario.files import ScenarioError, json_pieces, new_file, parse_document, read_documents, yaml_pieces
from nodewright.scenario.rehearsal import Rehearsed, rehearse
from nodewright.scenario.scenario import Picture, Scenario
from nodewright.scenario.scenario import read_scenario as read_document

__all__ = [
    "Look",
    "Memory",
    "Policy",
    "Rehearsed",
    "Scenario",
    "Settings",
    "World",
    "answer",
    "decide",
    "explain_group",
    "explain_node",
    "explain_pod",
    "policy_of",
    "read_scenario",
    "read_settings",
    "rehearse",
    "write_scenario",
]

show_attributes(vars(), ("Look", "Rehearsed", "Scenario"))


def read_scenario(source: Path | str | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Read a scenario, in JSON or YAML, from a file, from its text, or from a document that is decoded already.

    *overrides* are settings by their dotted path, such as ``scaleUp.expanders``. They lie over those of the scenario.
    Raises `NodewrightError` that names the object or the setting that is wrong.
    """
    if isinstance(source, Path):
        source = _only_scenario_of(source)
    document = parse_document(source, "scenario") if isinstance(source, str) else source
    by_path: dict[SettingPath, Any] = {tuple(path.split(".")): value for path, value in (overrides or {}).items()}
    return read_document(document, by_path, Registry())


def read_settings(source: Path | str) -> Settings:
    """Read settings from a YAML configuration: a file, or its text. It may leave everything out.

    Raises `ConfigurationError` with every mistake.
    """
    return load(source, classes=Registry(), complete=False).settings


@contextmanager
def policy_of(settings: Settings) -> Iterator[Policy]:
    """Make the strategies and hooks that *settings* name, for as long as the ``with`` block lasts.

    A plugin that can't be made, or fails, is left out, and the log says why.
    """
    strategies = Strategies(Registry(), Faults(SystemClock()))
    try:
        yield strategies.policy(settings)
    finally:
        strategies.close()


def decide(world: World, memory: Memory, policy: Policy, now: datetime) -> Look:
    """Decide what to do about *world* at *now*. The same arguments give the same decision.

    `Look.decision` says what to do and why, and `Look.memory` is for the next decision. Raises nothing. Decisions on
    one world must not run at the same time.
    """
    decided = make_decision(world, memory, policy, now, in_depth=True)
    return Look(world=world, decision=decided.decision, memory=decided.memory, findings=decided.findings)


def write_scenario(
    file: Path,
    *,
    world: World,
    settings: Settings,
    now: datetime,
    memory: Memory | None = None,
    anonymize: bool = False,
) -> None:
    """Write *world* and what else a decision goes by to a *file*, as a scenario that is decided alike.

    The form is JSON, or YAML if the name says so (``.yaml``); a further ``.gz`` packs it. With *anonymize*, pseudonyms
    take the place of names and of values of labels. Raises `NodewrightError` if the file can't be written.
    """
    picture = Picture(world=world, memory=memory or Memory(), settings=settings, now=now, classes=Registry())
    in_yaml = file.name.removesuffix(".gz").endswith((".yaml", ".yml"))
    entries = picture.entries(anonymize=anonymize)
    with new_file(str(file)) as stream:
        for piece in yaml_pieces(entries) if in_yaml else json_pieces(entries):
            stream.write(piece)


def _only_scenario_of(file: Path) -> str:
    texts = [text for _, text in read_documents(str(file))]
    if len(texts) != 1:
        raise ScenarioError(f"{file} has {len(texts)} scenarios: read the text of each by itself")
    return texts[0]
