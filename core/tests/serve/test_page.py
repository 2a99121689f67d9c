"""The page about metrics lists all of them, with type and labels."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from nodewright.api import (
    Decision,
    DeleteInstances,
    GpuConfig,
    Grow,
    Instance,
    InstanceError,
    InstanceState,
    Outcome,
    Reason,
    Taint,
    TemplateDifference,
    Verdict,
)
from nodewright.api.instance import ErrorClass
from nodewright.config.document import load
from nodewright.decision.memory import (
    HealthMemory,
    KnownTemplate,
    LastVerdict,
    Memory,
    TemplateMemory,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_world

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [fake]
metrics: {perGroup: true, nodeRemovalLatency: true, nodeSkipTime: true}
"""
#: Metrics without series show no labels; the page has Cluster Autoscaler's labels for them.
WITHOUT_SERIES = {
    "cluster_autoscaler_skipped_pods_count": "requestor",
    "cluster_autoscaler_dra_node_template_resources_mismatch": "driver, mismatch_type",
}


@pytest.fixture
def families(watcher):
    """All metric families with a sample each, as everything has happened once."""
    failed = Instance(
        id="fake://failed",
        state=InstanceState.CREATING,
        error=InstanceError(error_class=ErrorClass.STOCK_OUT, code="ICE"),
    )
    group = replace(a_group("a", price=1.0), instances=(failed,))
    world = a_world(
        groups=[group],
        nodes={"a": [a_node("n", taints=[Taint(key="team")])]},
        pods=[a_pod("web"), a_pod("on", node="n")],
    )
    gpu = GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu")
    world = replace(world, gpus={"n": gpu}, group_gpus={"a": gpu})
    settings = load(CONFIG).settings
    metrics = watcher.metrics
    metrics.process.troubles = lambda: {"pods": ""}
    metrics.begin_loop()
    metrics.took({"observe": 1.0, "decide": 1.0, "act": 1.0, "scaleUp": 1.0, "findUnneeded": 1.0})
    difference = TemplateDifference(group="a", kind="label", name="x", promised="1", real="2")
    memory = Memory(
        unneeded=UnneededMemory(since={"n": EPOCH}),
        health=HealthMemory(failed_since={failed.id: EPOCH}),
        verdicts=VerdictMemory(
            last={"m": LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod="default/on", cause="NotReplicated")}
        ),
        learnt=TemplateMemory(templates={"a": KnownTemplate(differences=(difference,))}),
    )
    delete = DeleteInstances(group="a", instances=("fake://n",), nodes=("n",), verdict=Verdict(reason=Reason.EMPTY))
    decision = Decision(
        at=EPOCH,
        grow=(Grow(group="a", count=1, from_size=0, pods=("default/web",), verdict=Verdict(reason=Reason.CHOSEN)),),
        delete=(delete,),
        nodes={"n": Verdict(reason=Reason.COOLING_DOWN), "m": Verdict(reason=Reason.NEEDED)},
        pods={"default/web": Verdict(reason=Reason.HELPED)},
    )
    watcher.note(decision, memory, world, settings)
    metrics.note_orders(decision, world)
    done = Outcome(at=EPOCH, action="grow", target="a", ok=True)
    metrics.note_outcomes((done, replace(done, action="delete-instances", target="n")))
    metrics.plugin_faults.labels("p", "w").inc()
    metrics.end_loop(1.0)
    return list(metrics.registry.collect())


def _described(family):
    names = {name for sample in family.samples for name in sample.labels} - {"le", "quantile"}
    kind = "gauge" if family.type == "info" else family.type
    suffix = {"counter": "_total", "info": "_info"}.get(family.type, "")
    labels = ", ".join(sorted(names)) or WITHOUT_SERIES.get(family.name, "")
    return family.name + suffix, kind, labels


def _shown():
    rows = re.findall(r"^\| `([a-z_]+)` \| ([a-z]+) \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE)
    return [(name, kind, ", ".join(sorted(re.findall(r"`(\w+)`", labels)))) for name, kind, labels in rows]


def test_the_page_has_every_metric_once_with_its_type_and_labels(families) -> None:
    found = [_described(family) for family in families]
    # Metrics of the process differ by platform.
    shown = [row for row in _shown() if row in found or not row[0].startswith("process_")]
    assert sorted(shown) == sorted(found)
