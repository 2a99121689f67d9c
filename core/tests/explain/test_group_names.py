"""Names of groups as people say them."""

from nodewright.explain.group_names import group_meant

IDS = [
    "https://a/zones/a/instanceGroups/web",
    "https://a/zones/b/instanceGroups/web",
    "https://a/zones/a/instanceGroups/db",
    "db-2",
]


def test_the_whole_id_is_the_group() -> None:
    assert group_meant(IDS[0], IDS) == IDS[0]
    assert group_meant("db-2", IDS) == "db-2"


def test_the_last_part_of_one_id_is_the_group() -> None:
    assert group_meant("db", IDS) == IDS[2]
    assert group_meant("zones/b/instanceGroups/web", IDS) == IDS[1]


def test_what_several_ids_end_in_names_none_of_them() -> None:
    assert group_meant("web", IDS) is None
    assert group_meant("2", IDS) is None
