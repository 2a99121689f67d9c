"""Machines by id: which group each belongs to, and which are gone."""

import re
from collections.abc import Iterable, Mapping

from nodewright_aws.groups.lifecycle import state_of
from nodewright_aws.groups.reading import GroupReading

#: A part of ``aws:///eu-west-1a/i-0123456789abcdef0``; Fargate's nodes and the machines of others have none.
_INSTANCE = re.compile(r"^aws://.*/(i-[0-9a-z]+)(?:/|$)")
#: Machines that are gone are remembered up to this number: longer than anybody asks for their nodes.
_REMEMBERED = 10_000


def instance_id(provider_id: str) -> str | None:
    """Return ``i-…`` of a provider ID; None if it is no machine of EC2."""
    match = _INSTANCE.search(provider_id)
    return match and match[1]


class Machines:
    """What the last refresh, and those before, told of machines.

    `update` is for the provider's thread; any other may read, as each mapping is replaced as a whole.
    """

    def __init__(self) -> None:
        self._group_of: Mapping[str, str] = {}
        #: Those that are gone when they are not listed any more.
        self._ours: Mapping[str, str] = {}
        self._gone: Mapping[str, str] = {}

    def update(self, groups: Iterable[GroupReading]) -> None:
        """Take what was read of *groups*."""
        readings = list(groups)
        names = {group.name for group in readings}
        listed = {each.id: group.name for group in readings for each in group.instances}
        # Those of a group that is no longer read may well be there.
        seen = {**self._gone, **self._ours}
        gone = {machine: name for machine, name in seen.items() if name in names and machine not in listed}
        self._group_of = {each.id: group.name for group in readings for each in group.instances if state_of(each)}
        self._gone = dict(list(gone.items())[-_REMEMBERED:])
        # A machine that is detached lives on.
        self._ours = {
            each.id: group.name
            for group in readings
            for each in group.instances
            if not each.lifecycle_state.startswith("Detach")
        }

    def group_of(self, machine: str) -> str | None:
        """Return the name of the group that a machine, by its id, is a part of now."""
        return self._group_of.get(machine)

    def former_group(self, machine: str) -> str | None:
        """Return the name of the group that a machine was part of until it was gone."""
        return self._gone.get(machine)
