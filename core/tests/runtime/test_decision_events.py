"""What people are told of decisions and of how they went, and how often."""

import logging

import pytest
from nodewright.api import Decision, Grow, Notice, OptionVerdict, Outcome, Reason, Verdict
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.objects import ConfigMap, ObjectMeta
from nodewright.runtime.reporting.decision_events import DecisionEvents
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_pod
from nodewright.testing.worlds import a_world

WRONG = Notice(reason="PriorityConfigMapInvalid", message="no key", config_map="ranks")


class Events:
    """Keeps what it is told to write."""

    namespace = "kube-system"
    room = 100

    def __init__(self):
        self.written = []

    def on_pod(self, key, uid, reason, message, *, warning=False):
        self.written.append((key, uid, reason, message))
        return True

    def on_config_map(self, name, reason, message, *, uid, warning):
        self.written.append((name, uid, reason, message, warning))

    def on_status(self, reason, message, *, warning=False):
        self.written.append(("status", "", reason, message, warning))


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def announce(events):
    """Announces decisions with notices; *version* is that of the ConfigMap."""
    reports = DecisionEvents(events)

    def tell(*notices, version=""):
        cluster = Cluster()
        if version:
            meta = ObjectMeta(name="ranks", namespace="kube-system", uid="its-uid", resource_version=version)
            cluster.config_maps["kube-system/ranks"] = ConfigMap(metadata=meta)
        reports.acting(Decision(at=EPOCH, notices=notices), Memory(), World(cluster=cluster), Settings())

    return tell


def test_a_warning_about_a_config_map_is_an_event_on_it(announce, events) -> None:
    announce(WRONG, version="7")
    assert events.written == [("ranks", "its-uid", "PriorityConfigMapInvalid", "no key", True)]


def test_it_is_told_again_only_when_the_config_map_changes(announce, events) -> None:
    for version in ("7", "7", "8", "8"):
        announce(WRONG, version=version)
    assert len(events.written) == 2
    announce(version="9")
    announce(WRONG, version="10")
    announce(WRONG)
    announce(WRONG)
    assert len(events.written) == 4


def test_a_warning_about_no_config_map_is_an_event_on_the_status_as_long_as_it_holds_and_logged_once(
    announce, events, caplog
) -> None:
    for _ in range(3):
        announce(Notice(reason="NoPrices", message="no group has a price"))
    assert events.written == [("status", "", "NoPrices", "no group has a price", True)] * 3
    assert caplog.messages == ["NoPrices: no group has a price"]


def test_what_is_no_warning_is_logged_and_no_event(announce, events, caplog) -> None:
    with caplog.at_level(logging.INFO):
        announce(Notice(reason="PlanProven", message="the cheapest there is", warning=False))
    assert events.written == []
    assert caplog.messages == ["PlanProven: the cheapest there is"]


class TestGrowth:
    WORLD = a_world(groups=[a_group("a", max_size=5), a_group("b", max_size=3)], pods=[a_pod("one"), a_pod("two")])
    ONE, TWO = "default/one", "default/two"

    @pytest.fixture
    def reports(self, events):
        return DecisionEvents(events)

    def begin(self, reports, **pods):
        reports.acting(
            Decision(
                at=EPOCH,
                grow=tuple(
                    Grow(group=group, count=2, from_size=1, pods=keys, verdict=Verdict(reason=Reason.CHOSEN))
                    for group, keys in pods.items()
                ),
            ),
            Memory(),
            self.WORLD,
            Settings(),
        )

    def end(self, reports, *groups, error=""):
        reports.acted(
            tuple(Outcome(at=EPOCH, action="grow", target=group, ok=not error, error=error) for group in groups)
        )

    def test_pods_are_told_once_the_cloud_has_accepted(self, reports, events) -> None:
        self.begin(reports, a=(self.ONE,))
        begun = ("status", "", "ScaledUpGroup", "Scale-up: setting group a size to 3 instead of 1 (max: 5)", False)
        assert events.written == [begun]
        events.written.clear()
        self.end(reports, "a")
        uid = self.WORLD.cluster.pods[self.ONE].uid
        assert events.written == [
            ("status", "", "ScaledUpGroup", "Scale-up: group a size set to 3 instead of 1 (max: 5)", False),
            (self.ONE, uid, "TriggeredScaleUp", "pod triggered scale-up: [{a 1->3 (max: 5)}]"),
        ]

    def test_pods_of_growth_that_failed_are_told_nothing(self, reports, events) -> None:
        self.begin(reports, a=(self.ONE,))
        events.written.clear()
        self.end(reports, "a", error="no more")
        assert events.written == [("status", "", "FailedToScaleUpGroup", "Scale-up failed for group a: no more", True)]

    def test_a_pod_that_several_groups_grow_for_is_told_of_all(self, reports, events) -> None:
        self.begin(reports, a=(self.ONE, self.TWO), b=(self.TWO,))
        self.end(reports, "a", "b")
        assert [written[3] for written in events.written if written[2] == "TriggeredScaleUp"] == [
            "pod triggered scale-up: [{a 1->3 (max: 5)}]",
            "pod triggered scale-up: [{a 1->3 (max: 5)} {b 1->3 (max: 3)}]",
        ]

    def told(self, events, **fields):
        DecisionEvents(events).acting(Decision(at=EPOCH, **fields), Memory(), self.WORLD, Settings())
        return [written[3] for written in events.written if written[2] == "NotTriggerScaleUp"]

    def test_a_pod_that_no_group_can_help_now_is_told_what_stands_in_the_way_of_each(self, events) -> None:
        closed = {
            "a": Verdict(reason=Reason.GROUP_AT_MAX, detail="5 of 5"),
            "b": Verdict(reason=Reason.NO_HELP),
        }
        rejections = {self.ONE: {"b": Verdict(reason=Reason.RESOURCES, detail="Insufficient cpu, Too many pods")}}
        waiting = {self.ONE: Verdict(reason=Reason.WAITING)}
        assert self.told(events, pods=waiting, groups=closed, rejections=rejections) == [
            "pod didn't trigger scale-up: 1 Insufficient cpu, 1 Too many pods, 1 max node group size reached"
        ]

    def test_a_pod_whose_group_was_not_chosen_this_time_is_told_nothing(self, events) -> None:
        option = OptionVerdict(group="a", nodes=1, pods=1, verdict=Verdict(reason=Reason.NOT_CHOSEN))
        assert self.told(events, pods={self.ONE: Verdict(reason=Reason.WAITING)}, options=(option,)) == []
