"""What a project has besides its groups: places, templates, machine types, quotas, reservations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodewright_gce.pools import Pool
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.resource import last_part
from nodewright_gce.testing.capacity import Plan
from nodewright_gce.testing.fleet import Fleet
from nodewright_gce.testing.group import Group, Machine
from nodewright_gce.testing.machine_types import machine_type, machine_types
from nodewright_gce.testing.messages import Call, RefusalError, invalid, not_found
from nodewright_gce.testing.pages import page_of
from nodewright_gce.testing.quotas import LIMITS, takes_of
from nodewright_gce.testing.urls import path_of, place_url, time_of, url

#: Regions, and the letters of their zones.
REGIONS = {"europe-west1": "bcd", "europe-west4": "abc", "us-central1": "abcf"}


class Project:
    """Answers calls about a project, and tells its groups what they make."""

    def __init__(self, name: str) -> None:
        self.name = name
        regions = [Place(project=name, name=region, regional=True) for region in REGIONS]
        zones = [Place(project=name, name=zone) for region in regions for zone in self.zones_of(region)]
        #: All zones and regions.
        self.places = (*zones, *regions)
        #: At most so many entries are on a page.
        self.longest = 500
        #: By path: ``projects/P/global/instanceTemplates/NAME``, or ``…/regions/R/…``.
        self.templates: dict[str, dict[str, Any]] = {}

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

    # What is asked

    def handlers(self, fleet: Fleet) -> Mapping[str, Mapping[str, Callable[[Call], Mapping[str, Any]]]]:
        """All calls that it answers, given the machines of *fleet*."""
        templates = {"list": self._list_templates, "get": self._get_template}
        return {
            "zones": {
                "list": lambda call: self._page([self._zone(each) for each in self._listed(call)], call),
                "get": lambda call: self._zone(self._named(call)),
            },
            "regions": {
                "list": lambda call: self._page([self._region(fleet, each) for each in self._listed(call)], call),
                "get": lambda call: self._region(fleet, self._named(call)),
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

    def check(self, call: Call) -> None:
        """Raise `RefusalError` unless a call is about this project, and a place that there is."""
        if call.project and call.project != self.name:
            raise not_found(f"projects/{call.project}")
        if call.place is not None and call.place not in self.places:
            raise _unknown(call.place)

    def zones_of(self, place: Place) -> Sequence[str]:
        """The zones of a region, or the zone that it is."""
        return [f"{place.name}-{letter}" for letter in REGIONS[place.name]] if place.regional else [place.name]

    def _page(self, items: Sequence[Mapping[str, Any]], call: Call) -> Mapping[str, Any]:
        return page_of(items, call.arguments, longest=self.longest)

    def _url_of(self, call: Call) -> str:
        return place_url(call.place) if call.place else ""

    def _zone(self, place: Place) -> Mapping[str, Any]:
        region = Place(project=self.name, name=place.region, regional=True)
        return {"name": place.name, "status": "UP", "selfLink": place_url(place), "region": place_url(region)}

    def _region(self, fleet: Fleet, place: Place) -> Mapping[str, Any]:
        used = fleet.capacity.usage(place.name)
        limits = {**LIMITS, **fleet.capacity.quotas[place.name]}
        zones = [Place(project=self.name, name=zone) for zone in self.zones_of(place)]
        return {
            "name": place.name,
            "status": "UP",
            "selfLink": place_url(place),
            "zones": [place_url(zone) for zone in zones],
            "quotas": [{"metric": metric, "limit": limits[metric], "usage": used[metric]} for metric in sorted(limits)],
        }

    def _named(self, call: Call) -> Place:
        """The zone or region that a call asks for."""
        place = Place(project=self.name, name=call.name, regional=call.resource == "regions")
        if place not in self.places:
            raise _unknown(place)
        return place

    def _listed(self, call: Call) -> Sequence[Place]:
        return [place for place in self.places if place.regional is (call.resource == "regions")]

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
            "creationTimestamp": time_of(machine.created_at) if machine.created_at else "",
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
                "specificReservationRequired": True,
                "specificReservation": {
                    "count": str(each.count),
                    "inUseCount": str(fleet.capacity.in_use(each.name, zone)),
                    "instanceProperties": {"machineType": each.machine_type},
                },
            }
            for each in fleet.capacity.reservations
            if each.zone == zone
        ]


def _unknown(place: Place) -> RefusalError:
    kind = "region" if place.regional else "zone"
    return invalid(f"Invalid value for field '{kind}': '{place.name}'. Unknown {kind}.")


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
