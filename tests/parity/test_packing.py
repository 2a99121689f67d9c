"""Estimates are as good as first fit in Cluster Autoscaler's way, or better: no fewer pods, for these no more nodes."""

import os
from dataclasses import replace
from itertools import islice

import pytest
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.scenario import read_scenario
from nodewright.testing.clock import EPOCH, SteppedClock
from nodewright.testing.worlds import a_policy

from tests.parity.first_fit import Judged, Judgement
from tests.parity.queues import queue
from tests.parity.vectors import FOLDER, Vector, families, read, sample

#: How many made-up queues are packed: if it is set, with all vectors, and not with a quarter. 1,000 take a minute.
_ALL = os.environ.get("NODEWRIGHT_QUEUES")
_QUEUES = int(_ALL or 60)
_AT_ONCE = 20


def judged(world: World, memory: Memory, policy: Policy, now=EPOCH) -> list[Judgement]:
    """How the estimates of a decision compare with the references."""
    name, estimator = policy.estimator
    jury = Judged(estimator.config, estimator)
    decide(world, memory, replace(policy, estimator=(name, jury)), now)
    return jury.judgements


def worse(judgements: list[Judgement]) -> list[str]:
    """Where we are worse. If next fit helps more pods and not all that we help, that is a draw."""
    return [str(each) for each in judgements if each.worse and not (each.reference == "next fit" and each.other_pods)]


def judged_vector(vector: Vector) -> list[Judgement]:
    scenario = read_scenario(vector.scenario)
    policy = Strategies(Registry(), Faults(SteppedClock())).policy(scenario.settings)
    return judged(scenario.world(), scenario.memory, policy, scenario.now)


@pytest.mark.parametrize("first", range(0, _QUEUES, _AT_ONCE))
def test_no_estimate_for_made_up_queues_is_worse_than_first_fit(first) -> None:
    found = {seed: judged(queue(seed), Memory(), a_policy()) for seed in range(first, first + _AT_ONCE)}
    assert {seed: told for seed, judgements in found.items() if (told := worse(judgements))} == {}


def test_some_estimates_for_made_up_queues_are_better_than_first_fit() -> None:
    assert any(each.better for seed in range(2 * _AT_ONCE) for each in judged(queue(seed), Memory(), a_policy()))


@pytest.mark.parametrize("vector", list(sample()), ids=lambda vector: vector.name)
def test_no_estimate_for_the_sample_is_worse_than_first_fit(vector) -> None:
    assert worse(judged_vector(vector)) == []


@pytest.mark.skipif(not families(), reason=f"there are no vectors in {FOLDER}: set NODEWRIGHT_VECTORS to their folder")
@pytest.mark.parametrize("family", families())
def test_no_estimate_for_a_vector_is_worse_than_first_fit(family) -> None:
    vectors = islice(read(family), None, None, 1 if _ALL else 4)
    assert {vector.name: told for vector in vectors if (told := worse(judged_vector(vector)))} == {}
