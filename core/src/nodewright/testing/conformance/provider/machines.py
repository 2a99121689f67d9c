"""Ways to machines that are not simply running."""

from collections.abc import Sequence

import pytest

from nodewright.api import ErrorClass, Instance, InstanceState, NodeGroup, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import group_of, has_room, reread


def creating(cloud: Cloud, provider: Provider) -> tuple[NodeGroup, str]:
    """The group under test with a machine in creation, and that machine's id. Needs `Ability.HOLD` and ``TRUTH``."""
    group = group_of(provider, cloud.group())
    has_room(cloud, group, 1)
    cloud.hold()
    group.increase(1)
    young = [id_ for id_, state in cloud.machines(group.id).items() if state is InstanceState.CREATING]
    if not young:
        pytest.skip("the cloud under test shows no machine while it is in creation")
    return reread(provider, group), young[-1]


def starved(cloud: Cloud, provider: Provider, count: int) -> tuple[NodeGroup, int]:
    """The group under test with *count* machines ordered that don't come, and its size before that.

    In a cloud that keeps no target, these machines are there but stay in creation.
    """
    group = group_of(provider, cloud.group())
    size = has_room(cloud, group, count)
    if not cloud.keeps_target:
        cloud.hold()
        group.increase(count)
        return reread(provider, group), size
    cloud.starve(group.id)
    group.increase(count)
    if Ability.TRUTH in cloud.abilities and cloud.target(group.id) == len(cloud.machines(group.id)):
        pytest.skip("the cloud under test has shown machines for orders that it was to starve")
    return reread(provider, group), size


def failed_order(
    cloud: Cloud, provider: Provider, why: ErrorClass | None = None, *, count: int = 1
) -> tuple[NodeGroup, Sequence[Instance]]:
    """The group under test after an order of *count* machines that fails, and what shows that it did."""
    reasons = sorted(cloud.failures) if why is None else [why]
    if not reasons or reasons[0] not in cloud.failures:
        pytest.skip(f"the cloud under test can't let machines fail{f' for {why}' if why else ''}")
    group = group_of(provider, cloud.group())
    has_room(cloud, group, count)
    cloud.fail(group.id, reasons[0])
    group.increase(count)
    cloud.settle()
    group = reread(provider, group)
    return group, [instance for instance in group.instances() if instance.error is not None]
