"""Deciding about scenarios in a process of its own, by the code of any commit that has what is asked of it below.

``python -m tests.parity.deciding TREE SCENARIOS ANSWERS`` decides by the code in TREE, which has to be on the path. It
reads a scenario from each line, and writes a line for each decision about it and an empty one after the last.
"""

import logging
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from tests.parity.life import Json, Life
from tests.parity.meddlers import Asking, Meddling, Ruling, Sparing


def _first(*places: str) -> Any:
    """Return what is there of *places*, ``module:name`` each; raises `ImportError` if nothing is."""
    errors = []
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            errors.append(str(error))
    raise ImportError("; ".join(errors))


# Where things are in the commits that may be compared: the latest place first.
decide = _first("nodewright.decision.decide:decide", "nodewright.decide:decide")
decide_growth = _first("nodewright.decision.decide:decide_growth", "nodewright.decide:decide_growth")
Execution = _first("nodewright.decision.execution:Execution", "nodewright.aftermath:Aftermath")
Hold = _first("nodewright.decision.execution:Hold", "nodewright.aftermath:Held")
to_be_kept = _first("nodewright.decision.execution:to_be_kept", "nodewright.aftermath:to_be_kept")
read_scenario = _first("nodewright.scenario.scenario:read_scenario", "nodewright.record.scenario:read_scenario")
recover = _first("nodewright.decision.recovery:recover", "nodewright.health.former_life:settle")
#: What is remembered and hardly ever shows in a decision, by its name in the memory or in a part of it.
_UNTOLD = {"standings": ("standings", "last"), "hints": ("hints",), "unexamined": ("unexamined",)}

Outcome = _first("nodewright.api.decision:Outcome")
Faults, Registry = _first("nodewright.plugins:Faults"), _first("nodewright.plugins:Registry")
Strategies = _first("nodewright.runtime.strategies:Strategies")
SteppedClock = _first("nodewright.testing.clock:SteppedClock")

_REGISTRY = Registry()


def decisions(name: str, document: Json, loops: int, *, meddled: bool = False) -> Iterator[Json]:
    """Yield what is decided about the scenario *document* in so many *loops*, each on the world that the last one left.

    A loop has more than one decision if growth fails in it. With *meddled*, plugins have their say. What an exception
    ends is told in place of a decision.
    """
    life = Life(name, document)
    try:
        yield from _decisions(life, loops, meddled=meddled)
    except Exception as error:
        yield {"error": f"{type(error).__name__}: {error}"}


def _decisions(life: Life, loops: int, *, meddled: bool) -> Iterator[Json]:
    faults = Faults(SteppedClock())
    noted: list[Any] = []
    faults.listen(noted.append)

    def told(kind: str, decision: Any) -> Json:
        heard = [f"{fault.plugin} {fault.where}: {fault.error}" for fault in noted]
        noted.clear()
        return {"loop": loop, "kind": kind, "decision": decision, "faults": heard, "remembered": _untold(memory)}

    scenario = read_scenario(life.document, classes=_REGISTRY)
    memory = scenario.memory
    policy = Strategies(_REGISTRY, faults).policy(scenario.settings)
    # No time passes while it is decided, or limits of time would strike on a slow machine.
    policy = replace(policy, stopwatch=lambda: 0.0)
    if meddled:
        policy = _meddled(policy)
    for loop in range(loops):
        if loop:
            scenario = read_scenario(life.document)
        world = _world(scenario, life)
        if life.reborn:
            memory = _adopted(world, memory, scenario)
        world, memory = recover(world, memory, life.now)
        before = memory
        decision, memory = decide(world, before, policy, life.now)[:2]
        yield told("decide", decision)
        if meddled:
            recorded = replace(policy, answers=decision.answers)
            yield told("decide again", decide(world, before, recorded, life.now)[0])
            yield told("decide without a record", decide(world, before, replace(policy, answers=()), life.now)[0])
        plain = _plain(decision)
        for _ in range(len(world.groups) + 1):
            stored = to_be_kept(memory, _held(life), decision)
            execution = Execution(decision=decision, outcomes=_outcomes(life.carry_out(plain)), held=_held(life))
            memory = execution.memory(memory, before)
            if not execution.calls_for_another:
                break
            life.forget_growth()
            world, before = execution.world(world), memory
            decision, memory = decide_growth(world, before, policy, life.now)[:2]
            yield told("decide_growth", decision)
            plain = _plain(decision) | {"nodes": plain["nodes"]}
        life.go_on(plain)
        if life.reborn:
            # Killed in the middle of it, or later.
            memory = stored if life.killed else to_be_kept(memory, _held(life))
            memory = type(memory).from_json(memory.to_json())


def _untold(memory: Any) -> Json:
    """Return what of *memory* is compared as it is."""
    parts = (memory, *(getattr(memory, field.name) for field in fields(memory)))
    found = {
        name: getattr(part, field)
        for name, fields_of in _UNTOLD.items()
        for field in fields_of
        for part in parts
        if hasattr(part, field)
    }
    if found.keys() != _UNTOLD.keys():
        raise ValueError(f"memory has no {', '.join(_UNTOLD.keys() - found.keys())}: say what that is called now")
    return found


def _world(scenario: Any, life: Life) -> Any:
    latency = None if life.taint_latency is None else timedelta(seconds=life.taint_latency)
    return replace(scenario.world(), outcomes=_outcomes(life.hear()), taint_latency=latency)


def _adopted(world: Any, memory: Any, scenario: Any) -> Any:
    """Return *memory* as a process goes on with it that sees all groups for the first time."""
    seen = replace(world, groups=tuple(facts for facts in world.groups if not facts.error))
    settings = scenario.settings.scale_down
    try:
        adopt = _first("nodewright.decision.recovery:adopt")
    except ImportError:
        former_life, hints = "nodewright.health.former_life", "nodewright.scaledown.removal.soft_taints"
        adopted = _first("nodewright.health.orders:adopt_orders")(seen, memory, scenario.now)
        memory = _first(f"{former_life}:forget_namesakes")(seen, adopted)
        return _first(f"{hints}:recall_candidates")(seen, memory, settings, scenario.now)
    return adopt(seen, memory, settings, scenario.now)


def _held(life: Life) -> dict[str, Any]:
    return {group: Hold(why="the call takes its time", size=size) for group, size in life.held.items()}


def _outcomes(told: list[Json]) -> Any:
    return tuple(msgspec.convert(each, Outcome) for each in told)


def _plain(decision: Any) -> Json:
    plain: Json = msgspec.json.decode(msgspec.json.encode(decision))
    return plain


def _meddled(policy: Any) -> Any:
    """Return *policy* with plugins that do all that plugins may."""
    policy.hooks.register("meddling", Meddling(Meddling.Config()))
    return replace(
        policy,
        expanders={"asking": Asking(Asking.Config()), **policy.expanders},
        scale_down_candidates={"sparing": Sparing(Sparing.Config())},
        drain_rules={"ruling": Ruling(Ruling.Config()), **policy.drain_rules},
    )


def main(tree: str, scenarios: str, answers: str) -> int:
    """Write what is decided about *scenarios*, a file, to the file *answers*."""
    # Failing plugins are part of the answers.
    logging.disable()
    with Path(scenarios).open("rb") as lines, Path(answers).open("wb") as out:
        for line in lines:
            for each in decisions(**msgspec.json.decode(line)):
                out.write(msgspec.json.encode(each) + b"\n")
            out.write(b"\n")
    home = Path(tree).resolve()
    strays = [file for file in _files() if not Path(file).resolve().is_relative_to(home)]
    if strays:
        sys.stderr.write(f"{strays[0]} was imported, which is not in {tree}\n")
    return 1 if strays else 0


def _files() -> Iterator[str]:
    """Yield the files of all of Nodewright's modules that were imported."""
    for name, module in sys.modules.items():
        if name.partition(".")[0].startswith("nodewright") and getattr(module, "__file__", None):
            yield str(module.__file__)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
