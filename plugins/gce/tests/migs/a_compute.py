"""A Compute that answers from memory, and counts what it is asked."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodewright.api import GroupSpec, NodewrightError
from nodewright.testing.clock import SteppedClock
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.migs import Migs
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.instance_template import InstanceTemplate, TemplateProperties
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig, MigStatus
from nodewright_gce.resources.region import Region

PROJECT, ZONE = "p", "europe-west1-b"
TEMPLATE = "https://www.googleapis.com/compute/v1/projects/p/global/instanceTemplates/"
URL = "https://www.googleapis.com/compute/v1/projects/p/zones/europe-west1-b/instanceGroups/"


def zone(name: str = ZONE, project: str = PROJECT) -> Place:
    return Place(project=project, name=name)


def address(name: str, zone_name: str = ZONE) -> Address:
    return Address(place=zone(zone_name), name=name)


def a_mig(name: str, *, size: int = 0, stable: bool = True, template: str = "t", **fields: Any) -> Mig:
    fields.setdefault("current_actions", {"none": size})
    return Mig(
        name=name,
        base_instance_name=fields.pop("base", name),
        target_size=size,
        status=MigStatus(is_stable=stable),
        instance_template=TEMPLATE + template,
        **fields,
    )


@dataclass
class FakeCompute:
    """Implements what of `nodewright_gce.calls.compute.Compute` reads groups."""

    project: str = PROJECT
    home: str = ZONE
    groups: dict[Place, list[Mig]] = field(default_factory=dict)
    regions: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    #: By place, or by name of a group: what reading it raises.
    troubles: dict[object, NodewrightError] = field(default_factory=dict)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    before_listing: Callable[[Place], None] = lambda place: None

    def put(self, *migs: Mig, zone_name: str = ZONE, project: str = PROJECT, regional: bool = False) -> None:
        """Set the groups of a place."""
        self.groups[Place(project=project, name=zone_name, regional=regional)] = list(migs)

    def zone(self) -> str:
        return self.home

    def migs(self, place: Place) -> Sequence[Mig]:
        self.calls["migs", place.name] += 1
        self.before_listing(place)
        self._fail(place)
        return list(self.groups.get(place, ()))

    def managed_instances(self, address: Address) -> Sequence[ManagedInstance]:
        self.calls["machines", address.name] += 1
        self._fail(address.name)
        (mig,) = (each for each in self.groups[address.place] if each.name == address.name)
        return [ManagedInstance(name=f"{mig.base_instance_name}-{number}") for number in range(mig.target_size)]

    def template(self, url: str) -> InstanceTemplate:
        name = url.rpartition("/")[2]
        self.calls["template", name] += 1
        self._fail(url)
        return InstanceTemplate(name=name, properties=TemplateProperties(labels=self.labels.get(name, {})))

    def region(self, region: Place) -> Region:
        self.calls["region", region.name] += 1
        self._fail(region.name)
        return Region(name=region.name, zones=tuple(f"https://x/zones/{each}" for each in self.regions[region.name]))

    def _fail(self, what: object) -> None:
        if (error := self.troubles.get(what)) is not None:
            raise error


class World:
    """Groups in a fake cloud, and what reads them."""

    def __init__(self) -> None:
        self.compute = FakeCompute()
        self.clock = SteppedClock()
        self.migs: Migs | None = None

    def configure(self, *, nodes: Sequence[str] = (), discovery: Sequence[str] = (), **settings: Any) -> None:
        """Read with these settings; *nodes* and *discovery* are as flags have them."""
        parts = (text.split(":", 2) for text in nodes)
        specs = [GroupSpec(name=name, min_size=int(low), max_size=int(high)) for low, high, name in parts]
        config = GceConfig.model_validate({"concurrentRefreshes": 1, **settings})
        self.migs = Migs(self.compute, config, specs, discovery, self.clock)  # type: ignore[arg-type]

    def loop(self, seconds: float = 10) -> dict[str, ManagedGroup]:
        """Refresh as a loop does, *seconds* after the one before, and return the groups by name."""
        assert self.migs is not None
        self.clock.advance(seconds)
        self.compute.calls.clear()
        return {group.address.name: group for group in self.migs.read()}

    def listed(self) -> set[str]:
        """The groups whose machines the last refresh listed."""
        return {name for what, name in self.compute.calls if what == "machines"}
