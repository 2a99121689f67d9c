"""Scenes made by hand, and stories on the stepped clock."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from nodewright.testing import SteppedClock
from nodewright_fake.demo.scene import GroupState, GroupView, NodeState, NodeView, Scene
from nodewright_fake.demo.stage import Stage
from nodewright_fake.scenario import parse_scenario

NOON = datetime(2030, 1, 7, 12, tzinfo=UTC)


class Make:
    """Builders: everything has a default that works, so that a test names only what it is about."""

    def node(self, name, state=NodeState.READY, **fields):
        return NodeView(**{"name": name, "group": name.rpartition("-")[0], "state": state, **fields})

    def nodes(self, group, count, **fields):
        return tuple(self.node(f"{group}-{number}", **fields) for number in range(1, count + 1))

    def group(self, name, **fields):
        defaults = {
            "zone": "eu-a",
            "instance_type": "m5.large",
            "spot": False,
            "hourly_price": 0.107,
            "nodes": 0,
            "wanted": 0,
            "minimum": 0,
            "maximum": 10,
            "state": GroupState.STEADY,
        }
        return GroupView(name=name, **{**defaults, **fields})

    def scene(self, **fields):
        defaults = {
            "title": "a test",
            "note": "Nothing happens.",
            "at": NOON,
            "elapsed": timedelta(minutes=5),
            "length": timedelta(minutes=20),
            "speed": 20.0,
            "hourly_cost": 1.5,
            "cost": 0.25,
            "groups": (self.group("system", nodes=2, wanted=2, minimum=2, maximum=2),),
            "nodes": self.nodes("system", 2),
            "running": 6,
            "waiting": (),
            "log": (),
        }
        return Scene(**{**defaults, **fields})


@pytest.fixture
def make():
    return Make()


class Play:
    """A stage, moved on by hand; with an autoscaler if there is one."""

    def __init__(self, stage, autoscaler=None):
        self.stage = stage
        self.world = stage.world
        self.autoscaler = autoscaler

    def go_on(self, seconds, *, every=10):
        """Let *seconds* pass, with a loop of the autoscaler *every* so often; yields the scene after each."""
        for _ in range(0, seconds, every):
            self.world.advance(every)
            if self.autoscaler is not None:
                self.autoscaler.wait_for(self.world.sync())
                self.autoscaler.step()
                self.world.settle()
            yield self.stage.scene()


@pytest.fixture(scope="module")
def begin():
    """Begins a play from a scenario in YAML; it ends with the module."""
    with ExitStack() as stack:

        def start(scenario, *, autoscaler=True, **options):
            parsed = parse_scenario(scenario)
            stage = stack.enter_context(Stage(parsed, SteppedClock(parsed.clock.start or NOON), **options))
            return Play(stage, stack.enter_context(stage.autoscaler()) if autoscaler else None)

        yield start
