"""Decisions are carried out, and who fails is named."""

from datetime import timedelta

import pytest
from nodewright.api import (
    Decision,
    DeleteInstances,
    GroupOptions,
    Grow,
    NodeGroup,
    PluginConfig,
    Provider,
    ProviderContext,
    Reason,
    UnsupportedError,
    Verdict,
)
from nodewright.kube.evictions import Evictor
from nodewright.kube.nodes import NodeWriter
from nodewright.plugins import Faults
from nodewright.runtime.actor import Actor
from nodewright.runtime.providers import Providers
from nodewright.testing.clock import EPOCH, SteppedClock

DELETED = []


class Group(NodeGroup):
    unforceable = None
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

    def delete_nodes(self, nodes):
        DELETED.append(("delete", [node.spec.provider_id for node in nodes]))

    def force_delete_nodes(self, nodes):
        if self.unforceable:
            raise self.unforceable
        DELETED.append(("force", [node.spec.provider_id for node in nodes]))

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
    providers.read({}, GroupOptions(), timedelta(seconds=5))
    nobody = None
    actor = Actor(providers, NodeWriter(nobody), Evictor(nobody), clock, faults, cordon=False)
    yield actor
    actor.close()
    providers.close()


def test_a_group_that_raises_what_it_must_not_is_its_providers_fault(actor, faults):
    noted = []
    faults.listen(noted.append)
    grow = Grow(group="pool", count=1, from_size=0, pods=(), verdict=Verdict(reason=Reason.CHOSEN))
    (outcome,) = actor.carry_out(Decision(at=EPOCH, grow=(grow,)), {})
    assert (outcome.action, outcome.target, outcome.ok) == ("grow", "pool", False)
    assert "flavour" in outcome.error
    assert [(fault.plugin, fault.where) for fault in noted] == [("cloud", "group pool")]


@pytest.mark.parametrize(
    ("force", "unforceable", "how"),
    [
        (False, None, "delete"),
        (True, None, "force"),
        (True, UnsupportedError("not this group"), "delete"),
        (True, NotImplementedError(), "delete"),
    ],
)
def test_deletion_is_forced_where_the_group_can_be_forced(actor, monkeypatch, force, unforceable, how):
    monkeypatch.setattr(Group, "unforceable", unforceable)
    DELETED.clear()
    delete = DeleteInstances(
        group="pool", instances=("i-1",), force=force, verdict=Verdict(reason=Reason.NEVER_REGISTERED)
    )
    (outcome,) = actor.carry_out(Decision(at=EPOCH, delete=(delete,)), {})
    assert outcome.ok
    assert [(how, ["i-1"])] == DELETED
