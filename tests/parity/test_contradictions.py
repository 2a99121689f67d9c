"""No decision says two things of one pod, node or group that can't be true together."""

import logging
from dataclasses import replace

import msgspec
import pytest
from nodewright.decision.decide import decide
from nodewright.decision.recovery import recover
from nodewright.explain.explanation import Look
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.answer import answer
from nodewright.scenario.rehearsal import Rehearsed
from nodewright.scenario.scenario import read_scenario
from nodewright.testing.clock import SteppedClock

from tests.parity.contradictions import contradictions
from tests.parity.generated import generated
from tests.parity.life import Life

#: With scenarios in which contradictions were found once.
SEEDS = (11, 57, 60, 68, 72, 75, 94, 115, 119, 132, 145, 212, 235, 291, 327, 398)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_decision_says_of_one_subject_fits_together(seed, caplog) -> None:
    caplog.set_level(logging.CRITICAL)
    registry, life = Registry(), Life(f"generated/{seed}", generated(seed))
    scenario = read_scenario(life.document, classes=registry)
    memory = scenario.memory
    policy = replace(Strategies(registry, Faults(SteppedClock())).policy(scenario.settings), stopwatch=lambda: 0.0)
    for loop in range(3):
        world, memory = recover(read_scenario(life.document, classes=registry).world(), memory, life.now)
        decision, memory, findings = decide(world, memory, policy, life.now, in_depth=True)
        look = Look(world=world, decision=decision, memory=memory, findings=findings)
        told = answer(Rehearsed(look=look, options=(), seconds=0.0), scenario.settings)
        found = contradictions(look, told, every_node=scenario.settings.scale_down.enabled)
        assert [f"loop {loop}: {each}" for each in found] == []
        plain = msgspec.json.decode(msgspec.json.encode(decision))
        life.carry_out(plain)
        life.go_on(plain)
