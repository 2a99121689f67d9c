"""What was learnt of a group's nodes is told by log and event."""

import logging

from nodewright.api import Decision, TemplateDifference
from nodewright.config.model import Settings
from nodewright.decision.memory import Memory
from nodewright.runtime.reporting.decision_events import DecisionEvents
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

MEMORY = TemplateDifference(group="spot", kind="capacity", name="memory", promised=4 * 1024**3, real=16 * 1024**3)
LINE = (
    "nodes of spot are not as its provider's template says, from now on they decide: capacity memory is 16Gi, not 4Gi"
)


class Events:
    room = 0

    def __init__(self):
        self.written = []

    def on_status(self, reason, message, *, warning=False):
        self.written.append((reason, message, warning))


def test_what_was_learnt_is_an_event_on_the_status_and_a_line_in_the_log(caplog) -> None:
    events = Events()
    with caplog.at_level(logging.INFO):
        DecisionEvents(events).acting(Decision(at=EPOCH, learnt=(MEMORY,)), Memory(), a_world(), Settings())
    assert events.written == [("TemplateDiffers", LINE, True)]
    assert caplog.messages == [LINE]
