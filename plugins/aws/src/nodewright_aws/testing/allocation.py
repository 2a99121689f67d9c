"""Allocation: from which pool a group's next instance is launched."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.testing.group import Machine


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """What a group may launch: each of the *types*, in order of preference, in each of the zones."""

    zones: tuple[str, ...]
    types: tuple[str, ...]
    #: Whether a group without a distribution buys on the spot market.
    spot: bool = False
    #: Of its mixed instances policy; None if it has none.
    distribution: Mapping[str, Any] | None = None

    def next_lifecycle(self, living: Collection[Machine]) -> Lifecycle:
        """The purchase option of the next machine, given those *living*."""
        if self.distribution is None:
            return Lifecycle.SPOT if self.spot else Lifecycle.ON_DEMAND
        base = self.distribution.get("OnDemandBaseCapacity", 0)
        share = self.distribution.get("OnDemandPercentageAboveBaseCapacity", 100)
        total = len(living) + 1
        # AWS rounds the on-demand share up.
        wanted = min(total, base) + math.ceil(max(0, total - base) * share / 100)
        on_demand = sum(not machine.spot for machine in living)
        return Lifecycle.ON_DEMAND if on_demand < wanted else Lifecycle.SPOT

    def choices(self, living: Collection[Machine]) -> Sequence[Sequence[Pool]]:
        """The pools to try: zone after zone, those with the fewest machines first."""
        lifecycle = self.next_lifecycle(living)
        count = Counter(machine.pool.zone for machine in living)
        return [
            [Pool(zone=zone, instance_type=each, lifecycle=lifecycle) for each in self.types]
            for zone in sorted(self.zones, key=lambda zone: (count[zone], zone))
        ]


def allocation_of(
    settings: Mapping[str, Any],
    *,
    template: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    configuration: Callable[[str], Mapping[str, Any]],
    matching: Callable[[Mapping[str, Any]], Sequence[str]],
) -> Allocation:
    """Return what the group of these *settings* launches.

    The callables return the data of a launch template, a launch configuration, and the types that meet requirements.
    """
    zones = tuple(settings.get("AvailabilityZones", ()))
    policy = settings.get("MixedInstancesPolicy")
    if policy:
        specification = policy["LaunchTemplate"]["LaunchTemplateSpecification"]
        types: list[str] = []
        for override in policy["LaunchTemplate"].get("Overrides", ()):
            if "InstanceRequirements" in override:
                types += matching(override["InstanceRequirements"])
            elif "InstanceType" in override:
                types.append(override["InstanceType"])
        return Allocation(
            zones=zones,
            types=tuple(types) or _types(template(specification), matching),
            distribution=policy.get("InstancesDistribution", {}),
        )
    if "LaunchTemplate" in settings:
        data = template(settings["LaunchTemplate"])
        spot = data.get("InstanceMarketOptions", {}).get("MarketType") == "spot"
        return Allocation(zones=zones, types=_types(data, matching), spot=spot)
    found = configuration(settings["LaunchConfigurationName"])
    return Allocation(zones=zones, types=(found["InstanceType"],), spot=bool(found.get("SpotPrice")))


def _types(data: Mapping[str, Any], matching: Callable[[Mapping[str, Any]], Sequence[str]]) -> tuple[str, ...]:
    if "InstanceRequirements" in data:
        return tuple(matching(data["InstanceRequirements"]))
    return (data["InstanceType"],)
