"""How much memory a node sees."""

import pytest
from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.machine_types.memory import memory_seen

MIB = 1024**2


def a_type(name: str = "n2-standard-4", mib: int = 16384, architecture: str = "amd64") -> MachineTypeInfo:
    return MachineTypeInfo(name=name, vcpus=4000, memory_mib=mib, architecture=architecture)


def test_an_overhead_from_the_settings_takes_the_place_of_the_estimate() -> None:
    assert memory_seen(a_type(), OsDistribution.COS, overhead_percent=2.5) == int(16384 * 0.975 * 1024) * 1024


def test_ubuntu_keeps_four_mebibytes_more() -> None:
    assert memory_seen(a_type(), OsDistribution.COS) - memory_seen(a_type(), OsDistribution.UBUNTU) == 4 * MIB


def test_a_family_that_nobody_measured_is_foreseen_lower_than_a_measured_one() -> None:
    measured, other = (memory_seen(a_type(name), OsDistribution.COS) for name in ("n2-standard-4", "c4-standard-4"))
    assert measured - other == pytest.approx(0.0025 * 16384 * MIB, abs=1024)


@pytest.mark.parametrize(("mib", "fixed"), [(2048, 16 + 8), (8192, 16 + 64 + 8), (16384, 16 + 64)])
def test_the_kernel_keeps_a_share_and_what_machines_of_the_size_need(mib, fixed) -> None:
    seen = memory_seen(a_type(mib=mib), OsDistribution.COS)
    assert mib * MIB - seen == pytest.approx((mib * (1 / 64 + 0.00175 + 0.0075) + fixed) * MIB, abs=1024)


def test_arm_machines_see_less() -> None:
    amd, arm = (
        memory_seen(a_type("t2a-standard-4", architecture=arch), OsDistribution.COS) for arch in ("amd64", "arm64")
    )
    assert amd - arm == pytest.approx(0.0029 * 16384 * MIB, abs=1024)


@pytest.mark.parametrize(("mib", "buffer"), [(1024, 64), (8192, 0.06 * 8192), (65536, 1024)])
def test_encrypted_memory_needs_a_larger_buffer_within_bounds(mib, buffer) -> None:
    plain, encrypted = (memory_seen(a_type(mib=mib), OsDistribution.COS, encrypted=each) for each in (False, True))
    assert plain - encrypted == pytest.approx(buffer * MIB, abs=1024)


def test_the_margin_of_measured_families_ends() -> None:
    sold = 1024 * 1024
    seen = memory_seen(a_type("n2-highmem-128", mib=sold), OsDistribution.COS)
    assert sold * MIB - seen == (sold / 64 + 16 + 64 + 248 + 200) * MIB


def test_a_machine_without_room_for_the_kernel_sees_nothing() -> None:
    assert memory_seen(a_type(mib=16), OsDistribution.COS) == 0
