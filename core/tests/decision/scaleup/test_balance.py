"""How growth is spread over similar groups."""

from nodewright.decision.scaleup.balancing import spread
from nodewright.testing.builders import a_group


def groups(*sizes, max_size=10):
    return [a_group(name, size=size, max_size=max_size) for name, size in zip("abcdef", sizes, strict=False)]


def anything(facts):
    return True


def test_each_node_goes_to_the_smallest_group() -> None:
    assert spread(6, groups(1, 3, 5), anything) == {"a": 4, "b": 2}
    assert spread(12, groups(1, 3, 5), anything) == {"a": 6, "b": 4, "c": 2}


def test_of_equal_groups_the_first_ones_get_the_remainder() -> None:
    assert spread(5, groups(2, 2, 2), anything) == {"a": 2, "b": 2, "c": 1}


def test_a_group_that_is_full_leaves_its_share_to_the_others() -> None:
    full, wide = a_group("full", size=2, max_size=3), a_group("wide", size=4, max_size=20)
    assert spread(9, [full, wide], anything) == {"full": 1, "wide": 8}


def test_what_no_group_may_take_is_left_over() -> None:
    assert spread(9, groups(8, 9), anything) == {"a": 2, "b": 1}
    assert spread(9, groups(0, 0), lambda facts: False) == {}


def test_a_share_that_a_limit_cuts_goes_to_the_siblings() -> None:
    left = {"a": 1, "b": 10}

    def may_grow(facts):
        left[facts.id] -= 1
        return left[facts.id] >= 0

    assert spread(6, groups(0, 0), may_grow) == {"a": 1, "b": 5}
