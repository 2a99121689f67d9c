"""Decisions are the same wherever the strategies run that they ask."""

from collections import Counter
from collections.abc import Iterator

import pytest
from nodewright.api import Plugin
from nodewright.config.reference import Reference
from nodewright.decision.decide import decide
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing import SteppedClock

from tests.pictures.situations import NOW, random_situation

#: Strategies of all kinds: they place pods in forks, throw dice, ask for prices, and judge pod by pod.
APART = {"binpacking", "filter-schedulable", "filter-expendable", "system", "local-storage", "price", "random"}
EXPANDERS = (Reference(name="price"), Reference(name="random"))
#: Worlds with pods that bring nodes, and some in which nodes go.
SEEDS = (8, 10, 16, 21, 25, 31, 40, 49, 72, 73, 75)
PARTS = ("grow", "drain", "delete")


class Apart(Registry):
    """Makes some plugins in processes of their own, each once."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[tuple[str, str, str], Plugin] = {}

    def create(self, kind, name, config, *extra):
        if name not in APART:
            return super().create(kind, name, config, *extra)
        key = kind, name, repr(config)
        if key not in self.made:
            self.made[key] = self.create_apart(kind, name, config, *extra)
        return self.made[key]


@pytest.fixture
def registry() -> Iterator[Apart]:
    registry = Apart()
    yield registry
    for plugin in registry.made.values():
        plugin.close()


def test_any_world_is_decided_the_same_with_strategies_in_processes_of_their_own(registry) -> None:
    parts = Counter[str]()
    for seed in SEEDS:
        here, apart = (decision_with(classes, seed) for classes in (Registry(), registry))
        assert apart == here, seed
        parts.update(part for part in PARTS if getattr(here, part))
    assert all(parts[part] for part in PARTS), f"there is too little to decide in these worlds: {parts}"
    assert {name for _, name, _ in registry.made} == APART


def decision_with(classes, seed):
    situation = random_situation(seed)
    growth = situation.settings.scale_up.model_copy(update={"expanders": EXPANDERS})
    faults = Faults(SteppedClock())
    policy = Strategies(classes, faults).policy(situation.settings.model_copy(update={"scale_up": growth}))
    decision, _, _ = decide(situation.world, situation.memory, policy, NOW)
    assert not faults.counts
    return decision
