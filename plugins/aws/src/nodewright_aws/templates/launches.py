"""All that a group may launch: types, images and lifecycles, wherever it is written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.pools import Lifecycle
from nodewright_aws.templates.images import Image, Images
from nodewright_aws.templates.launch import Launch
from nodewright_aws.templates.launch_configurations import LaunchConfigurations
from nodewright_aws.templates.launch_templates import LaunchTemplates, Version
from nodewright_aws.templates.managed import ManagedGroup, ManagedGroups, ManagedName
from nodewright_aws.templates.offerings import Offerings
from nodewright_aws.templates.requirements import InstanceTypes, Requirements


@dataclass(frozen=True, kw_only=True)
class Offer:
    """An instance type that a group may launch."""

    instance_type: str
    launch: Launch
    image: Image | None = None
    #: Whether the type is named, and not just found to meet requirements.
    named: bool = True
    #: Those that have the type; empty if that is not known.
    zones: frozenset[str] = frozenset()


class Launches:
    """Reads what groups launch, from launch configurations and templates, images, what EC2 offers, and EKS."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._configurations = LaunchConfigurations(aws, clock)
        self._templates = LaunchTemplates(aws, clock)
        self._images = Images(aws, clock)
        self._types = InstanceTypes(aws, clock)
        self._offerings = Offerings(aws, clock)
        self._managed = ManagedGroups(aws, clock)

    def refresh(self, groups: Sequence[GroupReading]) -> None:
        """Read what *groups* launch, as far as it is not known. Raises nothing: what is missing is told by `offers`."""
        self._managed.refresh(name for group in groups if (name := ManagedName.of(group)))
        self._configurations.refresh(group.launch_configuration for group in groups if group.launch_configuration)
        self._templates.refresh(version for group in groups for version, _ in _versions(group))
        launches = [launch for group in groups for launch in self._known_launches(group)]
        self._images.refresh(launch.image for launch in launches)
        self._types.refresh(requirements for group in groups for requirements in self._known_requirements(group))
        self._offerings.refresh(self.types(groups))

    def types(self, groups: Iterable[GroupReading]) -> list[str]:
        """Return the names of all types that *groups* may launch, as far as that is known."""
        return sorted({offer.instance_type for group in groups for offer in self._known_offers(group)})

    def managed(self, group: GroupReading) -> ManagedGroup | None:
        """Return what EKS says about *group*; None if it does not manage it, or does not tell."""
        name = ManagedName.of(group)
        return self._managed.get(name) if name else None

    def offers(self, group: GroupReading) -> tuple[Offer, ...]:
        """Return all types that *group* may launch, in its order, each once; raises `NodewrightError`."""
        offers: dict[str, Offer] = {}
        for override, launch in self._entries(group):
            image = self._images.get(launch.image)
            if named := _named(override, launch):
                names: tuple[str, ...] = (named,)
            elif requirements := self._requirements(group, override, launch):
                names = self._types.get(requirements)
            else:
                raise PermanentError(f"group {group.name} names no instance type, neither itself nor what it launches")
            for name in names:
                zones = self._offerings.zones(name)
                offer = Offer(instance_type=name, launch=launch, image=image, named=bool(named), zones=zones)
                offers.setdefault(name, offer)
        return tuple(offers.values())

    def _entries(self, group: GroupReading) -> Iterator[tuple[Mapping[str, Any], Launch]]:
        """Yield every override of *group* with what it overrides; one that overrides nothing if it has none."""
        if group.launch_configuration:
            yield {}, self._configurations.get(group.launch_configuration)
            return
        versions = _versions(group)
        if not versions:
            raise PermanentError(f"group {group.name} has neither a launch template nor a launch configuration")
        for version, override in versions:
            yield override, self._templates.get(version)

    def _known_offers(self, group: GroupReading) -> Sequence[Offer]:
        try:
            return self.offers(group)
        except NodewrightError:
            return ()

    def _known_launches(self, group: GroupReading) -> list[Launch]:
        try:
            return [launch for _, launch in self._entries(group)]
        except NodewrightError:
            return []

    def _known_requirements(self, group: GroupReading) -> list[Requirements]:
        try:
            entries = list(self._entries(group))
        except NodewrightError:
            return []
        return [
            requirements
            for override, launch in entries
            if not _named(override, launch) and (requirements := self._requirements(group, override, launch))
        ]

    def _requirements(self, group: GroupReading, override: Mapping[str, Any], launch: Launch) -> Requirements | None:
        wishes = override.get("InstanceRequirements") or launch.requirements
        if not wishes:
            return None
        managed = self.managed(group)
        return Requirements.of(
            wishes, arch=managed.architecture if managed else "", image=self._images.get(launch.image)
        )


def lifecycles(group: GroupReading, offers: Sequence[Offer]) -> tuple[Lifecycle, ...]:
    """Return how the next machines of *group* will be bought."""
    if not group.mixed_instances_policy:
        return (Lifecycle.SPOT if any(offer.launch.spot for offer in offers) else Lifecycle.ON_DEMAND,)
    distribution = group.mixed_instances_policy.get("InstancesDistribution") or {}
    base = distribution.get("OnDemandBaseCapacity") or 0
    percentage = distribution.get("OnDemandPercentageAboveBaseCapacity")
    percentage = 100 if percentage is None else percentage
    spot = percentage < 100 and base < group.max_size
    on_demand = percentage > 0 or base > group.desired or not spot
    return tuple(lifecycle for lifecycle, used in ((Lifecycle.ON_DEMAND, on_demand), (Lifecycle.SPOT, spot)) if used)


def refuse_units(group: GroupReading) -> None:
    """Raise `PermanentError` if the sizes of *group* do not count machines, so that it can't be steered by nodes."""
    if group.desired_capacity_type not in ("", "units"):
        raise PermanentError(
            f"the size of group {group.name} counts {group.desired_capacity_type}, not machines, so that it can't be "
            "grown by nodes: set its desired capacity type to units"
        )
    weights = {
        override.get("InstanceType", "its requirements"): override["WeightedCapacity"]
        for override in _overrides(group)
        if override.get("WeightedCapacity", "1") != "1"
    }
    if weights:
        raise PermanentError(
            f"the size of group {group.name} counts units, not machines, so that it can't be grown by nodes: take the "
            f"weights out of its overrides ({', '.join(f'{name}: {weight}' for name, weight in weights.items())})"
        )


def _overrides(group: GroupReading) -> Sequence[Mapping[str, Any]]:
    overrides: Sequence[Mapping[str, Any]] = group.mixed_instances_policy.get("LaunchTemplate", {}).get("Overrides", ())
    return overrides


def _versions(group: GroupReading) -> list[tuple[Version, Mapping[str, Any]]]:
    """Return the launch template of every override of *group*; one without any override if it has none."""
    if group.launch_template:
        return [(Version.parse(group.launch_template), {})]
    common = group.mixed_instances_policy.get("LaunchTemplate", {}).get("LaunchTemplateSpecification", {})
    specified = [
        (override.get("LaunchTemplateSpecification") or common, override) for override in _overrides(group) or ({},)
    ]
    return [(Version.parse(specification), override) for specification, override in specified if specification]


def _named(override: Mapping[str, Any], launch: Launch) -> str:
    name: str = override.get("InstanceType", "")
    return name or ("" if override.get("InstanceRequirements") else launch.instance_type)
