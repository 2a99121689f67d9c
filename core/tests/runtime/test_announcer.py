"""What people are told of a decision's notices, and how often."""

import logging

import pytest
from nodewright.api import Decision, Notice
from nodewright.cluster import Cluster
from nodewright.objects import ConfigMap, ObjectMeta
from nodewright.runtime.announcer import Announcer
from nodewright.testing import EPOCH
from nodewright.world import World

WRONG = Notice(reason="PriorityConfigMapInvalid", message="no key", config_map="ranks")


class Events:
    """Keeps what it is told to write."""

    namespace = "kube-system"

    def __init__(self):
        self.written = []

    def on_config_map(self, name, reason, message, *, uid, warning):
        self.written.append((name, uid, reason, message, warning))

    def on_status(self, reason, message, *, warning):
        self.written.append(("status", "", reason, message, warning))


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def announce(events):
    """Announces decisions with notices; *version* is that of the ConfigMap."""
    announcer = Announcer(events)

    def tell(*notices, version=""):
        cluster = Cluster()
        if version:
            meta = ObjectMeta(name="ranks", namespace="kube-system", uid="its-uid", resource_version=version)
            cluster.config_maps["kube-system/ranks"] = ConfigMap(metadata=meta)
        announcer.announce(Decision(at=EPOCH, notices=notices), World(cluster=cluster))

    return tell


def test_a_warning_about_a_config_map_is_an_event_on_it(announce, events):
    announce(WRONG, version="7")
    assert events.written == [("ranks", "its-uid", "PriorityConfigMapInvalid", "no key", True)]


def test_it_is_told_again_only_when_the_config_map_changes(announce, events):
    for version in ("7", "7", "8", "8"):
        announce(WRONG, version=version)
    assert len(events.written) == 2
    announce(version="9")
    announce(WRONG, version="10")
    announce(WRONG)
    announce(WRONG)
    assert len(events.written) == 4


def test_a_warning_about_no_config_map_is_an_event_on_the_status(announce, events):
    for _ in range(3):
        announce(Notice(reason="NoPrices", message="no group has a price"))
    assert events.written == [("status", "", "NoPrices", "no group has a price", True)]


def test_what_is_no_warning_is_logged_and_no_event(announce, events, caplog):
    with caplog.at_level(logging.INFO):
        announce(Notice(reason="PlanProven", message="the cheapest there is", warning=False))
    assert events.written == []
    assert caplog.messages == ["PlanProven: the cheapest there is"]
