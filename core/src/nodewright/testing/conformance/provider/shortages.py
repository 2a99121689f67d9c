"""Shortages: what is left, and why machines that were ordered do not come."""

import contextlib

import pytest

from nodewright.api import (
    CapacityError,
    ErrorClass,
    NodeGroup,
    Provider,
)
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, has_room, needs, reread


class QuotaConformance(ProviderSuite):
    """`NodeGroup.quotas`."""

    def test_what_a_machine_takes_of_a_quota_is_a_number_above_zero(self, provider: Provider) -> None:
        """`quotas` names only what a new machine takes something of: 1 or more."""
        for group in provider.groups():
            wrong = {name: amount for name, amount in group.quotas().items() if amount < 1}
            assert not wrong, f"quotas() of group {group.id} says that a machine takes {wrong}: leave these out"

    @needs(Ability.CHANGE)
    def test_an_order_that_a_quota_refused_names_a_quota_of_the_group(self, cloud: Cloud, group: NodeGroup) -> None:
        """If the `CapacityError` of a quota names one, and the group names its `quotas`, it is one of these."""
        if ErrorClass.QUOTA not in cloud.refusals:
            pytest.skip(f"the cloud under test can't refuse orders for {ErrorClass.QUOTA}")
        has_room(cloud, group, 1)
        cloud.refuse(group.id, ErrorClass.QUOTA)
        quotas = group.quotas()
        try:
            group.increase(1)
        except CapacityError as refused:
            named = refused.cause.pool
            assert not named or not quotas or named in quotas, f"{named} is full, the group takes of {sorted(quotas)}"


@needs(Ability.CHANGE)
class ShortageConformance(ProviderSuite):
    """`NodeGroup.available` and `NodeGroup.errors`."""

    @needs(Ability.LIMIT)
    def test_no_more_is_said_to_be_available_than_there_is(
        self, cloud: Cloud, provider: Provider, group: NodeGroup
    ) -> None:
        """If `available` tells how many machines are left, it tells of no more than there are."""
        cloud.limit(group.id, 1)
        told = reread(provider, group).available()
        assert told is None or told <= 1, f"the cloud has 1 machine left, available() says {told}"

    @needs(Ability.FAIL_UNSEEN)
    def test_a_failure_that_no_machine_shows_tells_why(
        self, cloud: Cloud, provider: Provider, group: NodeGroup
    ) -> None:
        """An order that fails without a machine is told by `errors`, or by a machine with an error all the same."""
        why, told = _failed_unseen(cloud, provider, group)
        assert told == {why}, f"an order failed for {why}, the errors say {sorted(told) or 'nothing'}"

    @needs(Ability.FAIL_UNSEEN)
    def test_a_failure_that_is_over_is_told_no_more(self, cloud: Cloud, provider: Provider, group: NodeGroup) -> None:
        """`errors` is empty once the cloud fills orders again: a new failure has to be told from an old one."""
        _failed_unseen(cloud, provider, group)
        cloud.heal()
        cloud.settle()
        left = reread(provider, group).errors()
        assert not left, f"all machines have come by now, errors() still says {list(left)}"


def _failed_unseen(cloud: Cloud, provider: Provider, group: NodeGroup) -> tuple[ErrorClass, set[ErrorClass]]:
    """Have an order of the group fail without a machine; return why, and the classes of all errors that are told."""
    has_room(cloud, group, 1)
    why = cloud.fail_unseen(group.id)
    with contextlib.suppress(CapacityError):
        group.increase(1)
    cloud.settle()
    group = reread(provider, group)
    shown = [instance.error for instance in group.instances() if instance.error]
    return why, {error.error_class for error in (*group.errors(), *shown)}
