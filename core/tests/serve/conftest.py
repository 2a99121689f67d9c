"""Fixtures for tests of metrics."""

import pytest
from nodewright.config.model import Settings
from nodewright.decision.findings import Findings
from nodewright.decision.health import assess
from nodewright.decision.memory import Memory
from nodewright.serve.metrics import LoopResult, Metrics
from nodewright.testing.clock import SteppedClock
from nodewright.testing.worlds import a_policy, a_world


class Watcher:
    """Feeds loops to metrics, and reads the result."""

    def __init__(self):
        self.metrics = Metrics(SteppedClock())

    def note(self, decision, memory=None, world=None, settings=None, *, before=None):
        """Count a loop with this decision."""
        memory, world, settings = memory or Memory(), world or a_world(), settings or Settings()
        policy = a_policy(settings)
        health = assess(world, memory.health, memory.orders, memory.leaving, memory.unneeded, policy, decision.at)
        findings = Findings.of(health)
        loop = LoopResult(world=world, decision=decision, memory=memory, settings=settings, findings=findings)
        self.metrics.note_loop(loop, before or Memory())

    def shown(self, accept=""):
        """All samples by name and labels."""
        text, _ = self.metrics.exposition(accept)
        lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
        return {key: float(value) for key, value in (line.rsplit(" ", 1) for line in lines)}

    def of(self, name):
        """Samples of one metric by their labels as text, empty if there are none."""
        found = {}
        for key, value in self.shown().items():
            if key == name:
                found[""] = value
            elif key.startswith(name + "{"):
                found[key[len(name) + 1 : -1].replace('"', "")] = value
        return found


@pytest.fixture
def watcher():
    return Watcher()
