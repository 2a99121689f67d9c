"""How unneeded nodes are found, loop after loop: which comes first, and which room counts."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from nodewright.api import Instance, InstanceState, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def a_policy_with(**scale_down):
    return a_policy(Settings.model_validate({"scaleDown": scale_down}))


class Course:
    """A cluster of one group, decided about once a minute."""

    def __init__(self, policy, nodes, pods):
        self.policy = policy
        self.nodes = {node.name: node for node in nodes}
        self.pods = {pod.metadata.name: pod for pod in pods}
        self.memory = Memory()
        self.now = NOW

    def step(self):
        """Decide, and let a minute pass."""
        machines = [Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in self.nodes.values()]
        group = a_group("g", size=len(machines), max_size=20, instances=machines)
        world = a_world(groups=[group], nodes={"g": self.nodes.values()}, pods=self.pods.values())
        decision, self.memory, _ = decide(world, self.memory, self.policy, self.now)
        self.now += MINUTE
        return decision

    def reasons(self, decision):
        return {name: verdict.reason for name, verdict in decision.nodes.items()}

    def put(self, *pods):
        """Let pods come, or others in their place."""
        self.pods |= {pod.metadata.name: pod for pod in pods}

    def lose(self, node):
        """Let a node go."""
        del self.nodes[node]


def drained(decision):
    return [drain.node for drain in decision.drain]


def little_used(name):
    """A node of one pod, which runs only where nodes take pods of that name."""
    return (
        a_node(name, provider_id=f"fake://{name}"),
        a_pod(f"of-{name}", node=name, cpu="1", node_selector={f"takes-{name}": "yes"}),
    )


def well_used(name, *takes):
    """A node that has room for one more pod, if it is of one of those names."""
    labels = {f"takes-{each}": "yes" for each in takes}
    return a_node(name, labels=labels, provider_id=f"fake://{name}"), a_pod(f"busy-{name}", node=name, cpu="3")


def a_b_c_x_y(*more):
    """Pods of A and B fit on X, pods of C fit on Y."""
    pairs = [little_used("a"), little_used("b"), little_used("c"), well_used("x", "a", "b"), well_used("y", "c"), *more]
    nodes, pods = zip(*pairs, strict=True)
    return Course(a_policy_with(unremovableRecheck="0s"), nodes, pods)


def moved(pod, node):
    return a_pod(f"{pod}-again", node=node, cpu="1")


def test_a_node_that_counts_on_other_room_goes_right_after_the_first_and_one_that_shares_it_does_not() -> None:
    course = a_b_c_x_y()
    for _ in range(11):
        assert drained(course.step()) == []
    first = course.step()
    assert drained(first) == ["a"]
    assert course.reasons(first)["b"] is Reason.NO_PLACE
    course.lose("a")
    course.put(moved("of-a", "x"))
    second = course.step()
    assert drained(second) == ["c"]
    assert str(second.nodes["b"]) == "a pod fits nowhere else (default/of-b)"
    course.lose("c")
    course.put(moved("of-c", "y"))
    for _ in range(20):
        assert drained(course.step()) == []


def test_the_time_of_a_node_whose_pods_have_lost_their_place_starts_anew_once_they_have_one_again() -> None:
    course = a_b_c_x_y(well_used("z", "b"))
    for _ in range(11):
        waiting = course.step()
    assert {name for name, reason in course.reasons(waiting).items() if reason is Reason.NOT_LONG_ENOUGH} == set("abc")
    assert drained(course.step()) == ["a"]
    course.lose("a")
    course.put(moved("of-a", "x"), a_pod("newcomer", node="z", cpu="1"))
    second = course.step()
    assert drained(second) == ["c"]
    assert course.reasons(second)["b"] is Reason.NO_PLACE
    course.lose("c")
    course.put(moved("of-c", "y"), a_pod("newcomer", node="z", cpu="0"))
    anew = [course.step() for _ in range(12)]
    assert str(anew[0].nodes["b"]) == "not unneeded for long enough (until 01:23:00, unneeded since 01:13:00)"
    assert [drained(decision) for decision in anew] == [[]] * 11 + [["b"]]


def many_little_used(policy, count=12):
    """So many nodes whose pods all fit on a roomy one that is well used."""
    nodes = [a_node(f"n{number:02}", provider_id=f"fake://n{number:02}") for number in range(count)]
    pods = [a_pod(f"of-{node.name}", node=node.name, cpu="100m") for node in nodes]
    roomy = a_node("roomy", cpu="16", provider_id="fake://roomy")
    return Course(policy, [*nodes, roomy], [*pods, a_pod("busy", node="roomy", cpu="10")])


def timed(policy, jumps):
    """*policy* with a stopwatch that jumps each time it is read."""
    seconds = 0.0

    def stopwatch():
        nonlocal seconds
        seconds += next(jumps)
        return seconds

    return replace(policy, stopwatch=stopwatch)


def steadily(jump):
    while True:
        yield jump


def at_random(seed):
    random = Random(seed)
    while True:
        yield random.choice((0.0, 0.1, 1.0, 30.0, 1000.0))


def left_out(course, decision):
    return {name for name, reason in course.reasons(decision).items() if reason is Reason.NOT_EXAMINED}


def test_nodes_that_there_was_no_time_for_say_so_and_come_first_the_next_time() -> None:
    course = many_little_used(timed(a_policy_with(simulationTimeout="3s"), steadily(1.0)))
    loops = [left_out(course, course.step()) for _ in range(3)]
    looked_at = [set(course.nodes) - {"roomy"} - unexamined for unexamined in loops]
    assert [len(names) for names in looked_at] == [4, 4, 4]
    assert set.union(*looked_at) == set(course.nodes) - {"roomy"}


@pytest.mark.parametrize("seed", range(5))
def test_every_node_has_its_turn_however_little_time_there_is(seed) -> None:
    course = many_little_used(timed(a_policy_with(simulationTimeout="20s"), at_random(seed)))
    candidates = set(course.nodes) - {"roomy"}
    last = dict.fromkeys(candidates, 0)
    for number in range(1, 61):
        unexamined = left_out(course, course.step())
        assert unexamined < candidates
        last |= dict.fromkeys(candidates - unexamined, number)
        # At least one has its turn in each loop, and none has it twice before all others had it.
        assert number - min(last.values()) <= len(candidates)


def test_a_node_that_there_was_no_time_for_keeps_its_time() -> None:
    course = many_little_used(a_policy_with(simulationTimeout="3s"))
    course.step()
    since = course.memory.unneeded.since
    course.policy = timed(course.policy, steadily(100.0))
    for _ in range(5):
        assert len(left_out(course, course.step())) == 11
        assert course.memory.unneeded.since == since


def test_a_node_that_there_was_no_time_for_does_not_begin_to_go() -> None:
    course = many_little_used(a_policy_with(simulationTimeout="3s"))
    course.step()
    course.policy = timed(course.policy, steadily(100.0))
    course.now += 20 * MINUTE
    decision = course.step()
    assert set(drained(decision)).isdisjoint(left_out(course, decision))
    assert len(drained(decision)) == 1


def test_with_time_enough_all_are_looked_at_again() -> None:
    course = many_little_used(timed(a_policy_with(simulationTimeout="3s"), steadily(1.0)))
    assert left_out(course, course.step())
    course.policy = a_policy_with()
    assert left_out(course, course.step()) == set()
    assert course.memory.unneeded.unexamined == ()


def test_pods_are_moved_to_where_they_were_moved_the_last_time() -> None:
    nodes = [a_node(name, provider_id=f"fake://{name}") for name in ("a", "x", "y")]
    pods = [a_pod("of-a", node="a", cpu="500m"), a_pod("on-x", node="x", cpu="3"), a_pod("on-y", node="y", cpu="2500m")]
    course = Course(a_policy_with(), nodes, pods)
    course.step()
    assert course.memory.unneeded.hints == {"a": (("x", 1),)}
    # Now the other one is fuller.
    course.put(a_pod("more-on-y", node="y", cpu="900m"))
    course.step()
    assert course.memory.unneeded.hints == {"a": (("x", 1),)}
    course.put(a_pod("more-on-x", node="x", cpu="1"))
    course.step()
    assert course.memory.unneeded.hints == {"a": (("y", 1),)}


def test_nothing_changes_from_loop_to_loop_while_nothing_happens() -> None:
    nodes = [a_node(f"n{number}", provider_id=f"fake://n{number}") for number in range(8)]
    pods = [a_pod(f"of-{node.name}", node=node.name, cpu=cpu) for node, cpu in zip(nodes, _MIXED, strict=True)]
    course = Course(a_policy_with(unneededTime="10h", unremovableRecheck="0s"), nodes, pods)
    for one, other in pairwise([course.reasons(course.step()) for _ in range(10)]):
        assert one == other


_MIXED = ("1", "3", "500m", "1900m", "1500m", "3500m", "200m", "2")
