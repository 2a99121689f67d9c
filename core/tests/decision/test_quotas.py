"""A quota that is full concerns all groups whose machines take at least as much of it."""

from dataclasses import replace
from datetime import timedelta

from nodewright.api import ErrorClass, InstanceError, Outcome, Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing.builders import a_group, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
CPUS = "eu/N2_CPUS"


def a_quota_group(name, cpus, quota=CPUS, **fields):
    return replace(a_group(name, **fields), quotas={quota: cpus})


def refused(group, quota=CPUS):
    cause = InstanceError(error_class=ErrorClass.QUOTA, code="QUOTA_EXCEEDED", pool=quota)
    return Outcome(at=NOW, action="grow", target=group, ok=False, error="no", cause=cause)


def blocked_after(*outcomes, groups, memory=None, now=NOW):
    """Return why groups can't grow after *outcomes*, and what is remembered."""
    world = a_world(groups=groups, outcomes=outcomes, pods=[a_pod()])
    _, after, findings = decide(world, memory or Memory(), a_policy(), now, in_depth=True)
    return findings.blocked, after


def test_groups_with_machines_as_large_wait_as_well_and_smaller_ones_try() -> None:
    groups = [a_quota_group("hit", 8), a_quota_group("same", 8), a_quota_group("large", 16), a_quota_group("small", 4)]
    blocked, memory = blocked_after(refused("hit"), groups=groups)
    said = f"QUOTA_EXCEEDED, Quota of {CPUS}, until 01:05:00"
    words = (
        f"its machines take too much of a quota that is used up ({said}, after hit was refused 8 of it for a machine)"
    )
    assert {group: str(verdict) for group, verdict in blocked.items()} == {
        "hit": f"in backoff after failed scale-up ({said})",
        "same": words,
        "large": words,
    }
    assert memory.health.backoffs.keys() == {"hit"}


def test_a_smaller_machine_that_is_refused_meanwhile_keeps_its_like_from_trying() -> None:
    groups = [a_quota_group("hit", 8), a_quota_group("small", 4), a_quota_group("like-small", 4)]
    _, memory = blocked_after(refused("hit"), groups=groups)
    blocked, memory = blocked_after(refused("small"), groups=groups, memory=memory, now=NOW + timedelta(minutes=1))
    assert blocked.keys() == {"hit", "small", "like-small"}
    full = memory.health.quotas[f"fake:{CPUS}"]
    assert (full.group, full.amount, full.until) == ("small", 4, NOW + timedelta(minutes=5))


def test_a_larger_machine_that_is_refused_meanwhile_does_not_let_others_try() -> None:
    groups = [a_quota_group("hit", 4), a_quota_group("large", 16), a_quota_group("between", 8)]
    blocked, _ = blocked_after(refused("hit"), refused("large"), groups=groups)
    assert blocked["between"].reason is Reason.QUOTA_FULL


def test_a_quota_is_tried_again_after_its_pause_and_left_alone_longer_if_it_is_still_full() -> None:
    groups = [a_quota_group("hit", 8), a_quota_group("other", 8)]
    _, memory = blocked_after(refused("hit"), groups=groups)
    blocked, memory = blocked_after(groups=groups, memory=memory, now=NOW + timedelta(minutes=5))
    assert blocked == {}
    blocked, memory = blocked_after(refused("other"), groups=groups, memory=memory, now=NOW + timedelta(minutes=6))
    assert blocked.keys() == {"hit", "other"}
    assert memory.health.quotas[f"fake:{CPUS}"].pause == timedelta(minutes=10)


def test_other_quotas_and_those_of_another_provider_are_others() -> None:
    groups = [a_quota_group("hit", 8), a_quota_group("elsewhere", 8, "us/N2_CPUS"), a_quota_group("b", 8, provider="b")]
    blocked, _ = blocked_after(refused("hit"), groups=groups)
    assert blocked.keys() == {"hit"}


def test_a_quota_that_the_group_does_not_name_concerns_the_group_alone() -> None:
    groups = [a_quota_group("hit", 8), a_quota_group("other", 8, "eu/GPUS")]
    blocked, memory = blocked_after(refused("hit", "eu/GPUS"), groups=groups)
    assert blocked.keys() == {"hit"}
    assert memory.health.quotas == {}


def test_a_group_whose_own_quota_is_full_but_whose_pools_are_not_can_grow_again_after_its_pause() -> None:
    groups = [a_quota_group("hit", 8)]
    _, memory = blocked_after(refused("hit"), groups=groups)
    blocked, _ = blocked_after(groups=groups, memory=memory, now=NOW + timedelta(minutes=5))
    assert blocked == {}
