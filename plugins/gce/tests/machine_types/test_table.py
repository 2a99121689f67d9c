"""The bundled table of machine types, and how it is written."""

import json

import msgspec
import pytest
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.machine_types.table import bundled, read
from nodewright_gce.machine_types.writing import main

LISTED = [
    {
        "kind": "compute#machineType",
        "id": "801016",
        "name": "g2-standard-24",
        "description": "Accelerator Optimized: 2 NVIDIA L4 GPU, 24 vCPUs, 96GB RAM",
        "guestCpus": 24,
        "memoryMb": 98304,
        "imageSpaceGb": 0,
        "maximumPersistentDisks": 128,
        "maximumPersistentDisksSizeGb": "263168",
        "zone": "europe-west1-b",
        "accelerators": [{"guestAcceleratorType": "nvidia-l4", "guestAcceleratorCount": 2}],
        "isSharedCpu": False,
        "architecture": "X86_64",
    },
    {
        "name": "c4a-standard-16-lssd",
        "guestCpus": 16,
        "memoryMb": 65536,
        "maximumPersistentDisks": 32,
        "zone": "europe-west1-b",
        "architecture": "ARM64",
        "bundledLocalSsds": {"defaultInterface": "NVME", "partitionCount": 4},
    },
    {"name": "custom-2-6656", "guestCpus": 2, "memoryMb": 6656, "zone": "europe-west1-b"},
]


@pytest.fixture
def written(tmp_path):
    """Writes a table from a file of such a content, and reads it."""

    def write(content: object):
        source, out = tmp_path / "types.json", tmp_path / "table.json"
        source.write_text(json.dumps(content))
        main([str(source), "--source", "gcloud", "--out", str(out)])
        return read(out.read_bytes())

    return write


@pytest.mark.parametrize(
    "content", [LISTED, {"kind": "compute#machineTypeList", "items": LISTED}], ids=["gcloud", "api"]
)
def test_a_table_that_is_written_is_read_back(written, content) -> None:
    table = written(content)
    assert table.origin.startswith("gcloud, 20")
    assert table.get("g2-standard-24") == MachineTypeInfo(
        name="g2-standard-24", vcpus=24000, memory_mib=98304, gpus=2, gpu_type="nvidia-l4", disks=128
    )
    assert table.get("c4a-standard-16-lssd") == MachineTypeInfo(
        name="c4a-standard-16-lssd", vcpus=16000, memory_mib=65536, architecture="arm64", local_ssds=4, disks=32
    )


def test_a_table_holds_no_custom_types_and_no_zones(written) -> None:
    table = written(LISTED)
    assert sorted(table.types) == ["c4a-standard-16-lssd", "g2-standard-24"]
    assert {each.zone for each in table.types.values()} == {""}


def test_a_custom_type_is_known_without_being_in_the_table() -> None:
    assert bundled().get("n2-custom-2-4096") == MachineTypeInfo(name="n2-custom-2-4096", vcpus=2000, memory_mib=4096)


@pytest.mark.parametrize("name", ["x9-standard-4", "custom-8", ""])
def test_an_unknown_type_is_not_in_the_table(name) -> None:
    assert bundled().get(name) is None


@pytest.mark.parametrize(
    ("name", "gpus", "gpu_type"),
    [
        ("a2-highgpu-1g", 1, "nvidia-tesla-a100"),
        ("a2-megagpu-16g", 16, "nvidia-tesla-a100"),
        ("a2-ultragpu-4g", 4, "nvidia-a100-80gb"),
        ("a3-highgpu-8g", 8, "nvidia-h100-80gb"),
        ("g2-standard-4", 1, "nvidia-l4"),
        ("g2-standard-24", 2, "nvidia-l4"),
        ("g2-standard-32", 1, "nvidia-l4"),
        ("g2-standard-96", 8, "nvidia-l4"),
        ("n1-standard-4", 0, ""),
    ],
)
def test_the_bundled_table_knows_built_in_gpus(name, gpus, gpu_type) -> None:
    info = bundled().get(name)
    assert info is not None
    assert (info.gpus, info.gpu_type) == (gpus, gpu_type)


@pytest.mark.parametrize("name", ["t2a-standard-4", "c4a-standard-4", "n4a-standard-4"])
def test_arm_is_told_by_the_family(name) -> None:
    info = bundled().get(name)
    assert info is not None
    assert info.architecture == "arm64"


@pytest.mark.parametrize(
    ("name", "count", "gib"),
    [
        ("c3-standard-8-lssd", 2, 375),
        ("c4d-highmem-8-lssd", 1, 375),
        ("z3-highmem-88-highlssd", 12, 3000),
        ("z3-highmem-192-highlssd-metal", 12, 6000),
        ("c3-standard-8", 0, 375),
    ],
)
def test_the_bundled_table_knows_local_ssds_and_their_sizes(name, count, gib) -> None:
    info = bundled().get(name)
    assert info is not None
    assert (info.local_ssds, info.local_ssd_gib) == (count, gib)


@pytest.mark.parametrize("name", ["e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"])
def test_types_that_share_a_core_are_known(name) -> None:
    info = bundled().get(name)
    assert info is not None
    assert info.shared_core


def test_the_bundled_table_has_every_family_with_whole_numbers() -> None:
    families = {name.partition("-")[0] for name in bundled().types}
    expected = "a2 a3 c2 c2d c3 c3d c4 c4a c4d e2 g2 h3 m1 m2 m3 n1 n2 n2d n4 t2a t2d z3"
    assert families >= set(expected.split())
    assert all(each.guest_cpus > 0 and each.memory_mb > 0 for each in bundled().types.values())


def test_a_file_that_is_no_list_of_types_is_refused(written) -> None:
    with pytest.raises(msgspec.ValidationError):
        written([{"guestCpus": 2}])
