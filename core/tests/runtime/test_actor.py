"""Decisions are carried out, and who fails is named."""

from datetime import timedelta

import pytest
from nodewright.api import (
    Decision,
    GroupOptions,
    Grow,
    NodeGroup,
    PluginConfig,
    Provider,
    ProviderContext,
    Reason,
    Verdict,
)
from nodewright.kube.evictions import Evictor
from nodewright.kube.nodes import NodeWriter
from nodewright.plugins import Faults
from nodewright.runtime.actor import Actor
from nodewright.runtime.providers import Providers
from nodewright.testing.clock import EPOCH, SteppedClock

SOON = timedelta(seconds=5)


class Group(NodeGroup):
    id = "pool"
    min_size = 0
    max_size = 5
    target_size = 0

    def instances(self):
        return ()

    def template(self):
        return None

    def increase(self, count):
        raise KeyError("flavour")

    def delete_nodes(self, nodes): ...
    def decrease_target(self, count): ...


class Cloud(Provider):
    def refresh(self): ...

    def groups(self):
        return [Group()]

    def group_of(self, node):
        return None


@pytest.fixture
def faults():
    return Faults(SteppedClock())


@pytest.fixture
def actor(faults):
    """An actor for a cloud whose groups can't grow."""
    clock = SteppedClock()
    providers = Providers({"cloud": Cloud(PluginConfig(), ProviderContext(clock=clock))}, clock, faults)
    providers.read({}, GroupOptions(), SOON)
    nobody = None
    actor = Actor(
        providers, NodeWriter(nobody), Evictor(nobody), clock, faults, cordon=False, parallel=True, timeout=SOON
    )
    yield actor
    actor.close()
    providers.close()


def test_a_group_that_raises_what_it_must_not_is_its_providers_fault(actor, faults):
    noted = []
    faults.listen(noted.append)
    grow = Grow(group="pool", count=1, from_size=0, pods=(), verdict=Verdict(reason=Reason.CHOSEN))
    (outcome,) = actor.carry_out(Decision(at=EPOCH, grow=(grow,)), {}).outcomes
    assert (outcome.action, outcome.target, outcome.ok) == ("grow", "pool", False)
    assert "flavour" in outcome.error
    assert [(fault.plugin, fault.where) for fault in noted] == [("cloud", "group pool")]
