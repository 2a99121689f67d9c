"""How kubelet settings change what pods may use."""

from dataclasses import replace

import pytest
from nodewright.api import parse_quantity
from nodewright_aws.config import KubeletSettings
from nodewright_aws.instance_types.allocatable import capacity_and_allocatable, ebs_attach_limit
from nodewright_aws.instance_types.info import Gpu, InstanceTypeInfo
from pydantic import ValidationError

MIB = 1024**2
GIB = 1024**3
M5_LARGE = InstanceTypeInfo(
    name="m5.large", vcpus=2, memory_mib=8192, interfaces=3, addresses_per_interface=10, ebs_attachments=27
)
M5_16XLARGE = InstanceTypeInfo(
    name="m5.16xlarge", vcpus=64, memory_mib=262144, interfaces=15, addresses_per_interface=50
)
I3_LARGE = InstanceTypeInfo(
    name="i3.large", vcpus=2, memory_mib=15616, hypervisor="xen", interfaces=3, addresses_per_interface=10,
    local_disk_gb=475, local_disks=1, ebs_attachments=40,
)  # fmt: skip


def capacity(info=M5_LARGE, *, volume_gib=None, **kubelet):
    return capacity_and_allocatable(info, KubeletSettings(**kubelet), root_volume_gib=volume_gib)[0]


def allocatable(info=M5_LARGE, *, volume_gib=None, **kubelet):
    return capacity_and_allocatable(info, KubeletSettings(**kubelet), root_volume_gib=volume_gib)[1]


@pytest.mark.parametrize(
    ("info", "settings", "pods"),
    [
        (M5_LARGE, {}, 29),
        (M5_LARGE, {"max_pods": 42}, 42),
        (M5_LARGE, {"max_pods": "prefix"}, 110),
        (M5_LARGE, {"reserved_enis": 1}, 20),
        (M5_LARGE, {"custom_networking": True}, 20),
        (M5_LARGE, {"custom_networking": True, "max_pods": "prefix"}, 110),
        (M5_LARGE, {"reserved_enis": 3}, 0),
        (M5_LARGE, {"ami_family": "custom"}, 110),
        (M5_LARGE, {"ami_family": "custom", "max_pods": "eni"}, 29),
        (M5_LARGE, {"ami_family": "bottlerocket"}, 29),
        (M5_16XLARGE, {}, 737),
        (M5_16XLARGE, {"max_pods": "managed"}, 250),
        (M5_16XLARGE, {"max_pods": "prefix"}, 250),
        # Before Nitro, there were no prefixes.
        (I3_LARGE, {"max_pods": "prefix"}, 29),
    ],
)
def test_as_many_pods_fit_as_the_kubelet_is_told(info, settings, pods) -> None:
    assert allocatable(info, **settings)["pods"] == capacity(info, **settings)["pods"] == pods


def test_amazon_linux_reserves_memory_for_the_pods_of_all_interfaces_and_bottlerocket_for_those_let_in() -> None:
    def reserved(family, pods):
        settings = {"ami_family": family, "max_pods": pods}
        return (capacity(**settings)["memory"] - allocatable(**settings)["memory"]) // MIB

    assert reserved("al2023", 110) == reserved("al2", 110) == 255 + 11 * 29 + 100
    assert reserved("bottlerocket", 110) == 255 + 11 * 110 + 100


def test_a_custom_ami_reserves_nothing_by_itself() -> None:
    assert allocatable(ami_family="custom")["cpu"] == 2000
    assert capacity(ami_family="custom")["memory"] - allocatable(ami_family="custom")["memory"] == 100 * MIB


@pytest.mark.parametrize(("vcpus", "milli"), [(1, 940), (2, 1930), (4, 3920), (8, 7910), (48, 47810), (96, 95690)])
def test_less_of_each_further_core_is_reserved(vcpus, milli) -> None:
    assert allocatable(replace(M5_LARGE, vcpus=vcpus))["cpu"] == milli


def test_reservations_of_the_settings_replace_those_of_the_ami_resource_by_resource() -> None:
    amounts = allocatable(kube_reserved={"cpu": "200m"}, system_reserved={"cpu": "100m", "memory": "1Gi"})
    assert amounts["cpu"] == 1700
    assert allocatable()["memory"] - amounts["memory"] == GIB


def test_a_threshold_of_the_settings_replaces_the_kubelets_own() -> None:
    assert allocatable()["memory"] - allocatable(eviction_hard={"memory.available": "600Mi"})["memory"] == 500 * MIB
    fifth = allocatable(eviction_hard={"memory.available": "20%"})["memory"]
    kept = capacity()["memory"] - fifth - (255 + 11 * 29) * MIB
    assert kept == pytest.approx(capacity()["memory"] / 5, abs=1000)


def test_nothing_is_allocatable_where_more_is_reserved_than_there_is() -> None:
    assert allocatable(kube_reserved={"memory": "100Gi"})["memory"] == 0


def test_memory_overhead_of_the_settings_replaces_the_estimate() -> None:
    assert capacity(memory_overhead=7.5)["memory"] == 8192 * MIB * 925 // 1000 // 1024 * 1024


def test_a_family_that_nobody_has_measured_counts_for_less_than_those_that_somebody_has() -> None:
    unknown = capacity(replace(M5_LARGE, name="m99x.large"))["memory"]
    assert unknown < min(capacity(replace(M5_LARGE, name=f"{name}.large"))["memory"] for name in ("m5", "c5", "m6g"))


def test_storage_is_left_out_if_nobody_tells_the_size_of_the_volume() -> None:
    assert "ephemeral-storage" not in capacity()
    assert "ephemeral-storage" not in allocatable()


@pytest.mark.parametrize("family", ["al2", "al2023", "bottlerocket", "custom"])
def test_a_volume_holds_less_than_it_has(family) -> None:
    assert 0.95 * 20 * GIB < capacity(volume_gib=20, ami_family=family)["ephemeral-storage"] < 20 * GIB


@pytest.mark.parametrize(
    ("family", "arch", "gib", "kib"),
    [
        ("al2", "amd64", 80, 83_873_772),
        ("al2", "arm64", 80, 83_864_556),
        ("al2023", "amd64", 50, 52_350_956),
        ("al2023", "amd64", 100, 104_779_756),
    ],
)
def test_what_amazon_linux_keeps_of_its_root_volume_does_not_grow_with_it(family, arch, gib, kib) -> None:
    amounts = capacity(replace(M5_LARGE, arch=arch), ami_family=family, volume_gib=gib)
    assert amounts["ephemeral-storage"] == kib * 1024


def test_disks_of_the_machine_take_the_volumes_place_if_they_are_made_one() -> None:
    amounts = capacity(I3_LARGE, volume_gib=20, local_disks_as_storage=True)
    assert 0.95 * 475e9 < amounts["ephemeral-storage"] < 475e9
    assert capacity(volume_gib=20, local_disks_as_storage=True) == capacity(volume_gib=20)


def test_devices_are_shown_as_their_plugins_show_them() -> None:
    info = replace(
        M5_LARGE,
        gpu=Gpu(name="T4", manufacturer="NVIDIA", count=4),
        neuron_devices=16,
        neuron_cores=32,
        efa_interfaces=8,
    )
    amounts = allocatable(info)
    assert {name: amount for name, amount in amounts.items() if "/" in name} == {
        "nvidia.com/gpu": 4,
        "aws.amazon.com/neuron": 16,
        "aws.amazon.com/neuroncore": 32,
        "vpc.amazonaws.com/efa": 8,
    }
    amd = replace(M5_LARGE, gpu=Gpu(name="Radeon Pro V520", manufacturer="AMD", count=2))
    assert allocatable(amd)["amd.com/gpu"] == 2


@pytest.mark.parametrize(
    ("info", "limit"),
    [
        (M5_LARGE, 25),
        (I3_LARGE, 39),
        (replace(M5_LARGE, ebs_attachments=32, ebs_shared_limit=False), 31),
        # Kubernetes would take 0 for no limit.
        (replace(M5_LARGE, ebs_attachments=0), 1),
    ],
)
def test_the_boot_volume_and_a_second_interface_take_places_of_volumes(info, limit) -> None:
    assert ebs_attach_limit(info) == limit


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kubeReserved": {"memory": "lots"}}, "'lots' is not a quantity"),
        ({"kubeReserved": {"memory": "-1Gi"}}, "'-1Gi' is negative: write an amount such as 200m or 1Gi"),
        ({"evictionHard": {"memory.available": "101%"}}, "'101%' is no threshold: write an amount such as 200Mi"),
        ({"evictionHard": {"memory.available": "x%"}}, "'x%' is no threshold"),
        ({"evictionHard": {"imagefs.available": "10%"}}, "Input should be 'memory.available' or 'nodefs.available'"),
        ({"maxPods": 0}, "greater than or equal to 1"),
        ({"maxPods": "many"}, "Input should be 'auto', 'eni', 'managed' or 'prefix'"),
        ({"amiFamily": "windows"}, "Input should be 'al2023', 'al2', 'bottlerocket' or 'custom'"),
        ({"memoryOverhead": 100}, "less than 100"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message) -> None:
    with pytest.raises(ValidationError, match=message.replace("(", r"\(")):
        KubeletSettings.model_validate(settings)


def test_settings_are_written_as_in_yaml() -> None:
    settings = KubeletSettings.model_validate(
        {"maxPods": "prefix", "evictionHard": {"memory.available": "5%"}, "kubeReserved": {"cpu": "250m"}}
    )
    assert settings.max_pods == "prefix"
    assert parse_quantity(settings.kube_reserved["cpu"], scale=3) == 250
