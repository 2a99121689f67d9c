"""Machines that will never be nodes: which are deleted, whatever stands in the way, and what goes with them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, GroupOptions, Instance, InstanceError, InstanceState, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import HealthMemory, Memory, OrderMemory, ScaleUpRequest
from nodewright.explain.narrative import describe_actions
from nodewright.testing.builders import a_group, a_node
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
DRY = InstanceError(error_class=ErrorClass.STOCK_OUT, code="Dry")
WHOLE = GroupOptions(zero_or_max_node_scaling=True)
FAILED = Instance(id="failed", state=InstanceState.CREATING, error=DRY)
LATE = Instance(id="late", state=InstanceState.CREATING)
THERE = Instance(id="fake://a-0", state=InstanceState.RUNNING)
GOING = Instance(id="going", state=InstanceState.DELETING)


def decide_on(*instances, force="", memory=None, **fields):
    group = replace(a_group("a", instances=instances, **fields), target_size=len(instances), force_delete=True)
    nodes = [a_node("n", provider_id=THERE.id)] if THERE in instances else []
    settings = Settings.model_validate({"health": {force: True} if force else {}})
    memory = memory or Memory(health=HealthMemory(unregistered_since={LATE.id: EPOCH}))
    return decide(a_world(groups=[group], nodes={"a": nodes}), memory, a_policy(settings), NOW)[:2]


@pytest.mark.parametrize(
    ("instance", "force"), [(FAILED, "forceDeleteFailed"), (LATE, "forceDeleteUnregistered")], ids=["failed", "late"]
)
def test_deletion_below_the_minimum_is_forced_if_that_is_wanted(instance, force) -> None:
    decision, _ = decide_on(instance, min_size=1)
    assert not decision.delete
    decision, _ = decide_on(instance, min_size=1, force=force)
    assert [(delete.instances, delete.force) for delete in decision.delete] == [((instance.id,), True)]
    assert describe_actions(decision)[0].startswith("delete by force 1 machine of a: ")


def test_nothing_is_forced_on_a_provider_that_can_not() -> None:
    group = a_group("a", size=1, min_size=1, instances=[FAILED])
    settings = Settings.model_validate({"health": {"forceDeleteFailed": True}})
    decision, _, _ = decide(a_world(groups=[group]), Memory(), a_policy(settings), NOW)
    assert not decision.delete


@pytest.mark.parametrize("broken", [FAILED, LATE], ids=["failed", "late"])
def test_a_group_that_is_used_whole_goes_whole_when_one_machine_does_not_come(broken) -> None:
    decision, _ = decide_on(THERE, broken, GOING, options=WHOLE)
    (delete,) = decision.delete
    assert delete.instances == (THERE.id, broken.id)
    assert delete.nodes == ("n", broken.id)


def test_a_group_that_is_used_whole_stays_whole_if_its_minimum_is_in_the_way() -> None:
    decision, _ = decide_on(THERE, FAILED, LATE, options=WHOLE, min_size=1)
    assert not decision.delete
    decision, _ = decide_on(THERE, FAILED, LATE, options=WHOLE, min_size=1, force="forceDeleteFailed")
    assert [len(delete.instances) for delete in decision.delete] == [3]


@pytest.mark.parametrize("force", ["", "forceDeleteFailed"])
def test_a_group_that_is_used_whole_is_deleted_once(force) -> None:
    decision, _ = decide_on(FAILED, LATE, options=WHOLE, force=force)
    assert [delete.instances for delete in decision.delete] == [("failed", "late")]


def test_a_group_whose_machines_all_failed_is_backed_off_and_says_so() -> None:
    failed = [replace(FAILED, id=f"failed-{number}") for number in range(5)]
    _, _, findings = decide(
        a_world(groups=[a_group("a", size=5, instances=failed)]), Memory(), a_policy(), NOW, in_depth=True
    )
    assert findings.blocked["a"].reason is Reason.GROUP_BACKED_OFF


def test_a_machine_that_can_not_be_deleted_fails_its_group_only_once() -> None:
    _, memory = decide_on(FAILED, min_size=1)
    again, after = decide_on(FAILED, min_size=1, memory=memory)
    assert after.health.backoffs == memory.health.backoffs
    later = NOW + timedelta(minutes=6)
    group = replace(a_group("a", instances=[FAILED], min_size=1), target_size=1)
    _, after, _ = decide(a_world(groups=[group]), memory, a_policy(), later)
    assert after.health.backoffs["a"].until == NOW + timedelta(minutes=5)
    assert not again.delete


def test_machines_that_fail_are_not_waited_for() -> None:
    _, memory = decide_on(
        FAILED, LATE, memory=Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=2)}))
    )
    assert memory.orders.requests["a"].count == 1
    assert memory.health.failed_since == {"failed": NOW}
