"""Custom machine types."""

import pytest
from nodewright_gce.machine_types.custom import is_custom, parse_custom


@pytest.mark.parametrize(
    ("name", "vcpus", "mib", "family"),
    [
        ("custom-2-6656", 2, 6656, "n1"),
        ("custom-1-7680-ext", 1, 7680, "n1"),
        ("n2-custom-4-10240", 4, 10240, "n2"),
        ("n2d-custom-8-131072-ext", 8, 131072, "n2d"),
        ("n4-custom-6-12288", 6, 12288, "n4"),
        ("e2-custom-4-8192", 4, 8192, "e2"),
    ],
)
def test_the_name_says_everything(name, vcpus, mib, family) -> None:
    info = parse_custom(name)
    assert (info.vcpus, info.memory_mib, info.family, info.shared_core) == (1000 * vcpus, mib, family, False)


@pytest.mark.scenario(32)
@pytest.mark.parametrize(("size", "mib"), [("micro", 1024), ("small", 4096), ("medium", 4096)])
def test_a_custom_type_of_e2_that_shares_a_core_shows_two_vcpus(size, mib) -> None:
    info = parse_custom(f"e2-custom-{size}-{mib}")
    assert (info.vcpus, info.memory_mib, info.shared_core) == (2000, mib, True)


def test_a_custom_type_has_the_architecture_of_its_family() -> None:
    assert parse_custom("n4a-custom-4-8192").architecture == "arm64"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("custom-8", "write FAMILY-custom-VCPUS-MIB"),
        ("n2-custom-4-10240-extended", "write FAMILY-custom-VCPUS-MIB"),
        ("custom-3-6656", "1 vCPU, or an even number"),
        ("custom-0-6656", "no number of vCPUs"),
        ("n2-custom-small-4096", "no number of vCPUs"),
        ("custom-2-6600", "multiples of 256 MiB"),
        ("e2-custom-2-8192-ext", "no extended memory"),
        ("e2-custom-34-34816", "at most 32"),
        ("e2-custom-4-1024", "512 to 8192 MiB for each vCPU"),
        ("e2-custom-2-32768", "512 to 8192 MiB for each vCPU"),
    ],
)
def test_a_type_that_can_not_exist_is_refused_in_words(name, why) -> None:
    with pytest.raises(ValueError, match=why) as refusal:
        parse_custom(name)
    assert name in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "custom"), [("custom-2-6656", True), ("n2-custom-2-2048", True), ("n2-standard-2", False)]
)
def test_custom_types_are_told_by_their_names(name, custom) -> None:
    assert is_custom(name) is custom
