"""What machines take of quotas."""

import pytest

T4 = [{"acceleratorType": "nvidia-tesla-t4", "acceleratorCount": 2}]
SPOT = {"provisioningModel": "SPOT"}


@pytest.fixture
def quotas(templates, a_template, a_group):
    """Returns what a machine takes, by metrics without the region."""

    def read(*args, **kwargs) -> dict[str, int]:
        group = a_group(a_template(*args, **kwargs))
        templates.refresh([group])
        found = templates.quotas(group)
        assert all(name.startswith(("europe-west1/", "global/")) for name in found)
        return {name.removeprefix("europe-west1/"): amount for name, amount in found.items()}

    return read


def test_a_machine_takes_its_vcpus_itself_and_its_disk(quotas) -> None:
    assert quotas(machine_type="n2-standard-8") == {
        "INSTANCES": 1,
        "N2_CPUS": 8,
        "SSD_TOTAL_GB": 100,
        "global/CPUS_ALL_REGIONS": 8,
    }


@pytest.mark.parametrize(
    ("machine_type", "metric"),
    [
        ("e2-standard-4", "CPUS"),
        ("n1-standard-4", "CPUS"),
        ("custom-4-8192", "CPUS"),
        ("n2d-standard-4", "N2D_CPUS"),
        ("c2-standard-4", "C2_CPUS"),
        ("t2a-standard-4", "T2A_CPUS"),
        ("c3-standard-4", "C3_CPUS"),
        ("c4-standard-4", "CPUS_PER_VM_FAMILY/C4"),
        ("n4-standard-4", "CPUS_PER_VM_FAMILY/N4"),
    ],
)
def test_families_have_quotas_of_their_own(quotas, machine_type, metric) -> None:
    assert quotas(machine_type=machine_type)[metric] == 4


def test_spot_machines_take_from_quotas_of_their_own(quotas) -> None:
    found = quotas(machine_type="n1-standard-8", local_ssds=2, guestAccelerators=T4, scheduling=SPOT)
    assert found == {
        "INSTANCES": 1,
        "PREEMPTIBLE_CPUS": 8,
        "PREEMPTIBLE_NVIDIA_T4_GPUS": 2,
        "PREEMPTIBLE_LOCAL_SSD_GB": 750,
        "SSD_TOTAL_GB": 100,
        "global/CPUS_ALL_REGIONS": 8,
        "global/GPUS_ALL_REGIONS": 2,
    }


@pytest.mark.parametrize(
    ("machine_type", "metric", "count"),
    [
        ("a2-highgpu-2g", "NVIDIA_A100_GPUS", 2),
        ("a2-ultragpu-1g", "NVIDIA_A100_80GB_GPUS", 1),
        ("a3-highgpu-8g", "NVIDIA_H100_GPUS", 8),
        ("g2-standard-24", "NVIDIA_L4_GPUS", 2),
    ],
)
def test_gpus_that_a_type_has_take_from_their_quotas(quotas, machine_type, metric, count) -> None:
    found = quotas(machine_type=machine_type)
    assert (found[metric], found["global/GPUS_ALL_REGIONS"]) == (count, count)


def test_local_ssds_take_their_size(quotas) -> None:
    assert quotas(local_ssds=3)["LOCAL_SSD_TOTAL_GB"] == 1125


def test_local_ssds_of_newer_families_are_counted_by_family(quotas) -> None:
    assert quotas(machine_type="c3-standard-8-lssd")["LOCAL_SSD_TOTAL_GB_PER_VM_FAMILY/C3"] == 750


def test_only_machines_with_external_addresses_take_from_these(quotas) -> None:
    interfaces = [{"network": "default", "accessConfigs": [{"type": "ONE_TO_ONE_NAT"}]}]
    assert quotas(networkInterfaces=interfaces)["IN_USE_ADDRESSES"] == 1
    assert "IN_USE_ADDRESSES" not in quotas("inner", networkInterfaces=[{"network": "default"}])


def test_a_standard_disk_takes_from_a_quota_of_its_own(quotas) -> None:
    disks = [{"boot": True, "type": "PERSISTENT", "initializeParams": {"diskSizeGb": "50"}}]
    found = quotas(disks=disks)
    assert found["DISKS_TOTAL_GB"] == 50
    assert "SSD_TOTAL_GB" not in found


def test_a_flexible_group_takes_what_all_its_types_take_at_least(templates, a_template, a_group, flexible) -> None:
    policy = flexible((1, "n2-standard-8 n2-standard-4 n2d-standard-8"))
    group = a_group(a_template(), instanceFlexibilityPolicy=policy)
    templates.refresh([group])
    assert templates.quotas(group) == {
        "europe-west1/INSTANCES": 1,
        "europe-west1/SSD_TOTAL_GB": 100,
        "global/CPUS_ALL_REGIONS": 4,
    }
