"""How many volumes a machine can attach."""

import pytest
from nodewright_gce.machine_types.table import bundled
from nodewright_gce.machine_types.volumes import attach_limit


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("e2-medium", 15),
        ("e2-standard-2", 127),
        ("n2-standard-8", 127),
        ("c3-standard-4", 127),
        ("c4-standard-2", 7),
        ("c4-standard-24", 31),
        ("c4-standard-96", 127),
        ("c4a-standard-8", 15),
        ("c4d-standard-8", 15),
        ("c4d-standard-384", 127),
        ("n4-standard-8", 15),
        ("n4-standard-16", 31),
        ("n4d-standard-2", 3),
    ],
)
def test_the_limit_is_what_the_driver_reports(name, limit) -> None:
    info = bundled().get(name)
    assert info is not None
    assert attach_limit(info) == limit
