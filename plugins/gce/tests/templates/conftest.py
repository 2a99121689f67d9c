"""A small Google that knows instance templates and machine types, and counts what it is asked for."""

import re
from collections.abc import Mapping

import msgspec
import pytest
from nodewright.api import NodewrightError, PermanentError
from nodewright.testing import SteppedClock
from nodewright_gce.config.templates import TemplateSettings
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.instance_template import InstanceTemplate
from nodewright_gce.resources.machine_type import MachineType
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig
from nodewright_gce.templates.templates import Templates

SITE = "https://www.googleapis.com/compute/v1/"


class SmallGoogle:
    """Implements what is asked of `nodewright_gce.calls.compute.Compute`. Types are those of the bundled table."""

    def __init__(self) -> None:
        #: Bodies by URL.
        self.templates: dict[str, dict] = {}
        #: Bodies by name; types that are not here do not exist.
        self.types: dict[str, dict] = {}
        self.failure: NodewrightError | None = None
        self.asked: list[str] = []

    def template(self, url: str) -> InstanceTemplate:
        self.asked.append(f"template {url}")
        if self.failure is not None:
            raise self.failure
        if url not in self.templates:
            raise PermanentError(f"notFound: {url}")
        return msgspec.convert(self.templates[url], type=InstanceTemplate)

    def machine_type(self, zone: Place, name: str) -> MachineType:
        self.asked.append(f"type {zone.name}/{name}")
        if name not in self.types:
            raise PermanentError(f"notFound: {zone.path}/machineTypes/{name}")
        return msgspec.convert(self.types[name], type=MachineType)


@pytest.fixture
def google() -> SmallGoogle:
    return SmallGoogle()


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def make_templates(google, clock):
    """Makes `Templates` with settings as in YAML."""

    def make(**settings) -> Templates:
        return Templates(google, TemplateSettings.model_validate(settings), clock)

    return make


@pytest.fixture
def templates(make_templates) -> Templates:
    return make_templates()


@pytest.fixture
def a_template(google):
    """Makes an instance template of properties in the API's form, and returns its URL."""

    def make(
        name: str = "workers-1",
        machine_type: str = "n2-standard-8",
        *,
        metadata: Mapping[str, str] | None = None,
        disk_gb: int = 100,
        local_ssds: int = 0,
        place: str = "global",
        image: str = "",
        **properties,
    ) -> str:
        parameters = {"diskSizeGb": str(disk_gb), "diskType": "pd-balanced", "sourceImage": image}
        scratch = {"type": "SCRATCH", "interface": "NVME", "initializeParams": {"diskType": "local-ssd"}}
        url = f"{SITE}projects/p/{place}/instanceTemplates/{name}"
        google.templates[url] = {
            "name": name,
            "properties": {
                "machineType": machine_type,
                "metadata": {"items": [{"key": key, "value": value} for key, value in (metadata or {}).items()]},
                "disks": [
                    {"boot": True, "type": "PERSISTENT", "initializeParams": parameters},
                    *[scratch] * local_ssds,
                ],
                **properties,
            },
        }
        return url

    return make


@pytest.fixture
def a_group():
    """Makes the view of a group: machines by letter of their zone, as in ``bbc``."""

    def make(
        template: str, name: str = "workers", *, place: str = "europe-west1-b", machines: str = "", **body
    ) -> ManagedGroup:
        address = Address(place=Place(project="p", name=place, regional=not re.search("-[a-z]$", place)), name=name)
        region = address.place.region
        return ManagedGroup(
            address=address,
            mig=msgspec.convert({"name": name, "instanceTemplate": template, **body}, type=Mig),
            members=tuple(
                ManagedInstance(
                    name=f"{name}-{number}",
                    instance=f"{SITE}projects/p/zones/{region}-{zone}/instances/{name}-{number}",
                )
                for number, zone in enumerate(machines)
            ),
        )

    return make


@pytest.fixture
def foresee(templates, a_template, a_group):
    """Returns the template of a node of a new group with such an instance template."""

    def read(*args, **kwargs):
        group = a_group(a_template(*args, **kwargs))
        templates.refresh([group])
        return templates.template(group)

    return read


@pytest.fixture
def regional():
    """Makes the distribution policy of a regional group with zones by letter."""

    def make(letters: str, region: str = "europe-west1") -> dict:
        return {"zones": [{"zone": f"{SITE}projects/p/zones/{region}-{letter}"} for letter in letters]}

    return make


@pytest.fixture
def flexible():
    """Makes the flexibility policy of a group, of types by rank."""

    def make(*types_by_rank: tuple[int, str]) -> dict:
        return {
            "instanceSelections": {
                f"selection-{rank}": {"machineTypes": names.split(), "rank": rank} for rank, names in types_by_rank
            }
        }

    return make
