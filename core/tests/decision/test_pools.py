"""A stock-out is remembered with its class, for the capacity pool that ran dry."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, Instance, InstanceError, InstanceState, Outcome, Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Backoff, HealthMemory, Memory
from nodewright.testing.builders import a_group, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
POOL = "eu-a/c5.large"


def a_pool_group(name, pool=POOL, **fields):
    zone, _, instance_type = pool.partition("/")
    return a_group(name, template=a_template(zone=zone, instance_type=instance_type), **fields)


def failure(group, error_class=ErrorClass.STOCK_OUT, pool=POOL, code="NoCapacity"):
    cause = InstanceError(error_class=error_class, code=code, pool=pool)
    return Outcome(at=NOW, action="grow", target=group, ok=False, error=code, cause=cause)


def blocked_after(*outcomes, groups, memory=None, now=NOW):
    """Return why groups can't grow after *outcomes*, and what is remembered."""
    world = a_world(groups=groups, outcomes=outcomes, pods=[a_pod()])
    _, after, findings = decide(world, memory or Memory(), a_policy(), now, in_depth=True)
    return findings.blocked, after


def test_other_groups_that_draw_from_a_dry_pool_are_left_alone_as_well() -> None:
    groups = [a_pool_group("spot"), a_pool_group("on-demand"), a_pool_group("elsewhere", "eu-b/c5.large")]
    blocked, memory = blocked_after(failure("spot"), groups=groups)
    until = "until 01:05:00"
    assert {group: str(verdict) for group, verdict in blocked.items()} == {
        "spot": f"in backoff after failed scale-up (NoCapacity, StockOut of {POOL}, {until})",
        "on-demand": f"takes its machines from a capacity pool that is empty (NoCapacity, StockOut of {POOL}, {until})",
    }
    assert "on-demand" not in memory.health.backoffs


def test_a_dry_pool_is_tried_again_after_its_pause_and_left_alone_longer_if_it_is_still_dry() -> None:
    groups = [a_pool_group("spot"), a_pool_group("on-demand")]
    _, memory = blocked_after(failure("spot"), groups=groups)
    blocked, memory = blocked_after(groups=groups, memory=memory, now=NOW + timedelta(minutes=5))
    assert blocked == {}
    _, memory = blocked_after(failure("on-demand"), groups=groups, memory=memory, now=NOW + timedelta(minutes=6))
    assert memory.health.pools[f"fake:{POOL}"].pause == timedelta(minutes=10)
    assert memory.health.backoffs["on-demand"].pause == timedelta(minutes=5)


def test_a_group_with_another_pool_besides_the_dry_one_stays_usable() -> None:
    def machine(zone):
        return Instance(id=f"i-{zone}", state=InstanceState.RUNNING, zone=zone, instance_type="c5.large")

    groups = [
        a_pool_group("spot"),
        a_pool_group("mixed", instances=[machine("eu-a"), machine("eu-b")]),
        a_pool_group("narrow", instances=[machine("eu-a")]),
    ]
    blocked, _ = blocked_after(failure("spot"), groups=groups)
    assert blocked.keys() == {"spot", "narrow"}
    blocked, _ = blocked_after(failure("spot"), failure("spot", pool="eu-b/c5.large"), groups=groups)
    assert blocked.keys() == {"spot", "narrow", "mixed"}


def test_a_group_whose_provider_names_its_pools_is_known_by_those() -> None:
    groups = [
        a_pool_group("spot"),
        replace(a_pool_group("declared"), pools=(f"{POOL}/spot",)),
        replace(a_group("shared"), pools=(POOL,)),
        replace(a_group("both"), pools=(POOL, "eu-b/c5.large")),
    ]
    blocked, _ = blocked_after(failure("spot"), groups=groups)
    assert blocked.keys() == {"spot", "shared"}


def test_a_group_whose_template_tells_no_pool_is_known_by_the_one_that_failed_it() -> None:
    groups = [a_group("plain"), a_pool_group("spot")]
    earlier = Backoff(
        until=EPOCH,
        pause=timedelta(minutes=5),
        failed_at=EPOCH,
        error_class=ErrorClass.STOCK_OUT,
        code="NoCapacity",
        pool=POOL,
    )
    blocked, _ = blocked_after(failure("spot"), groups=groups)
    assert "plain" not in blocked
    blocked, _ = blocked_after(
        failure("spot"), groups=groups, memory=Memory(health=HealthMemory(backoffs={"plain": earlier}))
    )
    assert blocked["plain"].reason is Reason.POOL_DRY


def test_pools_of_another_provider_are_others() -> None:
    groups = [a_pool_group("spot"), a_pool_group("other", provider="other")]
    blocked, _ = blocked_after(failure("spot"), groups=groups)
    assert "other" not in blocked


@pytest.mark.parametrize("error_class", [each for each in ErrorClass if each is not ErrorClass.STOCK_OUT])
def test_what_is_no_stock_out_concerns_the_group_alone(error_class) -> None:
    groups = [a_pool_group("spot"), a_pool_group("on-demand")]
    blocked, memory = blocked_after(failure("spot", error_class), groups=groups)
    assert blocked.keys() == {"spot"}
    assert (memory.health.pools, memory.health.backoffs["spot"].error_class) == ({}, error_class)


def test_machines_that_were_not_made_tell_of_their_pools_too() -> None:
    errors = [InstanceError(error_class=ErrorClass.STOCK_OUT, code="Dry", pool=f"{zone}/c5") for zone in ("a", "b")]
    failed = [
        Instance(id=f"i-{number}", state=InstanceState.CREATING, error=error) for number, error in enumerate(errors)
    ]
    groups = [a_group("mixed", size=2, instances=failed), a_pool_group("b", "b/c5"), a_pool_group("c", "c/c5")]
    blocked, memory = blocked_after(groups=groups)
    assert blocked.keys() == {"mixed", "b"}
    assert memory.health.pools.keys() == {"fake:a/c5", "fake:b/c5"}


@pytest.mark.parametrize(
    ("code", "error_class", "told"),
    [
        ("STOCK_OUT", ErrorClass.STOCK_OUT, "STOCK_OUT, until 01:05:00"),
        ("VcpuLimit", ErrorClass.QUOTA, "VcpuLimit, Quota, until 01:05:00"),
        ("timeout", ErrorClass.OTHER, "timeout, until 01:05:00"),
    ],
)
def test_the_class_of_a_failure_is_told_where_its_code_does_not(code, error_class, told) -> None:
    blocked, _ = blocked_after(failure("a", error_class, pool="", code=code), groups=[a_group("a")])
    assert blocked["a"].detail == told
