"""Names of capacity pools."""

import re

import pytest
from nodewright_aws.pools import Lifecycle, Pool, join, split


@pytest.mark.parametrize(
    ("pool", "name"),
    [
        (Pool(zone="eu-west-1a", instance_type="m5.large"), "eu-west-1a/m5.large"),
        (Pool(zone="eu-west-1a", instance_type="m5.large", lifecycle=Lifecycle.SPOT), "eu-west-1a/m5.large/spot"),
    ],
)
def test_a_pool_has_a_name_that_it_is_found_by(pool, name) -> None:
    assert str(pool) == name
    assert Pool.parse(name) == pool


def test_an_annotation_lists_pools() -> None:
    pools = (Pool(zone="a", instance_type="m5.large"), Pool(zone="b", instance_type="m5.large"))
    assert split(join(pools)) == pools
    assert split("") == ()


@pytest.mark.parametrize("name", ["a/m5.large/free", "a/m5.large/spot/spot", "m5.large", "a/", "/m5.large/spot", ""])
def test_anything_else_is_no_pool(name) -> None:
    with pytest.raises(
        ValueError, match=f"^{re.escape(repr(name))} is no capacity pool: write zone/type or zone/type/spot$"
    ):
        Pool.parse(name)
