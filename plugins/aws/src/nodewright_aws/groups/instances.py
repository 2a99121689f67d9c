"""Instances by id: which group each belongs to, and which are gone."""

import re
from collections.abc import Iterable, Mapping

from nodewright_aws.autoscaling.group import AutoScalingGroup

#: A part of ``aws:///eu-west-1a/i-0123456789abcdef0``; nodes of Fargate and of other clouds do not match.
_INSTANCE = re.compile(r"^aws://.*/(i-[0-9a-z]+)(?:/|$)")
#: How many instances that are gone are remembered: enough to outlast their nodes.
_REMEMBERED = 10_000


def instance_id(provider_id: str) -> str | None:
    """Return ``i-…`` of a provider ID; None if it is not an instance of EC2."""
    match = _INSTANCE.search(provider_id)
    return match and match[1]


class KnownInstances:
    """What this and earlier refreshes found out about instances.

    `update` is for the provider's thread. Any thread may read, because each mapping is replaced as a whole.
    """

    def __init__(self) -> None:
        self._group_of: Mapping[str, str] = {}
        self._listed: frozenset[str] = frozenset()
        #: The listed instances that are gone as soon as they are no longer listed.
        self._ours: Mapping[str, str] = {}
        self._gone: Mapping[str, str] = {}

    def update(self, groups: Iterable[AutoScalingGroup]) -> None:
        """Take in *groups*, which were just read."""
        groups = list(groups)
        names = {group.name for group in groups}
        listed = {each.id: group.name for group in groups for each in group.instances}
        # The instances of a group that is no longer read may still exist.
        seen = {**self._gone, **self._ours}
        gone = {each: name for each, name in seen.items() if name in names and each not in listed}
        self._group_of = {each.id: group.name for group in groups for each in group.instances if each.state}
        self._gone = dict(list(gone.items())[-_REMEMBERED:])
        self._listed = frozenset(listed)
        # An instance that is detached lives on.
        self._ours = {
            each.id: group.name
            for group in groups
            for each in group.instances
            if not each.lifecycle_state.startswith("Detach")
        }

    def group_of(self, instance: str) -> str | None:
        """Return the name of the group that an instance, by its id, is part of now."""
        return self._group_of.get(instance)

    def is_there(self, instance: str) -> bool | None:
        """Tell whether the instance exists; None if it was never seen here."""
        if instance in self._listed:
            return True
        return False if instance in self._gone else None

    def former_group(self, instance: str) -> str | None:
        """Return the name of the group that an instance was part of before it was gone."""
        return self._gone.get(instance)
