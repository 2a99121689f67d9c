"""Nodes go away from all sorts of clusters in which everything goes wrong: nobody notices, nothing is left behind."""

import os
from dataclasses import dataclass, field

import pytest
from nodewright.objects.pod import SAFE_TO_EVICT

from tests.end_to_end.chaos import Mischief
from tests.end_to_end.guard import Guard
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

MOST_NODES = 16
LOOPS = 300
PACE = (
    "unneededTime: 20s, delayAfterAdd: 0s, delayAfterFailure: 10s, unremovableRecheck: 10s, utilizationThreshold: 0.8"
)
LOOP = "loop: {actionTimeout: 300ms}"
HEALTH = "health: {maxNodeProvisionTime: 3m, backoff: {initial: 1m, max: 4m, resetAfter: 20m}}"
TO_BE_DELETED, HINT = "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A kind of cluster, and configurations that take turns in it."""

    groups: list
    most_replicas: dict
    deployments: list
    pools: list = field(default_factory=lambda: ["eu-a/fitting", "*/spot", "*/roomy"])
    others: dict = field(default_factory=dict)
    scale_down: list

    @property
    def scenario(self):
        return a_scenario(*self.groups, deployments=self.deployments, **self.others)

    @property
    def settings(self):
        return [f"scaleDown: {{{PACE}, {each}}}\n{HEALTH}\n{LOOP}" for each in self.scale_down]


def spread(app, key="kubernetes.io/hostname", skew=1):
    """The specification of pods that are spread evenly."""
    selector = {"matchLabels": {"app": app}}
    return {
        "topologySpreadConstraints": [
            {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        ]
    }


def apart(app):
    """The specification of pods that share no node."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


AGENT = {"name": "agent", "cpu": "100m", "memory": "64Mi"}
SHAPES = {
    "in parallel": Shape(
        groups=[
            a_group("fixed", min=1, max=4),
            a_group("spot", max=8, spot=True),
            a_group("other", max=6, zone="eu-b"),
        ],
        deployments=[
            a_deployment("web", replicas=4),
            a_deployment("small", cpu="300m", memory="256Mi", replicas=6),
            a_deployment("wide", cpu="3", memory="4Gi", replicas=1),
        ],
        most_replicas={"web": 14, "small": 24, "wide": 4},
        others={
            "daemonSets": [AGENT],
            "budgets": [{"for": "web", "maxUnavailable": 1}, {"for": "small", "minAvailable": "60%"}],
        },
        scale_down=["maxDrainParallelism: 5", "maxDrainParallelism: 1", "maxDrainParallelism: 8, maxParallelism: 12"],
    ),
    "choosy": Shape(
        groups=[a_group("fixed", min=2, max=6), a_group("other", max=8, zone="eu-b", deleteTime="40s")],
        deployments=[
            a_deployment("web", cpu="500m", memory="512Mi", replicas=4, podSpec=spread("web")),
            a_deployment("zonal", cpu="700m", replicas=4, podSpec=spread("zonal", "topology.kubernetes.io/zone", 2)),
            a_deployment("lonely", cpu="200m", memory="256Mi", replicas=3, podSpec=apart("lonely")),
            a_deployment("filler", cpu="1500m", replicas=2),
        ],
        most_replicas={"web": 10, "zonal": 8, "lonely": 6, "filler": 8},
        others={"budgets": [{"for": "lonely", "maxUnavailable": 1}]},
        scale_down=["maxDrainParallelism: 4", "maxDrainParallelism: 2, cordon: false"],
    ),
    "whole": Shape(
        groups=[
            a_group("block", max=3, desired=3, options={"zeroOrMaxNodeScaling": True}),
            a_group("other", min=1, max=3, zone="eu-b"),
        ],
        deployments=[a_deployment("web", replicas=3), a_deployment("small", cpu="300m", memory="256Mi", replicas=6)],
        most_replicas={"web": 14, "small": 20},
        others={"budgets": [{"for": "web", "maxUnavailable": 2}], "daemonSets": [AGENT]},
        scale_down=["maxDrainParallelism: 6", "maxDrainParallelism: 4, maxParallelism: 8"],
    ),
    "stubborn": Shape(
        groups=[a_group("fixed", min=1, max=6), a_group("roomy", max=4, instanceType="roomy", zone="eu-b")],
        deployments=[
            a_deployment("web", replicas=3),
            a_deployment("keep", cpu="500m", annotations={SAFE_TO_EVICT: "false"}, replicas=1),
            a_deployment("disk", cpu="300m", podSpec={"volumes": [{"name": "scratch", "emptyDir": {}}]}, replicas=1),
            a_deployment("done", cpu="400m", annotations={SAFE_TO_EVICT: "on-completion"}, replicas=1),
            a_deployment("slow", cpu="200m", podSpec={"terminationGracePeriodSeconds": 90}, replicas=2),
        ],
        most_replicas={"web": 12, "keep": 3, "disk": 3, "done": 3, "slow": 8},
        others={
            "budgets": [{"for": "web", "maxUnavailable": 1}, {"for": "slow", "maxUnavailable": 1}],
            "daemonSets": [AGENT],
            "jobs": [
                {
                    "name": name,
                    "namespace": "jobs",
                    "cpu": "400m",
                    "completions": 30,
                    "run": "90s",
                    "annotations": marks,
                }
                for name, marks in (("whole", {SAFE_TO_EVICT: "on-completion"}), ("again", {}))
            ],
        },
        scale_down=["maxDrainParallelism: 3", "maxDrainParallelism: 3, maxGracefulTermination: 30s"],
    ),
    "gpus": Shape(
        groups=[
            a_group("plain", min=1, max=6),
            a_group("gpu", max=4, instanceType="gpu", zone="eu-b"),
            a_group("spot", max=4, instanceType="gpu", spot=True),
        ],
        deployments=[
            a_deployment("web", replicas=3),
            a_deployment("train", cpu="500m", requests={"nvidia.com/gpu": 1}, replicas=2),
            a_deployment("small", cpu="200m", memory="256Mi", replicas=4),
        ],
        most_replicas={"web": 12, "train": 8, "small": 16},
        pools=["eu-a/fitting", "*/spot", "eu-b/gpu"],
        others={"budgets": [{"for": "train", "maxUnavailable": 1}], "daemonSets": [AGENT]},
        scale_down=["maxDrainParallelism: 3", "maxDrainParallelism: 3, gpuUtilizationThreshold: 0.9"],
    ),
}


def check_end(life):
    """All pods run, no removal is under way, and nobody is left marked by us."""
    deployments = life.world.store.list("deployments.apps", "default")
    assert len(life.pods("Running")) == len(life.pods()) == sum(each["spec"]["replicas"] for each in deployments)
    assert life.autoscaler.memory.leaving.removals == {}
    for node in life.world.store.list("nodes"):
        keys = {taint["key"] for taint in node["spec"].get("taints", ())}
        assert TO_BE_DELETED not in keys
        assert HINT not in keys or node["metadata"]["name"] in life.autoscaler.memory.unneeded.since
        assert not node["spec"].get("unschedulable")


#: SAFETY_SEEDS=2 for another life of each.
CASES = [(shape, seed) for shape in SHAPES for seed in range(1, 1 + int(os.environ.get("SAFETY_SEEDS", "1")))]


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_whatever_happens_no_pod_is_harmed_and_nothing_is_left_behind(begin, shape, seed) -> None:
    kind = SHAPES[shape]
    guard = Guard()
    life = begin(kind.scenario, kind.settings[0], most_nodes=MOST_NODES, observers={"guard": guard})
    guard.watch(life)
    mischief = Mischief(life, seed, kind.most_replicas, kind.pools, kind.settings, share=0.0035)
    story = f"{shape}, seed {seed}: "
    for _ in range(LOOPS):
        mischief.strike()
        life.go_on(10)
        assert guard.wrongs == [], story + "\n".join(life.diary.lines[-30:])
    mischief.end()
    life.go_on(2400)
    assert guard.wrongs == [], story
    check_end(life)
