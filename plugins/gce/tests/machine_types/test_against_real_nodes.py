"""What is foreseen of a node, against what nodes in public texts say of themselves."""

from dataclasses import dataclass

import pytest
from nodewright.api import parse_quantity
from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.machine_types.allocatable import NodeSetup, allocatable_of, capacity_and_allocatable
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.machine_types.table import bundled

ISSUE = "2i2c-org/infrastructure#2121"
JUPYTER = "2i2c-org/infrastructure, deployer: instance_capacities.yaml and node-capacity-info.json"
DUMPS = "nodes in public texts of 2018 to 2022: managedkube, nathanmittler-istio-test, gke-launcher-dev, lines-infra"
KUBEDB = "documentation of KubeDB, NodeTopology"
GKE_DOCS = "GKE's documentation, plan-node-sizes: its example of a node"
INSTASLICE = "openshift/instaslice-operator, pull request 787: a node of Red Hat CoreOS"


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A node of GKE, as far as somebody has published what it reports."""

    name: str
    #: In MiB, as Google sells it.
    sold: int
    source: str
    cpu: str = ""
    capacity: str = ""
    memory: str = ""
    storage: int = 0
    disk_gib: int = 100
    #: Whether the text names the type; otherwise it follows from CPU and memory.
    stated: bool = True

    def __str__(self) -> str:
        return self.name if self.stated else f"like-{self.name}"


def node(name: str, sold: int, source: str, capacity: str, cpu: str, memory: str, **more) -> Reported:
    return Reported(name=name, sold=sold, source=source, capacity=capacity, cpu=cpu, memory=memory, **more)


REPORTED = [
    node("e2-medium", 4096, DUMPS, "4025932Ki", "940m", "2880076Ki", storage=47060071478),
    node("e2-standard-4", 16384, GKE_DOCS, "", "3920m", "13498416Ki", storage=47060071478, stated=False),
    node("n2-standard-4", 16384, GKE_DOCS, "", "3920m", "13498416Ki", storage=47060071478, stated=False),
    node("n2-standard-8", 32768, DUMPS, "32944200Ki", "7910m", "29149256Ki", storage=839876203795, disk_gib=1000),
    node("e2-highmem-16", 131072, JUPYTER, "125.807Gi", "15890m", "116.549Gi"),
    node("n1-standard-1", 3840, DUMPS, "3787616Ki", "940m", "2702176Ki"),
    node("n1-standard-2", 7680, JUPYTER, "7.276Gi", "1930m", "5.483Gi"),
    node("n1-standard-4", 15360, DUMPS, "15399244Ki", "3920m", "12699980Ki", storage=47093746742, stated=False),
    node("n1-standard-8", 30720, JUPYTER, "29.387Gi", "7910m", "25.888Gi"),
    node("n1-standard-16", 61440, JUPYTER, "58.87Gi", "15890m", "53.571Gi"),
    node("n1-standard-32", 122880, KUBEDB, "", "31850m", "109.03Gi"),
    node("n1-standard-64", 245760, KUBEDB, "", "63770m", "224.45Gi"),
    node("n1-highmem-4", 26624, JUPYTER, "27328200704", "3920m", "23829102592"),
    node("n2-highmem-2", 16384, JUPYTER, "15.631Gi", "1930m", "12.972Gi"),
    node("n2-highmem-4", 32768, ISSUE, "32880872Ki", "3920m", "29085928Ki"),
    node("n2-highmem-8", 65536, JUPYTER, "62.809Gi", "7910m", "57.27Gi"),
    node("n2-highmem-16", 131072, ISSUE, "131919220Ki", "15890m", "122210676Ki"),
    node("n2-highmem-32", 262144, JUPYTER, "270473359360", "31850m", "257783492608"),
    node("n2-highmem-64", 524288, ISSUE, "528365196Ki", "63770m", "510603916Ki"),
]


def type_of(name: str) -> MachineTypeInfo:
    info = bundled().get(name)
    assert info is not None
    return info


def foreseen(reported: Reported) -> tuple[dict[str, int], dict[str, int]]:
    setup = NodeSetup(distribution=OsDistribution.COS, reserved_by_gke=True, boot_disk_gib=reported.disk_gib)
    return capacity_and_allocatable(type_of(reported.name), setup)


def within_one_percent(amount: int, text: str, source: str) -> None:
    reported = parse_quantity(text)
    assert 0.99 * reported <= amount <= reported, f"{100 * amount / reported - 100:.2f} %, see {source}"


@pytest.mark.parametrize("reported", REPORTED, ids=str)
def test_the_bundled_table_has_what_google_sells(reported) -> None:
    assert type_of(reported.name).memory_mib == reported.sold


@pytest.mark.parametrize("reported", REPORTED, ids=str)
def test_allocatable_memory_is_within_one_percent_of_what_a_node_reports_and_never_above(reported) -> None:
    within_one_percent(foreseen(reported)[1]["memory"], reported.memory, reported.source)


@pytest.mark.parametrize("reported", [each for each in REPORTED if each.capacity], ids=str)
def test_memory_is_within_one_percent_of_what_a_node_reports_and_never_above(reported) -> None:
    within_one_percent(foreseen(reported)[0]["memory"], reported.capacity, reported.source)


@pytest.mark.parametrize("reported", REPORTED, ids=str)
def test_allocatable_cpu_is_what_a_node_reports(reported) -> None:
    assert foreseen(reported)[1]["cpu"] == parse_quantity(reported.cpu, scale=3), reported.source


@pytest.mark.parametrize("reported", [each for each in REPORTED if each.storage], ids=str)
def test_allocatable_storage_is_within_one_percent_of_what_a_node_reports_and_never_above(reported) -> None:
    within_one_percent(foreseen(reported)[1]["ephemeral-storage"], str(reported.storage), reported.source)


@pytest.mark.parametrize(
    ("disk_gib", "capacity", "allocatable"),
    [(100, "98831908Ki", 47060071478), (100, "98868448Ki", 47093746742), (1000, "1027832452Ki", 839876203795)],
)
def test_storage_that_gke_leaves_of_a_disk_is_exact_to_the_byte(disk_gib, capacity, allocatable) -> None:
    setup = NodeSetup(reserved_by_gke=True, boot_disk_gib=disk_gib)
    left = allocatable_of({"ephemeral-storage": parse_quantity(capacity)}, type_of("e2-medium"), setup)
    assert left == {"ephemeral-storage": allocatable}


@pytest.mark.parametrize(
    ("name", "mib"),
    [
        ("n1-standard-1", 960),
        ("e2-medium", 1019),
        ("n1-standard-4", 2536),
        ("n1-highmem-4", 3237),
        ("n2-standard-8", 3606),
        ("n2-highmem-16", 9381),
        ("n2-highmem-32", 12002),
        ("n2-highmem-64", 17245),
        ("f1-micro", 255),
    ],
)
def test_memory_that_gke_reserves_is_exact_to_the_mebibyte(name, mib) -> None:
    setup = NodeSetup(reserved_by_gke=True, eviction={"memory.available": "0"})
    capacity, allocatable = capacity_and_allocatable(type_of(name), setup)
    assert capacity["memory"] - allocatable["memory"] == mib * 1024**2


def test_a_node_that_somebody_runs_with_the_kubelets_defaults_keeps_no_more_than_its_thresholds() -> None:
    setup = NodeSetup(boot_disk_gib=50, distribution=OsDistribution.UBUNTU)
    capacity, allocatable = capacity_and_allocatable(type_of("n1-standard-4"), setup)
    within_one_percent(capacity["memory"], "15389976Ki", DUMPS)
    within_one_percent(allocatable["memory"], "15287576Ki", DUMPS)
    within_one_percent(capacity["ephemeral-storage"], "50633164Ki", DUMPS)
    within_one_percent(allocatable["ephemeral-storage"], "46663523866", DUMPS)
    assert allocatable["cpu"] == 4000


def test_a_tenth_for_eviction_is_the_kubelets_own_tenth() -> None:
    left = allocatable_of({"ephemeral-storage": 50633164 * 1024}, type_of("n1-standard-4"), NodeSetup())
    assert left == {"ephemeral-storage": 46663523866}, DUMPS


def test_memory_of_a_node_with_gpus_is_within_one_percent_and_never_above() -> None:
    capacity, _ = capacity_and_allocatable(type_of("a2-highgpu-1g"), NodeSetup())
    within_one_percent(capacity["memory"], "87519172Ki", INSTASLICE)


@pytest.mark.parametrize(
    ("name", "memory"), [("e2-micro", "642260Ki"), ("e2-small", "1409449Ki"), ("e2-standard-2", "6187687Ki")]
)
def test_a_type_without_a_published_node_is_foreseen_below_cluster_autoscalers_estimate(name, memory) -> None:
    _, allocatable = capacity_and_allocatable(type_of(name), NodeSetup(reserved_by_gke=True))
    assert 0.98 * parse_quantity(memory) <= allocatable["memory"] <= parse_quantity(memory)
