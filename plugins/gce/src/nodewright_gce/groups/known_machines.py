"""Machines by provider ID: which group each belongs to, and which are gone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodewright_gce.groups.machines import provider_id
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.managed_instance import ManagedInstance

#: How many machines that are gone are remembered: enough to outlast their nodes.
_REMEMBERED = 10_000


@dataclass(frozen=True, kw_only=True)
class _Members:
    """The machines of a group, by provider ID."""

    #: What these were read from: machines that were not read anew are the same object.
    listed: tuple[ManagedInstance, ...]
    ids: frozenset[str]
    #: They leave the group and live on.
    abandoned: frozenset[str]


class KnownMachines:
    """What this and earlier refreshes found out about machines.

    Only machines that were listed belong to a group: the name of a machine shows which groups might have made it, but
    not whether it is still theirs. `update` is for the provider's thread. Any thread may read, because each mapping is
    replaced as a whole.
    """

    def __init__(self) -> None:
        self._group_of: Mapping[str, str] = {}
        self._gone: Mapping[str, str] = {}
        #: By the group's id.
        self._members: Mapping[str, _Members] = {}

    def update(self, groups: Iterable[ManagedGroup]) -> None:
        """Take in *groups*, which were just read."""
        before = self._members
        self._members = {each.address.id: self._read(each) for each in groups}
        self._group_of = {id_: group for group, members in self._members.items() for id_ in members.ids}
        left = {
            id_: group
            for group, members in before.items()
            # The machines of a group that is no longer read may still exist.
            if (now := self._members.get(group)) is not None and now is not members
            for id_ in members.ids - members.abandoned
        }
        gone = {id_: group for id_, group in {**self._gone, **left}.items() if id_ not in self._group_of}
        self._gone = dict(list(gone.items())[-_REMEMBERED:])

    def group_of(self, machine: str) -> str | None:
        """Return the id of the group that a machine, by its provider ID, is part of now."""
        return self._group_of.get(machine)

    def former_group(self, machine: str) -> str | None:
        """Return the id of the group that a machine was part of before it was gone."""
        return self._gone.get(machine)

    def _read(self, group: ManagedGroup) -> "_Members":
        known = self._members.get(group.address.id)
        if known is not None and known.listed is group.members:
            return known
        place = group.address.place
        return _Members(
            listed=group.members,
            ids=frozenset(provider_id(each, place) for each in group.members),
            abandoned=frozenset(
                provider_id(each, place) for each in group.members if each.current_action == "ABANDONING"
            ),
        )
