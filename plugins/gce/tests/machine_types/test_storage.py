"""Ephemeral storage."""

import pytest
from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.machine_types.storage import boot_disk_capacity, gke_ssd_reserved, ssd_capacity

GIB, KIB = 1024**3, 1024


@pytest.mark.scenario(36)
def test_two_local_ssds_lose_what_was_measured_on_container_optimized_os() -> None:
    assert ssd_capacity(2, 375, OsDistribution.COS) == 2 * 375 * GIB - 13725224 * KIB


@pytest.mark.parametrize(("count", "like"), [(5, 8), (9, 16), (15, 16), (17, 24)])
def test_a_number_of_ssds_that_nobody_measured_loses_as_much_as_the_next_larger_one(count, like) -> None:
    lost = count * 375 * GIB - ssd_capacity(count, 375, OsDistribution.COS)
    assert lost == like * 375 * GIB - ssd_capacity(like, 375, OsDistribution.COS)


@pytest.mark.parametrize(
    ("count", "gib", "distribution"),
    [(1, 375, OsDistribution.UBUNTU), (2, 3000, OsDistribution.COS), (32, 375, OsDistribution.COS)],
)
def test_ssds_that_nobody_measured_lose_three_percent(count, gib, distribution) -> None:
    assert ssd_capacity(count, gib, distribution) == pytest.approx(0.97 * count * gib * GIB, abs=KIB)


@pytest.mark.parametrize(("count", "gib"), [(0, 0), (1, 50), (2, 75), (3, 100), (8, 100)])
def test_gke_keeps_more_of_more_ssds_up_to_a_limit(count, gib) -> None:
    assert gke_ssd_reserved(count) == gib * GIB


@pytest.mark.parametrize("distribution", [OsDistribution.COS, OsDistribution.UBUNTU, OsDistribution.OTHER])
def test_a_disk_that_is_smaller_than_its_system_holds_nothing(distribution) -> None:
    assert boot_disk_capacity(0, distribution, "amd64") == 0


def test_container_optimized_os_leaves_less_of_a_disk_on_arm() -> None:
    on_amd, on_arm = (boot_disk_capacity(100, OsDistribution.COS, arch) for arch in ("amd64", "arm64"))
    assert on_amd - on_arm == 64 * 1024**2
