"""What a template says of its machines."""

import json

import pytest
from nodewright_gce.machine_types.hardware import Hardware, read, write

SPOT = Hardware(
    region="europe-west1",
    machine_type="n1-standard-8",
    spot=True,
    vcpus=8,
    memory_mib=30720,
    gpus={"nvidia-tesla-t4": 2},
    local_ssd_gib=750,
    boot_disk="pd-ssd",
    boot_disk_gib=50,
)


def test_machines_are_read_as_they_were_written() -> None:
    plain = Hardware(region="europe-west1", machine_type="n2-standard-4", vcpus=4, memory_mib=16384)
    assert read(write([SPOT, plain])) == (SPOT, plain)
    assert read("") == ()


def test_what_costs_nothing_is_not_written() -> None:
    plain = Hardware(region="europe-west1", machine_type="n2-standard-4", vcpus=4, memory_mib=16384)
    assert json.loads(write([plain])) == [
        {"region": "europe-west1", "machineType": "n2-standard-4", "vcpus": 4, "memoryMib": 16384}
    ]


@pytest.mark.parametrize("text", ["{", "{}", '[{"region": "europe-west1"}]', '[{"vcpus": "four"}]'])
def test_what_nobody_wrote_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"Expected|Object missing|truncated"):
        read(text)
