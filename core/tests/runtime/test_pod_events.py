"""Each pod is told of, as there is room: the newest of each, those first that nobody heard of."""

from datetime import timedelta

import pytest
from nodewright.runtime.reporting.pod_events import PodEvents
from nodewright.testing.builders import a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world


class Events:
    """Takes as many as there is room for, which the test makes."""

    def __init__(self):
        self.room = 100
        self.told = []

    def on_pod(self, key, uid, reason, message, *, warning=False):
        assert self.room > 0
        self.room -= 1
        self.told.append((key.removeprefix("default/"), uid, reason, message, warning))
        return True

    def names(self):
        """The pods that were told since the last time."""
        told, self.told = self.told, []
        return [name for name, *_ in told]


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def writer(events):
    return PodEvents(events)


def why(key):
    return f"why {key}"


def cluster_of(*pods):
    return a_world(pods=pods).cluster


def pods_of(owner, count):
    return [a_pod(f"{owner}-{number}", owner=f"ReplicaSet/{owner}") for number in range(count)]


def tell(writer, pods, *, after=0):
    writer.write([pod.metadata.key for pod in pods], why, cluster_of(*pods), EPOCH + timedelta(seconds=after))


def test_a_pod_that_waits_in_vain_is_told_why_once_in_five_minutes(writer, events) -> None:
    pods = [a_pod("web")]
    for after in (0, 10, 299, 300):
        tell(writer, pods, after=after)
    told = ("web", "uid-of-default/web", "NotTriggerScaleUp", "why default/web", False)
    assert events.told == [told, told]


def test_one_of_each_controller_comes_first_and_all_have_their_turn(writer, events) -> None:
    pods = [*pods_of("many", 6), *pods_of("few", 2)]
    events.room = 4
    tell(writer, pods)
    assert events.names() == ["many-0", "few-0", "many-1", "few-1"]
    events.room = 3
    tell(writer, pods, after=10)
    assert events.names() == ["many-2", "many-3", "many-4"]
    events.room = 3
    # The last one comes before those whose turn has come again.
    tell(writer, pods, after=300)
    assert events.names() == ["many-5", "many-0", "few-0"]


def test_without_room_nobody_is_told_and_later_the_newest_is(writer, events) -> None:
    events.room = 0
    tell(writer, [a_pod("web")])
    events.room = 1
    writer.write(["default/web"], lambda key: "by now", cluster_of(a_pod("web")), EPOCH)
    assert [message for *_, message, _ in events.told] == ["by now"]


def test_what_the_writer_keeps_back_is_told_the_next_time(writer, events) -> None:
    events.on_pod = lambda *_: False
    tell(writer, [a_pod("web")])
    del events.on_pod
    tell(writer, [a_pod("web")], after=1)
    assert events.names() == ["web"]


def test_what_happened_comes_before_what_did_not_and_is_the_latest(writer, events) -> None:
    pods = [a_pod("helped"), a_pod("waits")]
    events.room = 1
    writer.happened("default/helped", "uid-of-default/helped", "TriggeredScaleUp", "first")
    writer.happened("default/helped", "uid-of-default/helped", "ScaleDownFailed", "second", warning=True)
    tell(writer, pods)
    assert events.told == [("helped", "uid-of-default/helped", "ScaleDownFailed", "second", True)]


def test_of_a_pod_that_is_gone_or_another_by_now_nothing_is_told(writer, events) -> None:
    events.room = 0
    for name, uid in (("gone", "uid-of-default/gone"), ("web", "of-one-before")):
        writer.happened(f"default/{name}", uid, "TriggeredScaleUp", "message")
    tell(writer, [])
    events.room = 10
    writer.write(["default/gone"], why, cluster_of(a_pod("web")), EPOCH)
    assert events.told == []


def test_ten_thousand_pods_are_told_of_in_the_end(writer, events) -> None:
    pods = [pod for number in range(100) for pod in pods_of(f"web-{number}", 100)]
    cluster = cluster_of(*pods)
    keys = [pod.metadata.key for pod in pods]
    told = set()
    for loop in range(50):
        events.room = 200
        writer.write(keys, why, cluster, EPOCH + timedelta(seconds=5 * loop))
        told.update(events.names())
    assert len(told) == 10_000
