"""Options: settings that groups set for themselves."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from nodewright.api import GroupOptions, Provider
from nodewright.testing.conformance.cloud import Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, group_of

#: Different from Cluster Autoscaler's in every field.
_DEFAULTS = GroupOptions(
    scale_down_utilization_threshold=0.31,
    scale_down_gpu_utilization_threshold=0.32,
    scale_down_unneeded_time=timedelta(minutes=33),
    scale_down_unready_time=timedelta(minutes=34),
    max_node_provision_time=timedelta(minutes=35),
    max_node_startup_time=timedelta(minutes=36),
    ignore_daemonsets_utilization=True,
    zero_or_max_node_scaling=True,
    allow_non_atomic_scale_up_to_max=True,
)


class OptionsConformance(ProviderSuite):
    """`NodeGroup.options`."""

    def test_a_group_may_have_settings_of_its_own(self, cloud: Cloud, provider: Provider) -> None:
        """What the cloud's set-up says about a group (tags, annotations) replaces the defaults."""
        for name, own in _own(cloud).items():
            switches: dict[str, Any] = {field: not value for field, value in own.items() if isinstance(value, bool)}
            options = group_of(provider, name).options(replace(_DEFAULTS, **switches))
            told = {field: getattr(options, field) for field in own}
            assert told == own, f"group {name} sets {own} for itself, options() tells {told}"

    def test_what_a_group_does_not_set_is_left_as_it_is(self, cloud: Cloud, provider: Provider) -> None:
        """Fields that a group does not set are those of the defaults that `options` is given."""
        for name, own in _own(cloud).items():
            options = group_of(provider, name).options(_DEFAULTS)
            rest = {field.name: getattr(_DEFAULTS, field.name) for field in fields(_DEFAULTS) if field.name not in own}
            told = {field: getattr(options, field) for field in rest}
            assert told == rest, f"group {name} sets {own} and nothing else, options() turns {rest} into {told}"

    def test_options_go_by_the_defaults_of_the_moment(self, provider: Provider) -> None:
        """`options` keeps no defaults from an earlier call: configuration may change."""
        for group in provider.groups():
            first, later = group.options(_DEFAULTS), group.options(GroupOptions())
            assert later != first, f"options() of group {group.id} is the same for all defaults: {later}"

    def test_options_are_of_their_kinds(self, provider: Provider) -> None:
        """Thresholds are between 0 and 1, times are `timedelta`s that are not negative, switches are True or False."""
        for group in provider.groups():
            options = group.options(GroupOptions())
            told = {field.name: getattr(options, field.name) for field in fields(GroupOptions)}
            wrong = {name: value for name, value in told.items() if not _is_like(value, getattr(_DEFAULTS, name))}
            assert not wrong, (
                f"options() of group {group.id} tells {wrong}: thresholds are between 0 and 1, times are timedeltas "
                "and switches True or False"
            )


def _is_like(value: object, example: object) -> bool:
    """Whether *value* is of the kind of *example*, and makes sense as such."""
    match example:
        case bool():
            return isinstance(value, bool)
        case timedelta():
            return isinstance(value, timedelta) and value >= timedelta(0)
        case _:
            return isinstance(value, float | int) and 0 <= value <= 1


def _own(cloud: Cloud) -> dict[str, dict[str, object]]:
    expected = {name: dict(own) for name, own in cloud.expected_options().items()}
    if not expected:
        pytest.skip("the cloud under test can't give settings to groups")
    return expected
