"""All groups that are used, read with as few calls as show what has changed."""

import logging
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodewright.api import Clock, GroupNotFoundError, GroupSpec, NodewrightError

from nodewright_gce.calls.at_once import at_once
from nodewright_gce.calls.compute import Compute
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.group_specs import check_any, check_once, named_group, parse_group, parse_rule
from nodewright_gce.migs.back_off import BackOff
from nodewright_gce.migs.discovery import Discovery, Limits, Scope
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.members import Members
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.mig import Mig
from nodewright_gce.warn_once import WarnOnce

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Area:
    """A zone or a region, as it was read last."""

    migs: Mapping[str, Mig] = field(default_factory=dict)
    used: Mapping[Address, Limits] = field(default_factory=dict)
    #: Why this refresh could not read it.
    trouble: NodewrightError | None = None


class Migs:
    """Reads the groups that *nodes* and *discovery*, of Cluster Autoscaler's flags, and *config* ask for.

    A refresh makes one call for each zone, and for each region whose regional groups are used. It is not asked for
    certain groups only: Google charges for what a filter leaves out, and several rules share one list. Machines are
    listed only for groups of which that list shows a change, or that are changing: see `Members`.

    Raises `ConfigurationError` if rules and groups can't be used.
    """

    def __init__(
        self,
        compute: Compute,
        config: GceConfig,
        nodes: Sequence[GroupSpec],
        discovery: Sequence[str],
        clock: Clock,
    ) -> None:
        rules = [*map(parse_rule, discovery), *(each.rule for each in config.discover)]
        named = [*map(parse_group, config.groups), *map(named_group, nodes)]
        check_any(rules, named)
        check_once(named)
        scope = Scope(zones=config.zones, regions=config.regions, regional=config.regional)
        self._compute = compute
        self._discovery = Discovery(compute, scope, rules, named, clock)
        self._members = Members(config.instances_min_refresh_wait)
        # Google counts lists of groups and lists of machines apart.
        self._lists, self._listings = BackOff(clock), BackOff(clock)
        self._clock = clock
        self._workers = config.concurrent_refreshes
        self._areas: Mapping[Place, _Area] = {}
        self._missing: frozenset[Address] = frozenset()
        self._warnings = WarnOnce()

    def read(self, asked: Collection[str] = ()) -> tuple[ManagedGroup, ...]:
        """Return all groups that are used, by id. For the provider's thread.

        Groups with the ids *asked* are asked for something else in this refresh: their machines are listed only if the
        list of groups shows a change.

        A zone that can't be read keeps its groups as they were read last, with that trouble; so does a group whose
        machines can't be listed. A named group that does not exist stays, with a `GroupNotFoundError`. Raises the
        error of the first zone if none can be read.
        """
        areas = self._read_areas()
        used = {address: limits for area in areas.values() for address, limits in area.used.items()}
        self._members.forget_others(used.keys())
        troubles = self._read_members(areas, used, asked)
        self._areas = areas
        self._warnings.warn(dict(self._notes(areas)))
        groups = [self._group(address, limits, areas[address.place], troubles) for address, limits in used.items()]
        groups += self._missing_groups(areas)
        return tuple(sorted(groups, key=lambda group: group.address.id))

    def touch(self, address: Address) -> None:
        """Have the machines of a group listed at the next refresh: it was just changed. Any thread may call."""
        self._members.touch(address)

    def seek(self, provider_id: str) -> None:
        """Have the machines of groups listed that may have made a node that no group has. Any thread may call."""
        self._members.seek(provider_id)

    def _read_areas(self) -> Mapping[Place, _Area]:
        places = self._discovery.places()
        areas = dict(zip(places, at_once(self._read_area, places, self._workers), strict=True))
        troubles = [area.trouble for area in areas.values() if area.trouble]
        if troubles and len(troubles) == len(areas):
            raise troubles[0]
        return areas

    def _read_area(self, place: Place) -> _Area:
        before = self._areas.get(place, _Area())
        try:
            migs = {mig.name: mig for mig in self._lists.ask(place, lambda: self._compute.migs(place))}
            return _Area(migs=migs, used=self._discovery.choose(place, migs))
        except NodewrightError as error:
            return _Area(migs=before.migs, used=before.used, trouble=error)

    def _read_members(
        self, areas: Mapping[Place, _Area], used: Iterable[Address], asked: Collection[str]
    ) -> Mapping[Address, NodewrightError]:
        readable = [(each, areas[each.place].migs[each.name]) for each in used if areas[each.place].trouble is None]
        due = self._members.to_list(readable, asked, self._clock.now())
        results = at_once(self._list_members, due, self._workers)
        return {address: error for (address, _), error in zip(due, results, strict=True) if error}

    def _list_members(self, group: tuple[Address, Mig]) -> NodewrightError | None:
        address, mig = group
        try:
            machines = self._listings.ask(address.place, lambda: self._compute.managed_instances(address))
        except NodewrightError as error:
            self._members.touch(address)
            return error
        self._members.keep(address, mig, machines, self._clock.now())
        return None

    def _group(
        self, address: Address, limits: Limits, area: _Area, troubles: Mapping[Address, NodewrightError]
    ) -> ManagedGroup:
        return ManagedGroup(
            address=address,
            mig=area.migs[address.name],
            members=self._members.of(address),
            min_size=limits.min_size,
            max_size=limits.max_size,
            trouble=area.trouble or troubles.get(address),
        )

    def _notes(self, areas: Mapping[Place, _Area]) -> Iterator[tuple[Hashable, str]]:
        """Yield what no group can tell because there is none."""
        named = {address.place for address in self._discovery.named}
        for place, area in areas.items():
            if area.trouble and not area.used and place not in named:
                yield place, f"no group can be found in {place.path}: {area.trouble}"
        if named or any(area.used or area.trouble for area in areas.values()):
            return
        count, looked = sum(len(area.migs) for area in areas.values()), ", ".join(place.path for place in areas)
        text = f"no rule finds a group among the {count} of {looked}"
        yield "none", f"{text}: a name has to go on behind its namePrefix; look at zones and regions as well"

    def _missing_groups(self, areas: Mapping[Place, _Area]) -> list[ManagedGroup]:
        """Return the named groups that were not found."""
        missing = {
            address: limits
            for address, limits in self._discovery.named.items()
            if address not in areas[address.place].used
        }
        gone = frozenset(each for each in missing if areas[each.place].trouble is None)
        for address in sorted(gone - self._missing):
            _log.warning("there is no managed instance group %s: correct its URL, or leave it out", address.id)
        self._missing = gone
        return [
            ManagedGroup(
                address=address,
                mig=Mig(name=address.name),
                min_size=limits.min_size,
                max_size=limits.max_size,
                trouble=areas[address.place].trouble
                or GroupNotFoundError(f"there is no managed instance group {address.id}: correct its URL"),
            )
            for address, limits in missing.items()
        ]
