"""Every bad plugin of the gallery is named, nothing else stops, and what is decided for the others stays the same."""

import logging
import re
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout

import pytest
from nodewright.config.document import load
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.plugins.output import PluginOutput
from nodewright.plugins.process_settings import settings_now
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing import SteppedClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

from tests.faults.gallery import GALLERY, BadPlugin

#: A cloud that does nothing wrong, with two groups of which an expander can choose, and a node that nobody needs.
GOOD = """
    from nodewright.api import *
    from nodewright.testing import a_template

    class Group(NodeGroup):
        id, min_size, max_size, target_size = "", 0, 5, 0

        def __init__(self, id, machines, pool):
            self.id, self.machines, self.target_size, self.pool = id, machines, len(machines), pool

        def instances(self): return [Instance(id=each, state=InstanceState.RUNNING) for each in self.machines]
        def template(self): return a_template(cpu="4", labels={"pool": self.pool})
        def increase(self, count): self.target_size += count
        def decrease_target(self, count): self.target_size -= count

        def delete_nodes(self, nodes):
            self.machines = [each for each in self.machines if each not in {node.spec.provider_id for node in nodes}]
            self.target_size -= len(nodes)

    class Good(Provider):
        api_version = 1
        capabilities = frozenset({Capability.SCALE_FROM_ZERO})

        def __init__(self, config, context):
            super().__init__(config, context)
            self.members = [Group("a", [], "good"), Group("b", [], "good")]
            self.members += [Group("c", ["good://idle"], "spare"), Group("d", ["good://host"], "kept")]
            self.members[3].min_size = 1

        def refresh(self): pass
        def groups(self): return self.members
        def group_of(self, node): return {"good://idle": "c", "good://host": "d"}.get(node.spec.provider_id)
"""

SECTIONS = {
    "expanders": "scaleUp: {{expanders: [{bad}, least-nodes]}}",
    "estimators": "scaleUp: {{estimator: {bad}, expanders: [least-nodes]}}",
    "processors": "processors: {{pendingPods: [{bad}, filter-expendable, filter-schedulable]}}",
    "candidates": "processors: {{scaleDownCandidates: [{bad}]}}",
    "drain_rules": "scaleDown: {{unneededTime: 10s, delayAfterAdd: 0s, drainRules: [{bad}]}}",
    "hooks": "hooks: [{bad}]",
    "prices": "prices: [{bad}]",
    "providers": "",
}

_UNSCHEDULABLE = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]


def a_pod(pool: str) -> Mapping[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"for-{pool}", "namespace": "default"},
        "spec": {
            "nodeSelector": {"pool": pool},
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}],
        },
        "status": {"phase": "Pending", "conditions": _UNSCHEDULABLE},
    }


def a_small_pod_on(node: str) -> Mapping[str, object]:
    annotations = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "tiny", "namespace": "default", "annotations": annotations},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": {"requests": {"cpu": "10m"}}}]},
        "status": {"phase": "Running"},
    }


def a_node(name: str, pool: str) -> Mapping[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pool": pool, "kubernetes.io/hostname": name}},
        "spec": {"providerID": f"good://{name}"},
        "status": {
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def configuration(bad: BadPlugin | None) -> str:
    """The configuration that names the good provider and, in its place, the bad plugin."""
    reference = "{bad: {isolation: {process: {memory: 2Gi, deadline: 2s}}}}" if bad and bad.isolated else "bad"
    section = SECTIONS[bad.kind].format(bad=reference) if bad else ""
    providers = f"good, {reference}" if bad and bad.kind == "providers" else "good"
    return "\n".join(
        (
            "apiVersion: nodewright.dev/v1",
            "kind: Autoscaler",
            f"providers: [{providers}]",
            "loop: {refreshTimeout: 1s}",
            section,
            "" if bad and bad.kind == "drain_rules" else "scaleDown: {unneededTime: 10s, delayAfterAdd: 0s}",
        )
    )


def lived(bad: BadPlugin | None, folder) -> list[tuple[object, ...]]:
    """What an autoscaler with the *bad* plugin decides in a few loops for the good cloud."""
    clock = SteppedClock()
    with Distributions(folder) as distributions, ApiServer(Store(clock)) as server:
        distributions.install("good", {"providers/good": "Good"}, GOOD)
        if bad:
            kind = "processors" if bad.kind == "candidates" else bad.kind
            distributions.install("bad", {f"{kind}/bad": "Bad"}, bad.code, requires="")
        settings = load(configuration(bad), classes=Registry(), tolerant=True).settings
        for node in (a_node("idle", "spare"), a_node("host", "kept")):
            server.store.create("nodes", node)
        for pod in (a_pod("good"), a_pod("bad"), a_small_pod_on("idle")):
            server.store.create("pods", pod)
        clock.advance(3)
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        autoscaler = Autoscaler(settings, connect(kubeconfig=str(kubeconfig)), clock)
        try:
            autoscaler.start()
            return [_for_the_good(autoscaler, clock) for _ in range(4)]
        finally:
            autoscaler.close()


def _for_the_good(autoscaler, clock) -> tuple[object, ...]:
    decision = autoscaler.run_once()
    autoscaler.metrics.render()
    clock.advance(11)
    return (
        [(grow.group, grow.count, grow.pods) for grow in decision.grow if grow.group != "bad"],
        [(drain.node, drain.group) for drain in decision.drain],
        [(delete.group, delete.nodes) for delete in decision.delete],
        decision.pods["default/for-good"].reason if "default/for-good" in decision.pods else None,
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> list[tuple[object, ...]]:
    """What is decided where no plugin is bad."""
    return lived(None, tmp_path_factory.mktemp("good"))


def growth(decisions: list[tuple[object, ...]]) -> list[object]:
    return [(each[0], each[3]) for each in decisions]


def test_the_gallery_is_large() -> None:
    assert len(GALLERY) >= 60


def test_without_a_bad_plugin_a_group_grows_and_the_idle_node_goes(expected) -> None:
    assert expected[0][0] == [("a", 1, ("default/for-good",))]
    assert any(each[1] or each[2] for each in expected)


@pytest.mark.parametrize("name", GALLERY)
def test_a_bad_plugin_is_named_and_disturbs_nobody(name, expected, tmp_path, caplog, monkeypatch) -> None:
    bad, before = GALLERY[name], settings_now()
    monkeypatch.delenv("PYTHONFAULTHANDLER", raising=False)
    with caplog.at_level(logging.INFO), redirect_stdout(PluginOutput(sys.stdout)):
        decisions = lived(bad, tmp_path)
    told = [record.getMessage() for record in caplog.records if "bad" in record.getMessage()]
    assert any(bad.where in each and re.search(bad.said, each) for each in told), told
    if bad.keeps_nodes:
        assert growth(decisions) == growth(expected)
        assert not any(each[1] or each[2] for each in decisions)
    else:
        assert decisions == expected
    assert settings_now() == before
