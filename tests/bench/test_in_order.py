"""The reference for removable nodes moves pods as Cluster Autoscaler does, and no pod into room that is not there."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.in_order import Machine, all_fit_without, removable


def machines(**loads):
    """Machines of 10 cpu with pods of these sizes."""
    made = []
    for name, sizes in loads.items():
        machine = Machine(name=name, free=(10, 100, 10))
        for size in sizes:
            machine.put((size, 1, 1))
        made.append(machine)
    return made


def test_pods_that_came_move_on_when_their_node_goes_too() -> None:
    there = machines(a=[1], b=[2], c=[3])
    assert removable(there, ["a", "b"]) == ["a", "b"]
    assert sorted(size for size, _, _ in there[2].pods) == [1, 2, 3]


def test_a_node_with_a_pod_that_fits_nowhere_stays_and_nothing_has_moved() -> None:
    there = machines(a=[1, 8], b=[5], c=[5])
    assert removable(there, ["a"]) == []
    assert [len(machine.pods) for machine in there] == [2, 1, 1]


def test_the_search_goes_on_behind_the_node_that_took_the_last_pod() -> None:
    there = machines(a=[1, 1], b=[5], c=[5])
    assert removable(there, ["a"]) == ["a"]
    assert [len(machine.pods) for machine in there[1:]] == [2, 2]


def test_empty_nodes_go_first_and_take_no_pods_then() -> None:
    there = machines(a=[6], b=[], c=[7])
    assert removable(there, ["a", "b"]) == ["b"]


def test_a_plan_needs_room_of_every_kind_on_the_nodes_that_stay() -> None:
    assert all_fit_without(machines(a=[4, 4], b=[5], c=[5]), {"a"})
    assert not all_fit_without(machines(a=[4, 4], b=[5], c=[5]), {"a", "b"})
