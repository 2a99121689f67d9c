"""A placement is a mapping like any other."""

from nodewright.api.placement import Placement

PLACED = Placement(("a", "b", "c", "left"), (2, 0, 2), ("n0", "n1", "n2"))


def test_it_tells_the_node_of_each_pod_that_was_placed() -> None:
    assert dict(PLACED) == {"a": "n2", "b": "n0", "c": "n2"}
    assert "left" not in PLACED


def test_going_through_it_is_the_same_as_asking_for_each() -> None:
    assert list(PLACED.items()) == [(key, PLACED[key]) for key in PLACED]
    assert list(PLACED.values()) == [PLACED[key] for key in PLACED]
    assert ("b", "n0") in PLACED.items()
    assert "n1" not in PLACED.values()
