"""What a group may launch: instance types, images and purchase options, wherever these are defined."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.calls import Calls
from nodewright_aws.pools import Lifecycle
from nodewright_aws.templates.images import Image, ImageParameters, Images
from nodewright_aws.templates.launch_configurations import LaunchConfigurations
from nodewright_aws.templates.launch_data import LaunchTemplateData
from nodewright_aws.templates.launch_templates import LaunchTemplates, TemplateVersion
from nodewright_aws.templates.managed import ManagedGroup, ManagedGroupName, ManagedGroups
from nodewright_aws.templates.offerings import Offerings
from nodewright_aws.templates.requirements import InstanceRequirements, MatchingTypes

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class LaunchableType:
    """An instance type that a group may launch."""

    instance_type: str
    launch: LaunchTemplateData
    image: Image | None = None
    #: Whether the type is named, rather than matched with requirements.
    named: bool = True
    #: Zones that have the type; empty if that is unknown.
    zones: frozenset[str] = frozenset()


class LaunchableTypes:
    """Reads what groups launch: launch configurations and templates, images, EC2's offerings, and EKS."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._configurations = LaunchConfigurations(aws, clock)
        self._templates = LaunchTemplates(aws, clock)
        self._parameters = ImageParameters(aws, clock)
        self._images = Images(aws, clock)
        self._matching = MatchingTypes(aws, clock)
        self._offerings = Offerings(aws, clock)
        self._managed = ManagedGroups(aws, clock)

    def refresh(self, groups: Sequence[AutoScalingGroup]) -> None:
        """Read what is unknown of what *groups* launch. Raises nothing: `of` does."""
        self._managed.refresh(name for group in groups if (name := ManagedGroupName.of(group)))
        self._configurations.refresh(group.launch_configuration for group in groups if group.launch_configuration)
        self._templates.refresh(version for group in groups for version, _ in _versions(group))
        self._parameters.refresh(launch.image for _, launch in _known(self._entries, groups))
        self._images.refresh(launch.image for _, launch in _known(self._launched, groups))
        self._matching.refresh(_known(self._requirements, groups))
        self._offerings.refresh(self.names(groups))

    def names(self, groups: Iterable[AutoScalingGroup]) -> list[str]:
        """Return the names of all known types that *groups* may launch."""
        return sorted({each.instance_type for each in _known(self.of, groups)})

    def managed(self, group: AutoScalingGroup) -> ManagedGroup | None:
        """Return the managed node group of *group*; None if EKS does not manage it, or does not say."""
        name = ManagedGroupName.of(group)
        return self._managed.get(name) if name else None

    def of(self, group: AutoScalingGroup) -> tuple[LaunchableType, ...]:
        """Return all types that *group* may launch, in its order, each once; raises `NodewrightError`."""
        types: dict[str, LaunchableType] = {}
        for override, launch in self._launched(group):
            image = self._images.get(launch.image)
            if named := _named(override, launch):
                names: tuple[str, ...] = (named,)
            elif wanted := _requirements(override, launch):
                names = self._matching.get(self._requirement(group, wanted, launch))
            else:
                raise PermanentError(f"neither group {group.name} nor what it launches names an instance type")
            for name in names:
                zones = self._offerings.zones(name)
                each = LaunchableType(instance_type=name, launch=launch, image=image, named=bool(named), zones=zones)
                types.setdefault(name, each)
        return tuple(types.values())

    def _entries(self, group: AutoScalingGroup) -> list[tuple[Mapping[str, Any], LaunchTemplateData]]:
        """Return every override of *group* with what it overrides; one empty override if it has none."""
        if group.launch_configuration:
            return [({}, self._configurations.get(group.launch_configuration))]
        versions = _versions(group)
        if not versions:
            raise PermanentError(f"group {group.name} has neither a launch template nor a launch configuration")
        return [(override, self._templates.get(version)) for version, override in versions]

    def _launched(self, group: AutoScalingGroup) -> list[tuple[Mapping[str, Any], LaunchTemplateData]]:
        """Return the same with parameters of images replaced by ids, if these are known."""
        return [
            (override, replace(launch, image=self._parameters.resolve(launch.image)))
            for override, launch in self._entries(group)
        ]

    def _requirements(self, group: AutoScalingGroup) -> list[InstanceRequirements]:
        return [
            self._requirement(group, wanted, launch)
            for override, launch in self._launched(group)
            if not _named(override, launch) and (wanted := _requirements(override, launch))
        ]

    def _requirement(
        self, group: AutoScalingGroup, wanted: Mapping[str, Any], launch: LaunchTemplateData
    ) -> InstanceRequirements:
        managed = self.managed(group)
        image = self._images.get(launch.image)
        return InstanceRequirements.of(wanted, arch=managed.architecture if managed else "", image=image)


def lifecycles(group: AutoScalingGroup, types: Sequence[LaunchableType]) -> tuple[Lifecycle, ...]:
    """Return the purchase options of the next instances of *group*."""
    if not group.mixed_instances_policy:
        return (Lifecycle.SPOT if any(each.launch.spot for each in types) else Lifecycle.ON_DEMAND,)
    distribution = group.mixed_instances_policy.get("InstancesDistribution") or {}
    base = distribution.get("OnDemandBaseCapacity") or 0
    percentage = distribution.get("OnDemandPercentageAboveBaseCapacity")
    percentage = 100 if percentage is None else percentage
    spot = percentage < 100 and base < group.max_size
    on_demand = percentage > 0 or base > group.desired or not spot
    return tuple(lifecycle for lifecycle, used in ((Lifecycle.ON_DEMAND, on_demand), (Lifecycle.SPOT, spot)) if used)


def refuse_units(group: AutoScalingGroup) -> None:
    """Raise `PermanentError` if the sizes of *group* do not count instances, so it can't be scaled by nodes."""
    if group.desired_capacity_type not in ("", "units"):
        raise PermanentError(
            f"the size of group {group.name} counts {group.desired_capacity_type}, not machines, so it can't be "
            "scaled by nodes: set its desired capacity type to units"
        )
    weights = {
        override.get("InstanceType", "its requirements"): override["WeightedCapacity"]
        for override in _overrides(group)
        if override.get("WeightedCapacity", "1") != "1"
    }
    if weights:
        raise PermanentError(
            f"the size of group {group.name} counts units, not machines, so it can't be scaled by nodes: remove "
            f"the weights from its overrides ({', '.join(f'{name}: {weight}' for name, weight in weights.items())})"
        )


def _overrides(group: AutoScalingGroup) -> Sequence[Mapping[str, Any]]:
    overrides: Sequence[Mapping[str, Any]] = group.mixed_instances_policy.get("LaunchTemplate", {}).get("Overrides", ())
    return overrides


def _versions(group: AutoScalingGroup) -> list[tuple[TemplateVersion, Mapping[str, Any]]]:
    """Return the launch template of every override of *group*; one with an empty override if it has none."""
    if group.launch_template:
        return [(TemplateVersion.parse(group.launch_template), {})]
    common = group.mixed_instances_policy.get("LaunchTemplate", {}).get("LaunchTemplateSpecification", {})
    specified = [
        (override.get("LaunchTemplateSpecification") or common, override) for override in _overrides(group) or ({},)
    ]
    return [(TemplateVersion.parse(specification), override) for specification, override in specified if specification]


def _named(override: Mapping[str, Any], launch: LaunchTemplateData) -> str:
    name: str = override.get("InstanceType", "")
    return name or ("" if override.get("InstanceRequirements") else launch.instance_type)


def _requirements(override: Mapping[str, Any], launch: LaunchTemplateData) -> Mapping[str, Any]:
    return override.get("InstanceRequirements") or launch.requirements


def _known(read: Callable[[AutoScalingGroup], Iterable[T]], groups: Iterable[AutoScalingGroup]) -> Iterator[T]:
    """Yield what *read* returns for *groups*, without those for which it raises."""
    for group in groups:
        try:
            yield from read(group)
        except NodewrightError:
            continue
