"""What events on nodes tell about why they stay, and how often."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.runtime.reporting.node_events import NodeEvents
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_policy, a_world

BUSY = a_pod("busy", node="n0", cpu="3")
ALONE = a_pod("alone", node="n1", owner="")


class Events:
    """Keeps what it is told to write."""

    def __init__(self):
        self.written = []

    def on_node(self, node, reason, message):
        self.written.append((node.name, reason, message))

    @property
    def heads(self):
        return [(name, reason) for name, reason, _ in self.written]


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def loop(events):
    """Decides about pods on nodes of one group, writes events, and remembers."""
    writer, memory = NodeEvents(events), Memory()

    def run(*pods, minute, nodes=2):
        nonlocal memory
        members = [a_node(f"n{number}", provider_id=f"fake://a-{number}") for number in range(nodes)]
        world = a_world(groups=[a_group("a", size=nodes)], nodes={"a": members}, pods=pods)
        before, now = memory, EPOCH + timedelta(minutes=minute)
        decision, memory, _ = decide(world, before, a_policy(), now)
        # Nothing is carried out.
        memory = replace(memory, leaving=replace(memory.leaving, removals={}))
        writer.write(decision, before, memory, world)

    return run


def test_a_node_that_becomes_unneeded_says_when_it_may_go_and_once(loop, events) -> None:
    for minute in range(3):
        loop(BUSY, minute=minute)
    assert events.written == [
        (
            "n1",
            "ScaleDownUnneeded",
            (
                "node is not needed. It stays for now: not unneeded for long enough "
                "(until 00:10:00, unneeded since 00:00:00). "
                "What it would take: nothing but time: it may go at 00:10:00 if it is not needed before"
            ),
        )
    ]


def test_a_pod_that_keeps_a_node_is_named_with_the_remedy(loop, events) -> None:
    loop(BUSY, ALONE, minute=0)
    assert events.written == [
        (
            "n1",
            "ScaleDownBlocked",
            (
                "node stays: a pod must not be moved (default/alone: NotReplicated). "
                "What it would take: give default/alone a controller, "
                'or the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "true"; '
                "for controllers of any kind, turn scaleDown.skipCustomControllerPods off"
            ),
        )
    ]


def test_looking_again_at_a_blocked_node_is_no_news(loop, events) -> None:
    for minute in range(90):
        loop(BUSY, ALONE, minute=minute)
    assert len(events.written) == 1


def test_a_node_that_is_needed_again_says_so(loop, events) -> None:
    loop(BUSY, minute=0)
    loop(BUSY, a_pod("new", node="n1", cpu="3"), minute=1)
    name, reason, message = events.written[-1]
    assert (name, reason) == ("n1", "ScaleDownNeededAgain")
    assert message == "node is needed again: its utilization is above the threshold (75% of 50%)"


def test_a_node_in_use_that_was_never_unneeded_has_no_news(loop, events) -> None:
    loop(BUSY, a_pod("other", node="n1", cpu="3"), minute=0)
    assert events.written == []


def test_the_same_is_told_of_a_node_once_in_an_hour(loop, events) -> None:
    for minute in range(0, 62, 2):
        loop(BUSY, minute=minute)
        loop(BUSY, a_pod("new", node="n1", cpu="3"), minute=minute + 1)
    assert events.heads == [("n1", "ScaleDownUnneeded"), ("n1", "ScaleDownNeededAgain")] * 2


def test_few_are_told_in_one_loop_and_the_others_in_the_next_ones(loop, events) -> None:
    for minute in range(4):
        loop(minute=minute, nodes=25)
        assert len(events.written) == min(25, 10 * (minute + 1))
    assert {name for name, _ in events.heads} == {f"n{number}" for number in range(25)}


def test_what_has_changed_again_before_its_turn_is_not_told(loop, events) -> None:
    busy = [a_pod(f"busy-{number}", node=f"n{number}", cpu="3") for number in range(25)]
    loop(minute=0, nodes=25)
    for minute in range(1, 4):
        loop(*busy, minute=minute, nodes=25)
    assert sorted(events.heads) == sorted(
        (name, reason) for name, _ in events.heads[:10] for reason in ("ScaleDownUnneeded", "ScaleDownNeededAgain")
    )


def test_a_node_that_begins_to_go_has_the_event_of_that_alone(loop, events) -> None:
    loop(BUSY, minute=0)
    events.written.clear()
    loop(BUSY, minute=11)
    assert events.written == []
