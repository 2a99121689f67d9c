"""A configuration that changes while the autoscaler runs."""

import importlib
from datetime import timedelta
from time import monotonic, sleep

import pytest
from nodewright.api import ApiServerError, Plugin, hookimpl
from nodewright.config.watch import ConfigFile
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.runtime import informer, reload, strategies
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing.clock import SteppedClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_scenario

NAME = "cluster-autoscaler-priority-expander"
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [fake: {{url: "http://127.0.0.1:9"}}]
scaleUp: {{expanders: [{expanders}]}}
"""


@pytest.fixture
def server():
    """An API server with the ConfigMap of priorities."""
    store = Store(SteppedClock())
    metadata = {"name": NAME, "namespace": "kube-system"}
    store.create("configmaps", {"metadata": metadata, "data": {"priorities": "{1: [a]}"}})
    with ApiServer(store) as server:
        yield server


def test_a_config_map_is_watched_once_an_expander_in_use_asks_for_it(server, tmp_path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(server.kubeconfig())
    path = tmp_path / "nodewright.yaml"
    path.write_text(CONFIG.format(expanders="least-waste"))
    registry = Registry()
    file = ConfigFile(path, classes=registry)
    settings = file.load().settings
    transport = connect(kubeconfig=str(kubeconfig))
    autoscaler = Autoscaler(settings, transport, SteppedClock(), registry=registry, config_file=file)
    autoscaler.start(timeout=10)
    try:
        autoscaler.run_once()
        assert server.record.count(verb="list", resource="configmaps") == 0
        path.write_text(CONFIG.format(expanders="priority"))
        autoscaler.run_once()
        assert server.record.count(verb="list", resource="configmaps") == 1
        # Known in the very loop in which the change took effect.
        assert autoscaler.cluster.config_maps[f"kube-system/{NAME}"].data == {"priorities": "{1: [a]}"}
    finally:
        autoscaler.close()


@pytest.fixture
def life(server, tmp_path):
    """An autoscaler and its configuration file."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(server.kubeconfig())
    path = tmp_path / "nodewright.yaml"
    path.write_text(CONFIG.format(expanders="least-waste"))
    file = ConfigFile(path, classes=(registry := Registry()))
    settings = file.load().settings
    transport = connect(kubeconfig=str(kubeconfig))
    autoscaler = Autoscaler(settings, transport, SteppedClock(), registry=registry, config_file=file)
    autoscaler.start(timeout=10)
    yield autoscaler, path
    autoscaler.close()


def test_what_a_changed_configuration_looks_at_is_watched_from_then_on(server, life) -> None:
    autoscaler, path = life
    autoscaler.run_once()
    assert server.record.count(verb="list", resource="capacityquotas") == 0
    path.write_text(CONFIG.format(expanders="least-waste") + "limits: {capacityQuotas: true}\n")
    for _ in range(2):
        autoscaler.run_once()
    assert server.record.count(verb="list", resource="capacityquotas") == 1


def test_what_holds_from_start_to_end_of_the_process_is_told_when_it_is_changed(server, life, caplog) -> None:
    autoscaler, path = life
    autoscaler.run_once()
    path.write_text(
        CONFIG.format(expanders="least-waste")
        + "namespace: elsewhere\nkube: {server: 'http://elsewhere', qps: 1}\nmemory: {store: none}\n"
    )
    autoscaler.run_once()
    told = [line.removesuffix(" takes effect at the next start of the process") for line in caplog.messages]
    assert {"the change of namespace", "the change of kube.server", "the change of memory"} <= set(told)
    autoscaler.deliver_events()
    assert server.record.count(verb="create", resource="configmaps") > 0
    assert not server.store.list("configmaps", "elsewhere")


class Changes(Plugin):
    """Counts the configurations that took effect."""

    count = 0

    @hookimpl
    def on_config_changed(self):
        self.count += 1


def test_a_change_waits_for_an_order_that_takes_too_long(tmp_path) -> None:
    with World(parse_scenario(a_scenario()), SteppedClock()) as world:
        path = tmp_path / "nodewright.yaml"
        text = CONFIG.format(expanders="least-waste").replace("http://127.0.0.1:9", world.provider_config["url"])
        path.write_text(text + "loop: {actionTimeout: 50ms}\n")
        file = ConfigFile(path, classes=(registry := Registry()))
        changes = Changes(Changes.Config())
        autoscaler = Autoscaler(
            file.load().settings,
            connect(kubeconfig=str(world.kubeconfig)),
            world.clock,
            registry=registry,
            config_file=file,
            observers={"changes": changes},
        )
        autoscaler.start(timeout=10)
        try:
            world.cloud.gate.add(ApiFault(ApiFaultKind.SLOW, operations="increase", times=1, latency=0.5))
            world.advance(10)
            autoscaler.feed.wait_for_version(world.sync(), 10)
            assert autoscaler.run_once().grow
            path.write_text(text)
            autoscaler.run_once()
            assert (autoscaler.busy, changes.count) == (True, 0)
            until = monotonic() + 10
            while autoscaler.busy:
                assert monotonic() < until
                sleep(0.01)
            autoscaler.run_once()
            assert (changes.count, world.cloud.gate.calls["increase"]) == (1, 1)
        finally:
            autoscaler.close()


def test_a_change_that_takes_a_new_process_is_told(begin, caplog) -> None:
    life = begin(a_scenario(replicas=0))
    life.go_on(20)
    life.configure("server: {snapshot: true}\nmemory: {store: none}\nseed: 7")
    life.go_on(20)
    assert "the change of memory takes effect at the next start" in caplog.text
    assert "the change of server takes effect at the next start" in caplog.text
    assert "the change of seed" not in caplog.text


TEAMS = """
    from nodewright.api import Plugin, hookimpl

    class Teams(Plugin):
        '''Notes the teams whose pods wait.'''

        api_version = 1
        pod_annotations = frozenset(["example.com/team"])
        seen = []

        @hookimpl
        def adjust_pending_pods(self, pods, now):
            self.seen.append(sorted(each.pod.metadata.annotations["example.com/team"] for each in pods))
            return pods
"""


@pytest.fixture
def teams(tmp_path):
    """The module of a plugin that reads the teams of pods."""
    with Distributions(tmp_path) as distributions:
        yield importlib.import_module(distributions.install("teams", {"hooks/teams": "Teams"}, TEAMS))


def put_pods_of_teams(server):
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    for name, team in (("a", "red"), ("b", "blue"), ("c", "red")):
        pod = {
            "metadata": {"name": name, "namespace": "default", "annotations": {"example.com/team": team}},
            "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"phase": "Pending", "conditions": [condition]},
        }
        server.store.create("pods", pod)


def test_pods_are_read_again_for_a_plugin_that_declares_annotations(server, life, teams) -> None:
    autoscaler, path = life
    put_pods_of_teams(server)
    autoscaler.run_once()
    lists = server.record.count(verb="list", resource="pods")
    path.write_text(CONFIG.format(expanders="least-waste") + "hooks: [teams]\n")
    for _ in range(2):
        autoscaler.run_once()
    # In the very loop in which the change took effect, as in any later one.
    assert teams.Teams.seen == [["blue", "red", "red"]] * 2
    assert server.record.count(verb="list", resource="pods") == lists + 1


def test_nothing_is_decided_before_pods_were_read_with_what_plugins_declare(server, life, teams, monkeypatch) -> None:
    autoscaler, path = life
    put_pods_of_teams(server)
    autoscaler.run_once()
    for waits in (informer, reload):
        monkeypatch.setattr(waits, "_FIRST_SIGHT_SECONDS", 0.2)
    fault = Fault(when=lambda request: (request.verb, request.path) == ("list", "/api/v1/pods"), status=503)
    server.faults.append(fault)
    path.write_text(CONFIG.format(expanders="least-waste") + "hooks: [teams]\n")
    with pytest.raises(ApiServerError, match="the pods are read anew, and not all were read yet"):
        autoscaler.run_once()
    assert teams.Teams.seen == []
    server.faults.remove(fault)
    autoscaler.feed.wait_until_synced(10)
    autoscaler.run_once()
    assert teams.Teams.seen == [["blue", "red", "red"]]


LATE = """
    from nodewright.api import Provider, hookimpl

    class Late(Provider):
        '''Can be made at the third try.'''

        api_version = 1
        pod_annotations = frozenset(["example.com/team"])
        tries = 0
        seen = []

        def __init__(self, config, context):
            super().__init__(config, context)
            Late.tries += 1
            if Late.tries < 3:
                raise RuntimeError("not yet")

        def refresh(self): ...
        def groups(self): return ()
        def group_of(self, node): return None

        @hookimpl
        def adjust_pending_pods(self, pods, now):
            self.seen.append(sorted(each.pod.metadata.annotations["example.com/team"] for each in pods))
            return pods
"""


@pytest.fixture
def late(tmp_path, monkeypatch):
    """The class of a provider that can be made in the second loop."""
    monkeypatch.setattr(strategies, "_FIRST_PAUSE", timedelta(0))
    with Distributions(tmp_path) as distributions:
        yield importlib.import_module(distributions.install("late", {"providers/late": "Late"}, LATE)).Late


def test_a_provider_that_comes_late_has_the_annotations_that_it_declares(server, late, life) -> None:
    autoscaler, path = life
    put_pods_of_teams(server)
    path.write_text(CONFIG.format(expanders="least-waste").replace("providers: [", "providers: [late, "))
    for tries, seen in ((2, []), (3, [["blue", "red", "red"]])):
        autoscaler.run_once()
        assert (late.tries, late.seen) == (tries, seen)
