"""Which groups are used: those that are named, and those that a rule finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import AccessDeniedError, Clock, ConfigurationError, NodewrightError, PermanentError, Problem

from nodewright_gce.calls.compute import Compute
from nodewright_gce.group_specs import DiscoveryRule, NamedGroup, is_region, is_zone
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.resource import last_part

_ZONES_KEPT = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits that the user wrote for a group."""

    min_size: int | None = None
    max_size: int | None = None


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Where groups are looked for if a rule does not say."""

    zones: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    #: All zones of the region that the zone is in, which Nodewright or its configuration is in.
    regional: bool = False


class Discovery:
    """Knows where to look, and which of the groups there are used.

    `places` is for the provider's thread, and comes first; then any thread may call `choose`.
    """

    def __init__(
        self,
        compute: Compute,
        scope: Scope,
        rules: Sequence[DiscoveryRule],
        named: Sequence[NamedGroup],
        clock: Clock,
    ) -> None:
        self._compute = compute
        self._scope = scope
        # A rule that is written twice is asked once.
        self._rules = [rule for at, rule in enumerate(rules) if rule not in rules[:at]]
        self._clock = clock
        self._zones: dict[Place, tuple[datetime, tuple[Place, ...]]] = {}
        self._home: Scope | None = None
        self._labels: dict[str, Mapping[str, str]] = {}
        self.named: Mapping[Address, Limits] = {
            group.address: Limits(min_size=group.min_size, max_size=group.max_size) for group in named
        }

    def places(self) -> tuple[Place, ...]:
        """Return the zones and regions that have groups of ours, or may have; sorted."""
        found = {address.place for address in self.named}
        for rule in self._rules:
            found.update(self._places_of(rule))
        return tuple(sorted(found))

    def choose(self, place: Place, migs: Mapping[str, Mig]) -> Mapping[Address, Limits]:
        """Return those of the groups of a place that are used; raises if the labels of a template can't be read."""
        rules = [rule for rule in self._rules if place in self._places_of(rule)]
        found: dict[Address, Limits] = {}
        for name, mig in migs.items():
            address = Address(place=place, name=name)
            if (limits := self.named.get(address)) is not None:
                found[address] = limits
            elif (rule := next((each for each in rules if self._matches(each, mig)), None)) is not None:
                found[address] = Limits(min_size=rule.min_size, max_size=rule.max_size)
        return found

    def _matches(self, rule: DiscoveryRule, mig: Mig) -> bool:
        if not rule.matches(mig.name, last_part(mig.template)):
            return False
        return not rule.labels or rule.has_labels(self._labels_of(mig.template))

    def _labels_of(self, template: str) -> Mapping[str, str]:
        # A template never changes.
        if template not in self._labels:
            try:
                self._labels[template] = self._compute.template(template).properties.labels
            except AccessDeniedError:
                raise
            except PermanentError:
                # Somebody took the template away. The other groups of the place are still to be found.
                return {}
        return self._labels[template]

    def _places_of(self, rule: DiscoveryRule) -> tuple[Place, ...]:
        project = rule.project or self._compute.project
        scope = self._scope_of(rule)
        zones = [Place(project=project, name=zone) for zone in scope.zones]
        for name in scope.regions:
            region = Place(project=project, name=name, regional=True)
            zones += self._zones_of(region)
            # As in Cluster Autoscaler, that flag is about groups of zones only.
            zones += [] if scope.regional else [region]
        return tuple(zones)

    def _scope_of(self, rule: DiscoveryRule) -> Scope:
        if rule.zones or rule.regions:
            return Scope(zones=rule.zones, regions=rule.regions)
        if self._scope.zones or self._scope.regions:
            return self._scope
        self._home = self._home or self._find_home()
        return self._home

    def _find_home(self) -> Scope:
        home = self._compute.zone()
        if not is_zone(home) and not is_region(home):
            raise ConfigurationError(
                Problem(path="zones", message=f"{home!r}, of cloudConfig or the machine, is no zone: set zones")
            )
        if self._scope.regional:
            # Cluster Autoscaler takes local-zone of gce.conf for a region then; a zone is understood as well.
            return Scope(regions=(home.rpartition("-")[0] if is_zone(home) else home,), regional=True)
        if is_region(home):
            raise ConfigurationError(
                Problem(
                    path="zones",
                    message=f"local-zone of cloudConfig is the region {home}: write a zone there, or set zones or "
                    "regions, or regional: true (--regional)",
                )
            )
        return Scope(zones=(home,))

    def _zones_of(self, region: Place) -> tuple[Place, ...]:
        now = self._clock.now()
        at, zones = self._zones.get(region, (None, ()))
        if at is not None and now - at < _ZONES_KEPT:
            return zones
        try:
            read = self._compute.region(region).zones
        except NodewrightError:
            if at is None:
                raise
            # Zones come and go less often than calls fail.
            return zones
        zones = tuple(Place(project=region.project, name=last_part(zone)) for zone in read)
        self._zones[region] = now, zones
        return zones
