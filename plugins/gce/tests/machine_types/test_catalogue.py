"""Machine types by name, from Google or from the table."""

import pytest
from nodewright.api import AccessDeniedError, CloudUnavailableError, NodewrightError, PermanentError
from nodewright.testing import SteppedClock
from nodewright_gce.machine_types.catalogue import Catalogue
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.machine_type import MachineType

ZONE = Place(project="p", name="europe-west1-b")
DAY, HOUR, MINUTE = 86400, 3600, 60


class Types:
    """Answers for types. Implements the part of `nodewright_gce.calls.compute.Compute` that is asked."""

    def __init__(self) -> None:
        self.known = {"n2-standard-8": MachineType(name="n2-standard-8", guest_cpus=8, memory_mb=30000)}
        self.failure: NodewrightError | None = None
        self.asked: list[tuple[str, str]] = []

    def machine_type(self, zone: Place, name: str) -> MachineType:
        self.asked.append((zone.name, name))
        if self.failure is not None:
            raise self.failure
        if name not in self.known:
            raise PermanentError(f"machine type {name} was not found")
        return self.known[name]


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def types():
    return Types()


@pytest.fixture
def catalogue(types, clock):
    return Catalogue(types, clock, static=False)


def test_what_google_says_counts_more_than_the_table(catalogue) -> None:
    catalogue.refresh({"n2-standard-8": ZONE})
    assert catalogue.get("n2-standard-8").memory_mib == 30000


def test_a_type_is_asked_for_once_a_day(catalogue, types, clock) -> None:
    catalogue.refresh({"n2-standard-8": ZONE})
    clock.advance(DAY / 2)
    catalogue.refresh({"n2-standard-8": ZONE})
    assert types.asked == [("europe-west1-b", "n2-standard-8")]
    clock.advance(DAY / 2)
    catalogue.refresh({"n2-standard-8": ZONE})
    assert len(types.asked) == 2


def test_a_type_that_google_does_not_have_is_asked_for_again_after_an_hour(catalogue, types, clock) -> None:
    catalogue.refresh({"x9-standard-4": ZONE})
    clock.advance(HOUR / 2)
    catalogue.refresh({"x9-standard-4": ZONE})
    assert len(types.asked) == 1
    assert catalogue.get("x9-standard-4") is None
    types.known["x9-standard-4"] = MachineType(name="x9-standard-4", guest_cpus=4, memory_mb=16384)
    clock.advance(HOUR)
    catalogue.refresh({"x9-standard-4": ZONE})
    assert catalogue.get("x9-standard-4").vcpus == 4000


@pytest.mark.scenario(31)
def test_a_custom_type_needs_no_call(catalogue, types) -> None:
    catalogue.refresh({"custom-2-6656": ZONE})
    info = catalogue.get("custom-2-6656")
    assert (info.vcpus, info.memory_mib) == (2000, 6656)
    assert types.asked == []


@pytest.mark.parametrize(
    "failure", [AccessDeniedError("compute.machineTypes.get is missing"), CloudUnavailableError("no")]
)
def test_the_table_serves_while_google_does_not_answer(catalogue, types, clock, failure, caplog) -> None:
    types.failure = failure
    catalogue.refresh({"n2-standard-8": ZONE, "e2-medium": ZONE})
    assert catalogue.get("n2-standard-8").memory_mib == 32768
    assert catalogue.trouble is failure
    assert len(types.asked) == 1
    catalogue.refresh({"n2-standard-8": ZONE})
    assert len(types.asked) == 1
    types.failure = None
    clock.advance(5 * MINUTE)
    catalogue.refresh({"n2-standard-8": ZONE})
    assert catalogue.get("n2-standard-8").memory_mib == 30000
    assert catalogue.trouble is None
    assert caplog.text.count("the bundled table is used") == 1


def test_what_was_read_stays_known_while_google_does_not_answer(catalogue, types, clock) -> None:
    catalogue.refresh({"n2-standard-8": ZONE})
    types.failure = CloudUnavailableError("no answer")
    clock.advance(2 * DAY)
    catalogue.refresh({"n2-standard-8": ZONE})
    assert catalogue.get("n2-standard-8").memory_mib == 30000


def test_types_that_no_group_launches_are_forgotten(catalogue, types) -> None:
    types.known["x9-standard-4"] = MachineType(name="x9-standard-4", guest_cpus=4, memory_mb=16384)
    catalogue.refresh({"x9-standard-4": ZONE})
    catalogue.refresh({})
    assert catalogue.get("x9-standard-4") is None


def test_gpus_that_an_answer_leaves_out_are_those_of_the_table(catalogue, types) -> None:
    types.known["a2-highgpu-2g"] = MachineType(name="a2-highgpu-2g", guest_cpus=24, memory_mb=174080)
    catalogue.refresh({"a2-highgpu-2g": ZONE})
    assert catalogue.get("a2-highgpu-2g").gpus == 2


def test_a_static_catalogue_never_asks(types, clock) -> None:
    catalogue = Catalogue(types, clock, static=True)
    catalogue.refresh({"n2-standard-8": ZONE})
    assert types.asked == []
    assert catalogue.get("n2-standard-8").memory_mib == 32768
