"""What another autoscaler did shows in two observations of the world."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from nodewright.api import Instance, InstanceState, Taint
from nodewright.shadow.observation import Actions, observe
from nodewright.testing import a_group, a_node
from nodewright.testing.worlds import a_world

NOW = datetime(2030, 1, 1, tzinfo=UTC)
PATIENCE = timedelta(minutes=2)
MARK = "ToBeDeletedByClusterAutoscaler"


class Watch:
    """Looks at one world after the other, ten seconds apart."""

    def __init__(self):
        self.now = NOW
        self.observation = None

    def see(self, *names, size, marked=(), deleting=(), unborn=(), error="", after=10):
        """A world with nodes and machines called *names*, machines that are no nodes, and what is the matter."""
        self.now += timedelta(seconds=after)
        mark = Taint(key=MARK, value=str(int(self.now.timestamp())))
        nodes = [a_node(name, provider_id=name, taints=[mark] if name in marked else []) for name in names]
        machines = tuple(
            Instance(id=name, state=InstanceState.DELETING if name in deleting else InstanceState.RUNNING)
            for name in (*names, *unborn)
        )
        group = replace(a_group("pool", size=size, instances=machines), error=error)
        world = a_world(groups=[group], nodes={"pool": nodes})
        self.observation, actions = observe(world, self.now, self.observation, PATIENCE)
        return actions


@pytest.fixture
def watch():
    return Watch()


def test_at_the_first_observation_nothing_counts_as_done(watch) -> None:
    assert watch.see("a", "b", size=3, marked=["a"]) == Actions(at=watch.now)
    assert set(watch.observation.marked) == {"a"}


def test_a_larger_size_is_growth(watch) -> None:
    watch.see("a", size=1)
    assert watch.see("a", size=4).grew == {"pool": 3}
    assert not watch.see("a", "b", size=4, unborn=["c", "d"]).any


def test_a_node_that_is_marked_and_goes_is_one_removal_whichever_is_seen_first(watch) -> None:
    for steps in (
        [{"size": 2, "marked": ["a"], "deleting": ["a"]}, {"size": 1, "marked": ["a"], "deleting": ["a"]}],
        [{"size": 1, "marked": ["a"]}, {"size": 1, "marked": ["a"], "deleting": ["a"]}],
    ):
        watch = Watch()
        watch.see("a", "b", size=2)
        assert set(watch.see("a", "b", size=2, marked=["a"]).began) == {"a"}
        seen = [watch.see("a", "b", **step) for step in steps] + [watch.see("b", size=1)]
        assert [dict(actions.left) for actions in seen] == [{"a": "pool"}, {}, {}]
        assert [dict(actions.shrank) for actions in seen] == [{}, {}, {}]


def test_a_node_that_goes_before_its_mark_is_seen_is_a_removal(watch) -> None:
    watch.see("a", "b", size=2)
    actions = watch.see("b", size=1)
    assert (set(actions.began), dict(actions.left), dict(actions.shrank)) == ({"a"}, {"a": "pool"}, {})


def test_a_machine_that_the_cloud_takes_and_replaces_is_no_action(watch) -> None:
    watch.see("a", "b", size=2)
    assert not watch.see("b", size=2, unborn=["c"]).any


def test_a_mark_that_comes_off_is_a_removal_that_was_given_up(watch) -> None:
    watch.see("a", "b", size=2)
    watch.see("a", "b", size=2, marked=["a"])
    assert watch.see("a", "b", size=2).gave_up == {"a": "pool"}


def test_a_smaller_size_without_a_node_that_goes_gives_machines_up_and_names_those_that_went(watch) -> None:
    watch.see("a", size=3, unborn=["b"])
    actions = watch.see("a", size=1)
    assert (dict(actions.shrank), dict(actions.lost)) == ({"pool": 2}, {"b": "pool"})


def test_a_group_that_can_not_be_read_has_no_actions_until_it_can(watch) -> None:
    watch.see("a", size=1)
    assert not watch.see("a", size=1, error="no answer").any
    actions = watch.see("a", size=3)
    assert (dict(actions.grew), actions.unwatched) == ({"pool": 2}, frozenset())
    watch.see("a", size=3, error="no answer", after=200)
    assert watch.see("a", size=5).unwatched == {"pool"}
