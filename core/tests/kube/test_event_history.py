"""Events are filtered as Cluster Autoscaler's are."""

from datetime import timedelta

import pytest
from nodewright.kube.events import EventHistory, InvolvedObject
from nodewright.testing.clock import EPOCH

POD = InvolvedObject(kind="Pod", name="web", namespace="default", uid="1")
STATUS = InvolvedObject(kind="ConfigMap", name="cluster-autoscaler-status", namespace="kube-system")


@pytest.fixture
def history():
    return EventHistory()


def after(seconds):
    return EPOCH + timedelta(seconds=seconds)


def test_one_for_each_object_and_reason_and_another_in_five_minutes(history) -> None:
    told = [
        history.note(POD, "NotTriggerScaleUp", f"message {at}", after(at)) is not None for at in (0, 1, 299, 300, 301)
    ]
    assert told == [True, False, False, True, False]
    assert history.note(POD, "TriggeredScaleUp", "message", after(301))
    assert history.note(
        InvolvedObject(kind="Pod", name="web", namespace="default", uid="2"), "NotTriggerScaleUp", "", after(301)
    )


def test_of_the_status_one_for_each_message(history) -> None:
    for expected in (True, False):
        for number in range(3):
            series = history.note(STATUS, "ScaledUpGroup", f"message {number}", EPOCH, by_message=True)
            assert (series is not None) is expected


def test_what_is_kept_back_is_counted(history) -> None:
    for second in range(30):
        history.note(POD, "Reason", "message", after(second))
    series = history.note(POD, "Reason", "message", after(300))
    assert (series.count, series.first) == (31, EPOCH)
    other = history.note(POD, "Reason", "another message", after(600))
    assert (other.count, other.name == series.name) == (1, False)


def test_the_least_recently_used_objects_are_forgotten_first(history) -> None:
    history.note(POD, "Reason", "message", EPOCH)
    for number in range(8191):
        history.note(InvolvedObject(kind="Pod", name=f"p{number}"), "Reason", "message", EPOCH)
        assert history.note(POD, "Reason", "message", EPOCH) is None
    assert history.note(InvolvedObject(kind="Pod", name="one-too-many"), "Reason", "message", EPOCH)
    assert history.note(POD, "Reason", "message", EPOCH) is None
    assert history.note(InvolvedObject(kind="Pod", name="p0"), "Reason", "message", EPOCH)


def test_duplicates_are_25_of_each_object_and_then_one_in_five_minutes() -> None:
    history = EventHistory(duplicates=True)
    told = [history.note(POD, f"Reason{number % 2}", "message", EPOCH) is not None for number in range(30)]
    assert told == [True] * 25 + [False] * 5
    assert history.note(POD, "Reason", "message", after(300))
    assert not history.note(POD, "Reason", "message", after(301))


def test_a_clock_that_was_set_back_blocks_no_event(history) -> None:
    history.note(POD, "Reason", "message", after(86_400))
    assert history.note(POD, "Reason", "message", EPOCH)
    assert not history.note(POD, "Reason", "message", after(1))
