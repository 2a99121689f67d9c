"""What plugins return is checked before it is used."""

import pytest
from nodewright.api import Option, PodSet
from nodewright.plugins.results import added_to, instance_of, made_from, optional, part_of, sequence_of, words
from nodewright.testing import a_pod, an_option, pods_like


def test_a_list_or_tuple_of_the_right_things_passes() -> None:
    assert sequence_of(int)([1, 2]) == (1, 2)
    assert sequence_of(int)(()) == ()


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (None, "returned None instead of a sequence of int"),
        ("12", "returned a str instead of a sequence of int"),
        ({1, 2}, "returned a set instead of a sequence of int"),
        ((number for number in (1, 2)), "returned a generator instead of a sequence of int"),
        ([1, None], "returned a sequence with None in it instead of int"),
    ],
)
def test_anything_else_is_told_by_its_type(result, problem) -> None:
    with pytest.raises(TypeError) as caught:
        sequence_of(int)(result)
    assert str(caught.value) == problem


def test_none_passes_only_where_it_is_an_answer() -> None:
    assert optional(instance_of(int))(None) is None
    with pytest.raises(TypeError, match=r"^returned None instead of int$"):
        instance_of(int)(None)


def test_a_reason_must_say_something() -> None:
    assert words("maintenance") == "maintenance"
    with pytest.raises(TypeError, match=r"^returned empty text instead of a reason or None$"):
        words(" ")
    with pytest.raises(TypeError, match=r"^returned a bool instead of str$"):
        words(False)


def test_a_part_may_leave_out_and_reorder() -> None:
    a, b, c = an_option("a"), an_option("b"), an_option("c")
    assert part_of([a, b, c], Option, lambda option: option.group.id)([c, a]) == (c, a)


def test_a_part_may_not_change_or_repeat_anything() -> None:
    a = an_option("a", nodes=1)
    check = part_of([a], Option, lambda option: option.group.id)
    for result in ([an_option("a", nodes=9)], [a, a]):
        with pytest.raises(TypeError, match=r"^returned a, which is not one of those it was given, or not only once$"):
            check(result)


def test_what_is_made_from_sets_of_pods_may_split_them_but_add_none() -> None:
    pods = pods_like(a_pod("web"), 3)
    check = made_from([pods], PodSet, lambda pods: pods.keys)
    first, rest = PodSet(pod=pods.pod, keys=pods.keys[:1]), PodSet(pod=pods.pod, keys=pods.keys[1:])
    assert check([rest, first]) == (rest, first)
    with pytest.raises(
        TypeError, match=r"^returned default/web-0, which is not one of those it was given, or not only"
    ):
        check([pods, first])


def test_what_is_added_to_sets_of_pods_is_new_each_time() -> None:
    pods = pods_like(a_pod("web"), 3)
    more = pods_like(a_pod("more"), 2)
    check = added_to([pods], PodSet, lambda pods: pods.keys, {"default/gone-0"})
    assert check([more, pods]) == (more, pods)
    assert check([more]) == (more,)
    with pytest.raises(TypeError, match=r"^returned default/web-1 more than once$"):
        check([pods, PodSet(pod=pods.pod, keys=("default/web-1",))])
    with pytest.raises(TypeError, match=r"^returned default/more-0 more than once$"):
        check([more, more])
    with pytest.raises(TypeError, match=r"^returned default/gone-0, which was taken off the list before$"):
        check([pods, pods_like(a_pod("gone"), 1)])
