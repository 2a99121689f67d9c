"""The real loop over HTTP against a whole world, both on one stepped clock."""

from collections import deque
from contextlib import ExitStack

import pytest
from nodewright.api import Plugin, hookimpl
from nodewright.testing.clock import SteppedClock
from nodewright.testing.harness import Harness
from nodewright.testing.narrative import describe_actions, describe_failure
from nodewright_fake.cloud.shortage import ShortageMode, Stock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.rights import Rights
from tests.end_to_end.scenarios import a_scenario

CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - fake: {{url: "{url}"}}
{settings}
"""


class Diary(Plugin):
    """Writes down what was decided and what failed; all of it, or the latest so many of each that are *kept*."""

    def __init__(self, clock, kept=None):
        super().__init__(self.Config())
        self.clock = clock
        self.lines = [] if kept is None else deque(maxlen=kept)
        self.decisions = [] if kept is None else deque(maxlen=kept)
        self.outcomes = [] if kept is None else deque(maxlen=kept)
        #: Lines of those that failed because of a group's limits: nobody should have tried.
        self.against_limits = []

    @hookimpl
    def on_decision(self, decision):
        self.decisions.append(decision)
        self.lines += [f"{decision.at:%H:%M:%S} {line}" for line in describe_actions(decision)]

    @hookimpl
    def on_outcome(self, outcome):
        self.outcomes.append(outcome)
        if not outcome.ok:
            self.lines.append(line := f"{outcome.at:%H:%M:%S} {describe_failure(outcome)}")
            if "its maximum is" in line or "its minimum is" in line:
                self.against_limits.append(line)


class Life:
    """A world and an autoscaler in it, moved on together."""

    def __init__(self, world, settings, most_nodes, observers, stack, folder, kept=None, patience=None):
        self.world = world
        self.most_nodes = most_nodes
        self.patience = patience
        self.diary = Diary(world.clock, kept)
        self.observers = {"diary": self.diary, **observers}
        self.config = folder / "nodewright.yaml"
        self.configure(settings)
        self.autoscaler = None
        stack.callback(self.end)
        #: What is looked at after each loop, before the world goes on.
        self.checks = [self.check_limits]
        self.start_again()

    def configure(self, settings):
        """Change the configuration, which is taken up in the next loop."""
        if self.most_nodes:
            settings += f"\nlimits: {{nodes: {{max: {self.most_nodes}}}}}"
        self.config.write_text(self.configuration(settings))

    def configuration(self, settings):
        """The text of the configuration."""
        return CONFIG.format(url=self.world.provider_config["url"], settings=settings)

    def start_again(self, memory=None):
        """Kill the autoscaler, and let another one go on with what it has stored, or with *memory*."""
        self.kill()
        self.autoscaler = Harness(
            self.config,
            kubeconfig=str(self.world.kubeconfig),
            clock=self.world.clock,
            observers=self.observers,
            memory=memory,
            patience=self.patience,
        ).__enter__()

    def kill(self):
        """Let the autoscaler be gone, with nothing in its place."""
        if self.autoscaler is not None:
            self.autoscaler.kill()
        self.autoscaler = None

    def end(self):
        """End the autoscaler in good order."""
        if self.autoscaler is not None:
            self.autoscaler.__exit__(None, None, None)
        self.autoscaler = None

    def go_on(self, seconds, *, every=10):
        """Let *seconds* pass, with one loop of the autoscaler *every* so often; returns the last decision."""
        decision = None
        for _ in range(0, seconds, every):
            self.world.advance(every)
            self.autoscaler.wait_for(self.world.sync(), timeout=60)
            decision = self.autoscaler.step()
            for check in self.checks:
                check()
        self.world.settle()
        return decision

    def check_limits(self):
        """No group is asked for more than its maximum, and nobody has tried; nor all of them for more than allowed."""
        for group in self.world.cloud.groups:
            assert group.settings.min <= group.desired <= group.settings.max
        assert not any("its maximum is" in line for line in self.diary.against_limits)
        assert sum(self.sizes().values()) <= (self.most_nodes or 10**6)

    def until(self, holds, *, within=1800):
        """Go on until *holds*; fails with the diary if it never does."""
        for _ in range(0, within, 10):
            if holds():
                return
            self.go_on(10)
        raise AssertionError("it never came to that:\n" + "\n".join(self.diary.lines))

    @property
    def nodes(self):
        """Names of all nodes."""
        return [node["metadata"]["name"] for node in self.world.store.list("nodes")]

    @property
    def marked(self):
        """Names of the nodes that are marked for deletion, or cordoned."""
        nodes = self.world.store.list("nodes")
        return [
            node["metadata"]["name"]
            for node in nodes
            if "ToBeDeletedByClusterAutoscaler" in _taints(node) or node["spec"].get("unschedulable")
        ]

    @property
    def hinted(self):
        """Names of the nodes with a soft taint."""
        nodes = self.world.store.list("nodes")
        return [node["metadata"]["name"] for node in nodes if "DeletionCandidateOfClusterAutoscaler" in _taints(node)]

    def pods(self, phase=None):
        """All pods of the default namespace (in one phase)."""
        pods = self.world.store.list("pods", "default")
        return [pod for pod in pods if phase in (None, pod["status"]["phase"])]

    def sizes(self):
        """Wanted machines by group, without those of size 0."""
        return {group.settings.name: group.desired for group in self.world.cloud.groups if group.desired}

    def ordered(self, group):
        """How many machines the cloud was ever asked to make for a group."""
        return sum(entry.event == "ordered" and entry.group == group for entry in self.world.cloud.history)

    def story(self):
        """What events on the autoscaler's status tell of growth: reason and message, oldest first."""
        events = self.world.store.list("events", "kube-system")
        events.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
        return [(event["reason"], event["message"]) for event in events if event["reason"].endswith("Group")]

    def told_to_pods(self, reason):
        """What the pods of the default namespace were told for a reason, each message once."""
        events = self.world.store.list("events", "default")
        return {event["message"] for event in events if event["reason"] == reason}

    def run_out(self, pool, mode=ShortageMode.FAIL):
        """Let the cloud have no machines of a capacity pool."""
        self.world.cloud.supply.limit_stock(Stock(pools=pool, available=0, mode=mode))

    def scale(self, deployment, replicas):
        """Change a Deployment."""
        self.world.cluster.scale("default", deployment, replicas)


def _taints(node):
    return [taint["key"] for taint in node["spec"].get("taints") or []]


@pytest.fixture
def begin(tmp_path):
    """Begins the life of a cluster from a scenario and settings in YAML; it ends with the test.

    All groups together have at most so many nodes, if that is not 0: looked at after every loop. Nothing is done that
    the manifests don't allow. Of the diary the last so many entries are kept, or all; the autoscaler waits for answers
    of the API server with so much patience.
    """
    rights = Rights()
    with ExitStack() as stack:

        def start(scenario=None, settings="", most_nodes=0, observers=None, kept=None, patience=None):
            scenario = scenario or a_scenario()
            world = stack.enter_context(World(parse_scenario(scenario), SteppedClock()))
            world.api_server.authorize = rights.authorize
            life = Life(world, settings, most_nodes, observers or {}, stack, tmp_path, kept, patience)
            life.rights = rights
            return life

        yield start
    assert rights.refused == set()
