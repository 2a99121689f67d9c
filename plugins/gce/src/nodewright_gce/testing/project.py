"""What a project has besides its groups: places, templates, machine types, quotas, reservations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewright_gce.pools import Pool
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.resource import last_part
from nodewright_gce.testing.fleet import Fleet, Plan
from nodewright_gce.testing.group import Group, Machine
from nodewright_gce.testing.machine_types import machine_type, machine_types
from nodewright_gce.testing.messages import Call, invalid, not_found
from nodewright_gce.testing.pages import page_of
from nodewright_gce.testing.quotas import LIMITS, takes_of
from nodewright_gce.testing.urls import path_of, place_url, url

#: Regions, and the letters of their zones.
REGIONS = {"europe-west1": "bcd", "europe-west4": "abc", "us-central1": "abcf"}


@dataclass(kw_only=True)
class Reservation:
    """Capacity that is paid for, used or not."""

    name: str
    zone: str
    machine_type: str
    count: int
    specific: bool = True


class Project:
    """Answers calls about a project, and tells its groups what they make."""

    def __init__(self, name: str) -> None:
        self.name = name
        #: At most so many entries are on a page.
        self.longest = 500
        #: By path: ``projects/P/global/instanceTemplates/NAME``, or ``…/regions/R/…``.
        self.templates: dict[str, dict[str, Any]] = {}
        self.reservations: dict[tuple[str, str], Reservation] = {}

    # What groups make

    def plan(self, group: Group) -> Plan:
        """What the next machine of *group* would be; raises `RefusalError` if its template is gone."""
        template_url, version = _version_of(group)
        template = self.templates.get(path_of(template_url))
        if template is None:
            raise not_found(path_of(template_url))
        properties = template["properties"]
        selections = group.settings.get("instanceFlexibilityPolicy", {}).get("instanceSelections", {})
        types = [
            name
            for selection in sorted(selections.values(), key=lambda each: each.get("rank", 0))
            for name in selection["machineTypes"]
        ] or [properties["machineType"]]
        scheduling = properties.get("scheduling", {})
        spot = scheduling.get("preemptible", False) or scheduling.get("provisioningModel") == "SPOT"
        affinity = properties.get("reservationAffinity", {})
        reservation = next(iter(affinity.get("values", ())), "")
        return Plan(
            template=template_url,
            version=version,
            pools=[
                Pool(zone=zone, machine_type=name, spot=spot, reservation=reservation)
                for zone in group.zones
                for name in types
            ],
            takes={name: takes_of(machine_type(name), properties, spot=spot) for name in types},
            flexible=bool(selections),
        )

    def available(self, reservation: str, zone: str, used: int) -> bool:
        """Whether a reservation has room for one more machine."""
        reserved = self.reservations.get((zone, reservation))
        return reserved is not None and used < reserved.count

    # What is asked

    def handlers(self, fleet: Fleet) -> Mapping[str, Mapping[str, Callable[[Call], Mapping[str, Any]]]]:
        """All calls that it answers, given the machines of *fleet*."""
        templates = {"list": self._list_templates, "get": self._get_template}
        return {
            "zones": {"list": self._list_zones, "get": lambda call: self._zone(call.name)},
            "regions": {
                "list": lambda call: self._page([self._region(fleet, name) for name in REGIONS], call),
                "get": lambda call: self._region(fleet, call.name),
            },
            "machine_types": {
                "list": lambda call: self._page(list(machine_types(self._url_of(call)).values()), call),
                "get": lambda call: {**machine_type(call.name), "zone": self._url_of(call)},
            },
            "instance_templates": templates,
            "region_instance_templates": templates,
            "instances": {
                "list": lambda call: self._page(self._instances(fleet, call), call),
                "get": lambda call: self._instance(fleet, call),
            },
            "reservations": {"list": lambda call: self._page(self._reserved(fleet, call), call)},
        }

    def check(self, place: Place) -> None:
        """Raise `RefusalError` if there is no such place."""
        known = place.name in REGIONS if place.regional else place.name in zones()
        if not known:
            kind = "region" if place.regional else "zone"
            raise invalid(f"Invalid value for field '{kind}': '{place.name}'. Unknown {kind}.")

    def _page(self, items: Sequence[Mapping[str, Any]], call: Call) -> Mapping[str, Any]:
        return page_of(items, call.arguments, longest=self.longest)

    def _url_of(self, call: Call) -> str:
        return place_url(call.place) if call.place else ""

    def _list_zones(self, call: Call) -> Mapping[str, Any]:
        return self._page([self._zone(name) for name in zones()], call)

    def _zone(self, name: str) -> Mapping[str, Any]:
        place = Place(project=self.name, name=name)
        self.check(place)
        region = Place(project=self.name, name=place.region, regional=True)
        return {"name": name, "status": "UP", "selfLink": place_url(place), "region": place_url(region)}

    def _region(self, fleet: Fleet, name: str) -> Mapping[str, Any]:
        place = Place(project=self.name, name=name, regional=True)
        self.check(place)
        used = fleet.usage(name)
        limits = LIMITS | fleet.quotas[name]
        return {
            "name": name,
            "status": "UP",
            "selfLink": place_url(place),
            "zones": [place_url(Place(project=self.name, name=f"{name}-{letter}")) for letter in REGIONS[name]],
            "quotas": [{"metric": metric, "limit": limits[metric], "usage": used[metric]} for metric in sorted(limits)],
        }

    def _get_template(self, call: Call) -> Mapping[str, Any]:
        path = _template_path(call)
        if path not in self.templates:
            raise not_found(path)
        return self.templates[path]

    def _list_templates(self, call: Call) -> Mapping[str, Any]:
        scope = _template_path(call)
        return self._page([each for path, each in self.templates.items() if path.startswith(scope)], call)

    def _instances(self, fleet: Fleet, call: Call) -> list[Mapping[str, Any]]:
        there = [*fleet.machines(), *fleet.abandoned.values()]
        zone = call.place.name if call.place else ""
        return [self._show_instance(each) for each in there if each.id and each.zone == zone]

    def _instance(self, fleet: Fleet, call: Call) -> Mapping[str, Any]:
        for instance in self._instances(fleet, call):
            if instance["name"] == call.name:
                return instance
        raise not_found(f"{call.place.path if call.place else ''}/instances/{call.name}")

    def _show_instance(self, machine: Machine) -> Mapping[str, Any]:
        template = self.templates.get(path_of(machine.template), {})
        metadata = list(template.get("properties", {}).get("metadata", {}).get("items", ()))
        place = Place(project=self.name, name=machine.zone)
        if machine.group:
            metadata.append(
                {
                    "key": "created-by",
                    "value": f"projects/100000000000/{machine.owner}/instanceGroupManagers/{machine.group}",
                }
            )
        return {
            "id": str(machine.id),
            "name": machine.name,
            "status": machine.status,
            "creationTimestamp": machine.created_at.isoformat(timespec="milliseconds") if machine.created_at else "",
            "machineType": url(f"{place.path}/machineTypes/{machine.pool.machine_type}"),
            "zone": place_url(place),
            "selfLink": url(machine.path),
            "metadata": {"items": metadata},
            "scheduling": {"provisioningModel": "SPOT" if machine.spot else "STANDARD", "preemptible": machine.spot},
        }

    def _reserved(self, fleet: Fleet, call: Call) -> list[Mapping[str, Any]]:
        zone = call.place.name if call.place else ""
        return [
            {
                "name": each.name,
                "zone": self._url_of(call),
                "status": "READY",
                "specificReservationRequired": each.specific,
                "specificReservation": {
                    "count": str(each.count),
                    "inUseCount": str(
                        sum(one.granted and one.pool.reservation == each.name for one in fleet.machines())
                    ),
                    "instanceProperties": {"machineType": each.machine_type},
                },
            }
            for each in self.reservations.values()
            if each.zone == zone
        ]


def zones() -> list[str]:
    """Return the names of all zones."""
    return [f"{region}-{letter}" for region, letters in REGIONS.items() for letter in letters]


def _template_path(call: Call) -> str:
    scope = call.place.path if call.place else f"projects/{call.project}/global"
    return f"{scope}/instanceTemplates/{call.name}"


def _version_of(group: Group) -> tuple[str, str]:
    """The template of the next machine, and the name of its version: those with a size are filled first."""
    versions = group.settings.get("versions", ())
    template, name = str(group.settings.get("instanceTemplate", "")), ""
    for version in versions:
        size = version.get("targetSize")
        if not size:
            template, name = version["instanceTemplate"], version.get("name", "")
            continue
        wanted = int(size["fixed"]) if "fixed" in size else -(-int(size["percent"]) * group.target // 100)
        there = sum(last_part(each.template) == last_part(version["instanceTemplate"]) for each in group.living)
        if there < wanted:
            return version["instanceTemplate"], version.get("name", "")
    return template, name
