"""What clouds tell besides the facts that every cloud has: the whole loop makes use of it."""

import pytest
from nodewright_fake.cloud.actions import perform

from tests.end_to_end.scenarios import a_group, a_scenario

KEEP = "scaleDown: {enabled: false}"
SIZES = (a_group("small"), a_group("large", instanceType="roomy"), a_group("larger", instanceType="huge"))


def refused(life):
    """Groups whose orders the cloud refused, in turn."""
    return [entry.group for entry in life.world.cloud.history if entry.event == "refused"]


def events(life, reason):
    """What events on the autoscaler's status tell for a reason."""
    return [each["message"] for each in life.world.store.list("events", "kube-system") if each["reason"] == reason]


@pytest.fixture
def play(begin):
    """Begins a life, and does something to its cloud first."""

    def start(*groups, replicas=4, settings=KEEP, **actions):
        life = begin(a_scenario(*groups, replicas=replicas), settings)
        for name, body in actions.items():
            perform(life.world.cloud, name.replace("_", "-"), body)
        return life

    return start


def test_a_quota_that_refused_large_machines_still_gives_small_ones(play) -> None:
    life = play(*SIZES, replicas=8, limit_quota={"types": "*", "vcpus": 8}, pause={"groups": "small"})
    life.go_on(120)
    tried = refused(life)
    # After 16 processors were refused, nobody asks for 64.
    assert tried in (["large"], ["larger", "large"])
    perform(life.world.cloud, "resume", {})
    life.go_on(20)
    assert (life.sizes(), refused(life)) == ({"small": 2}, tried)


def test_nobody_asks_for_more_than_the_cloud_says_to_have(play) -> None:
    life = play(a_group("small"), replicas=12, limit_quota={"types": "*", "vcpus": 8, "told": True})
    life.go_on(300)
    assert (life.sizes(), refused(life)) == ({"small": 2}, [])
    assert any("its cloud has too few machines left" in message for message in life.told_to_pods("NotTriggerScaleUp"))


def test_a_group_that_says_why_nothing_comes_is_left_for_another_at_once(play) -> None:
    groups = a_group("a"), a_group("b", zone="eu-b")
    life = play(*groups, stock_out={"pool": "eu-a/*", "mode": "say"}, pause={"groups": "b"})
    life.until(lambda: life.ordered("a") or life.sizes() == {"a": 1}, within=60)
    perform(life.world.cloud, "resume", {})
    life.until(lambda: life.sizes() == {"b": 1}, within=60)
    dry = "capacity pool eu-a/fitting has no more machines at the moment"
    why = f"Failed adding nodes to group a due to OutOfResources.STOCK_OUT; source errors: {dry}"
    assert events(life, "ScaleUpFailed") == [why]


@pytest.mark.parametrize("shrinks", [False, True])
def test_a_paused_group_does_not_grow_before_it_is_resumed(play, shrinks) -> None:
    life = play(a_group("a"), pause={"groups": "a", "why": "it is painted", "shrinks": shrinks})
    life.go_on(60)
    assert life.sizes() == {}
    assert any("it is painted" in message for message in life.told_to_pods("NotTriggerScaleUp"))
    perform(life.world.cloud, "resume", {})
    life.go_on(20)
    assert life.sizes() == {"a": 1}


@pytest.mark.parametrize(("shrinks", "left"), [(False, {"a": 2}), (True, {})])
def test_nodes_of_a_paused_group_go_only_if_it_may_shrink(play, shrinks, left) -> None:
    settings = "scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}"
    pause = {"groups": "a", "shrinks": shrinks}
    life = play(a_group("a", desired=2), replicas=0, settings=settings, pause=pause)
    life.go_on(300)
    assert life.sizes() == left
    assert bool(life.marked) is False


def test_a_machine_that_was_stopped_is_started_for_the_next_order_and_its_node_serves_again(play) -> None:
    life = play(a_group("a", desired=2), replicas=0)
    life.go_on(60)
    perform(life.world.cloud, "stop", {"machine": "a-2"})
    life.go_on(300)
    assert life.sizes() == {"a": 1}
    assert set(life.nodes) == {"a-1", "a-2"}
    life.scale("web", 8)
    life.go_on(180)
    assert life.sizes() == {"a": 2}
    assert set(life.nodes) == {"a-1", "a-2"}
    assert len(life.pods("Running")) == 8


def test_a_machine_that_was_made_anew_gets_its_time_and_is_not_replaced(play) -> None:
    life = play(a_group("a", desired=1), replicas=4, settings=f"{KEEP}\nhealth: {{maxNodeProvisionTime: 1m}}")
    life.go_on(60)
    for _ in range(3):
        perform(life.world.cloud, "remake", {"machine": "a-1"})
        life.go_on(90)
    assert life.sizes() == {"a": 1}
    assert set(life.nodes) == {"a-1"}
    assert not [entry for entry in life.world.cloud.history if entry.event in ("deleting", "gone")]
