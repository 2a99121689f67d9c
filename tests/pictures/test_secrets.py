"""A picture has nothing that may be a secret, and with --anonymize no name."""

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from nodewright.api import (
    Decision,
    ErrorClass,
    GpuConfig,
    GroupFacts,
    Instance,
    InstanceError,
    InstanceState,
    NodeTemplate,
    Reason,
    TemplateDifference,
    Verdict,
)
from nodewright.cluster import Cluster
from nodewright.config.document import load
from nodewright.config.model import Settings
from nodewright.decision.memory import (
    Backoff,
    Changes,
    Condition,
    Conditions,
    ConsolidationMemory,
    CooldownMemory,
    Evictions,
    HealthMemory,
    KnownTemplate,
    LastVerdict,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    Replacement,
    ScaleUpRequest,
    StatusMemory,
    TemplateMemory,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.decision.world import World
from nodewright.kube.kinds import KINDS, wanted_kinds
from nodewright.objects import Pod, Taint
from nodewright.scenario.files import json_pieces, yaml_pieces
from nodewright.scenario.scenario import Picture, read_scenario
from nodewright.serve.snapshots import snapshot
from nodewright.strategies.priority import CONFIG_MAP
from nodewright.testing.clock import EPOCH

from tests.pictures.situations import REGISTRY

#: In every text that no decision reads.
SECRET = "hunter2"
#: In every name, and in every value of a label.
NAME = "acme"
_META = {
    "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": f'{{"env":"{SECRET}"}}',
        f"example.com/{SECRET}": SECRET,
    },
    "finalizers": [SECRET],
    "managedFields": [{"manager": SECRET}],
    "generateName": SECRET,
    "selfLink": SECRET,
}
_ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110"}


def metadata(kind: str, *, namespace: str = "", **more: Any) -> dict[str, Any]:
    """Metadata full of secrets, and names that are named."""
    meta = {**_META, "name": f"{NAME}-{kind}", "uid": f"{NAME}-uid-{kind}", "labels": {"app": f"{NAME}-label"}}
    return meta | ({"namespace": namespace} if namespace else {}) | more


def pod_spec() -> dict[str, Any]:
    """What a pod may say, with secrets wherever it may hold one."""
    container = {
        "name": f"{NAME}-main",
        "image": f"{SECRET}/image",
        "command": [SECRET],
        "args": [f"--password={SECRET}"],
        "workingDir": SECRET,
        "env": [{"name": "PASSWORD", "value": SECRET}, {"name": "X", "valueFrom": {"secretKeyRef": {"name": SECRET}}}],
        "envFrom": [{"secretRef": {"name": SECRET}}],
        "ports": [{"name": SECRET, "containerPort": 80, "hostPort": 80}],
        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
        "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}},
        "lifecycle": {"preStop": {"exec": {"command": [SECRET]}}},
        "volumeMounts": [{"name": SECRET, "mountPath": SECRET}],
    }
    term = {
        "labelSelector": {"matchLabels": {"app": f"{NAME}-label"}},
        "namespaces": [f"{NAME}-shop"],
        "topologyKey": "kubernetes.io/hostname",
    }
    line = {"key": "pool", "operator": "In", "values": [f"{NAME}-pool"]}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {
        "containers": [container],
        "initContainers": [container | {"name": f"{NAME}-init"}],
        "imagePullSecrets": [{"name": SECRET}],
        "serviceAccountName": SECRET,
        "hostname": SECRET,
        "hostAliases": [{"hostnames": [SECRET]}],
        "securityContext": {"sysctls": [{"name": SECRET, "value": SECRET}]},
        "nodeSelector": {"pool": f"{NAME}-pool"},
        "affinity": {
            "nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": [line]}]}},
            "podAntiAffinity": {required: [term]},
        },
        "topologySpreadConstraints": [
            {
                "topologyKey": "zone",
                "labelSelector": {"matchExpressions": [line]},
                "whenUnsatisfiable": "ScheduleAnyway",
            }
        ],
        "tolerations": [{"key": "team", "value": f"{NAME}-taint"}],
        "volumes": [
            {"name": f"{NAME}-a", "secret": {"secretName": SECRET}},
            {"name": f"{NAME}-b", "csi": {"driver": "d", "volumeAttributes": {"password": SECRET}}},
            {"name": f"{NAME}-c", "hostPath": {"path": f"/{SECRET}"}},
            {"name": f"{NAME}-d", "rbd": {"image": f"{NAME}-disk", "monitors": [f"{NAME}-m"], "keyring": SECRET}},
            {"name": f"{NAME}-e", "iscsi": {"iqn": f"{NAME}-iqn", "secretRef": {"name": SECRET}}},
            {"name": f"{NAME}-f", "ephemeral": {"volumeClaimTemplate": {"metadata": {"annotations": {"x": SECRET}}}}},
            {"name": f"{NAME}-g", "persistentVolumeClaim": {"claimName": f"{NAME}-claim"}},
            {"name": f"{NAME}-h", "configMap": {"name": SECRET}},
            {"name": f"{NAME}-i", "awsElasticBlockStore": {"volumeID": f"{NAME}-ebs", "fsType": SECRET}},
            {"name": f"{NAME}-j", "gcePersistentDisk": {"pdName": f"{NAME}-pd", "fsType": SECRET}},
        ],
        "priority": 0,
        "priorityClassName": "high",
    }


def pod(name: str, *, node: str = "", kind: str = "ReplicaSet") -> dict[str, Any]:
    owner = {"kind": kind, "name": f"{NAME}-owner", "uid": f"{NAME}-owner-uid", "controller": True}
    meta = metadata(name, namespace=f"{NAME}-shop", ownerReferences=[owner, {"kind": "Other", "name": SECRET}])
    meta["annotations"] = _META["annotations"] | {
        "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": f"{NAME}-c",
        "nodewright.dev/remark": f"{NAME} remarks",
        "kubernetes.io/config.mirror": SECRET,
    }
    message = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": SECRET}
    status = {
        "phase": "Running" if node else "Pending",
        "message": SECRET,
        "podIP": SECRET,
        "conditions": [] if node else [message],
        "containerStatuses": [{"name": f"{NAME}-main", "image": SECRET, "resources": {"requests": {"cpu": "1"}}}],
    }
    return {"metadata": meta, "spec": pod_spec() | ({"nodeName": node} if node else {}), "status": status}


def objects() -> dict[str, list[dict[str, Any]]]:
    """Objects as an API server has them, by the kind that we watch."""
    node = f"{NAME}-node"
    labels = {"kubernetes.io/hostname": node, "pool": f"{NAME}-pool", "gpu": "t4"}
    claim = {"volumeName": f"{NAME}-volume", "storageClassName": f"{NAME}-class", "dataSource": {"name": SECRET}}
    reach = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
    return {
        "nodes": [
            {
                "metadata": metadata("node", labels=labels),
                "spec": {
                    "providerID": f"cloud://{NAME}",
                    "podCIDR": SECRET,
                    "taints": [{"key": "team", "value": f"{NAME}-taint", "effect": "NoSchedule"}],
                },
                "status": {
                    "capacity": _ROOM,
                    "allocatable": _ROOM,
                    "addresses": [{"type": "InternalIP", "address": SECRET}],
                    "images": [{"names": [SECRET]}],
                    "nodeInfo": {"machineID": SECRET},
                    "conditions": [{"type": "Ready", "status": "True", "message": SECRET}],
                },
            }
        ],
        "pods": [pod("running", node=node), pod("waiting"), pod("static", node=node, kind="Node")],
        "daemonsets": [
            {
                "metadata": metadata("daemon", namespace=f"{NAME}-shop"),
                "spec": {
                    "selector": {},
                    "template": {"metadata": {**_META, "labels": {"app": f"{NAME}-label"}}, "spec": pod_spec()},
                },
            }
        ],
        "poddisruptionbudgets": [
            {
                "metadata": metadata("budget", namespace=f"{NAME}-shop"),
                "spec": {"selector": {"matchLabels": {"app": f"{NAME}-label"}}, "unhealthyPodEvictionPolicy": SECRET},
                "status": {"disruptionsAllowed": 1, "disruptedPods": {SECRET: "2030-01-01T00:00:00Z"}},
            }
        ],
        "namespaces": [{"metadata": metadata("shop", labels={"kubernetes.io/metadata.name": f"{NAME}-shop"})}],
        "storageclasses": [
            {"metadata": metadata("class"), "provisioner": "disk.example.com", "parameters": {"secret": SECRET}}
        ],
        "persistentvolumes": [
            {
                "metadata": metadata("volume"),
                "spec": {
                    "storageClassName": f"{NAME}-class",
                    "claimRef": {"namespace": f"{NAME}-shop", "name": f"{NAME}-claim", "uid": f"{NAME}-uid-claim"},
                    "nodeAffinity": {"required": reach},
                    "capacity": {"storage": "1Gi"},
                    "csi": {
                        "driver": "disk.example.com",
                        "volumeHandle": f"{NAME}-handle",
                        "volumeAttributes": {"password": SECRET},
                        "nodeStageSecretRef": {"name": SECRET},
                    },
                },
            }
        ],
        "persistentvolumeclaims": [
            {"metadata": metadata("claim", namespace=f"{NAME}-shop"), "spec": claim, "status": {"phase": "Bound"}},
            {"metadata": metadata("waiting-acme-f", namespace=f"{NAME}-shop"), "spec": claim},
        ],
        "capacityquotas": [
            {
                "metadata": metadata("quota"),
                "spec": {"selector": {"matchLabels": {"pool": f"{NAME}-pool"}}, "limits": {"resources": {"cpu": 9}}},
                "status": {"note": SECRET},
            }
        ],
        **{
            name: [
                {
                    "metadata": metadata(f"controller-{name}", namespace=f"{NAME}-shop"),
                    "spec": {"replicas": 2, "template": pod("own")},
                }
            ]
            for name in ("replicasets", "replicationcontrollers", "statefulsets", "jobs")
        },
        "csinodes": [
            {
                "metadata": metadata("node"),
                "spec": {"drivers": [{"name": "disk.example.com", "nodeID": SECRET, "allocatable": {"count": 5}}]},
            }
        ],
    }


def cluster() -> Cluster:
    """A cluster that has seen the objects as reflectors see them."""
    found, listed = Cluster(), objects()
    for kind in (*KINDS, *wanted_kinds(settings())):
        read = kind.reader()
        for each in listed.pop(kind.name):
            kind.put(found, read(json.dumps(each).encode()))
    assert not listed
    return found


def group() -> GroupFacts:
    static = msgspec.convert(pod("proxy", kind="Node"), Pod)
    error = InstanceError(error_class=ErrorClass.QUOTA, code="QUOTA", message=f"of {NAME}", pool=f"{NAME}/zone")
    room = {"cpu": 4000, "memory": 2**33, "pods": 110}
    template = NodeTemplate(
        labels={"pool": f"{NAME}-pool", "gpu": "t4"},
        annotations=_META["annotations"],
        taints=(Taint(key="team", value=f"{NAME}-taint"),),
        capacity=room,
        allocatable=room,
        pods=(static,),
    )
    machine = Instance(id=f"cloud://{NAME}", state=InstanceState.RUNNING, zone=f"{NAME}-a", instance_type=f"{NAME}-1")
    failed = Instance(id=f"cloud://{NAME}-2", state=InstanceState.CREATING, error=error)
    return GroupFacts(
        id=f"{NAME}-group",
        provider="cloud",
        min_size=0,
        max_size=9,
        target_size=2,
        instances=(machine, failed),
        template=template,
        error=f"{NAME} is away",
    )


def memory() -> Memory:
    facts, node = group(), f"{NAME}-node"
    said = TemplateDifference(group=facts.id, kind="label", name="pool", promised=f"{NAME}-pool", real=f"{NAME}-x")
    taint = TemplateDifference(group=facts.id, kind="taint", name="team:NoSchedule", promised=None, real=f"{NAME}-y")
    healthy = Condition(status="Healthy", since=EPOCH)
    return Memory(
        unneeded=UnneededMemory(since={node: EPOCH}, unremovable_until={f"{NAME}-node-2": EPOCH}),
        verdicts=VerdictMemory(
            last={node: LastVerdict(reason=Reason.NO_PLACE, since=EPOCH, pod=f"{NAME}-shop/{NAME}-pod")}
        ),
        health=HealthMemory(
            unregistered_since={f"cloud://{NAME}-3": EPOCH},
            backoffs={
                f"{NAME}-c": Backoff(
                    until=EPOCH,
                    pause=timedelta(1),
                    failed_at=EPOCH,
                    error_class=ErrorClass.OTHER,
                    code="timeout",
                    message=f"no {NAME}",
                )
            },
        ),
        orders=OrderMemory(
            requests={
                facts.id: ScaleUpRequest(at=EPOCH, count=1),
                f"{NAME}-b": ScaleUpRequest(at=EPOCH, count=1, ours=False),
            }
        ),
        status=StatusMemory(conditions={facts.id: Conditions(health=healthy, scale_up=healthy, scale_down=healthy)}),
        cooldown=CooldownMemory(groups={facts.id: Changes(grown=EPOCH)}),
        leaving=RemovalMemory(
            evictions=(Evictions(at=EPOCH, count=3),),
            removals={
                f"{NAME}-node-3": Removal(
                    group=facts.id, provider_id=f"cloud://{NAME}-4", started=EPOCH, deleted_at=EPOCH, error=f"no {NAME}"
                )
            },
        ),
        consolidation=ConsolidationMemory(
            replacements=(
                Replacement(
                    nodes={f"{NAME}-node-5": f"cloud://{NAME}-5"},
                    group=facts.id,
                    count=1,
                    at=EPOCH,
                    since=EPOCH,
                    begun=(f"{NAME}-node-5",),
                    owners=(f"{NAME}-owner-uid",),
                ),
            ),
            left_alone_until={f"{NAME}-node-6": EPOCH},
            examined=f"{NAME}-node-7",
            no_search_until=EPOCH,
        ),
        learnt=TemplateMemory(
            templates={facts.id: KnownTemplate(promised="x", likeness=facts.template, differences=(said, taint))}
        ),
    )


def settings() -> Settings:
    text = f"""
apiVersion: nodewright.dev/v1
kind: Autoscaler
cluster: {SECRET}
namespace: {SECRET}
providers: [fake: {{url: "http://{SECRET}"}}]
discovery: ["{SECRET}"]
nodeGroups: ["1:2:{SECRET}"]
scaleUp:
  expanders:
    - priority: {{priorities: {{10: [{NAME}-.*]}}}}
    - a-plugin: {{token: {SECRET}, headers: {{authorization: {SECRET}}}, hosts: [{SECRET}], retries: 3, tls: true}}
groups: [match: "{NAME}-*"]
scaleDown: {{disruption: {{budgets: [{{nodes: 1, groups: ["{NAME}-*"]}}, {{nodes: 1, groups: ["{NAME}"]}}]}}}}
limits: {{capacityQuotas: true}}
scheduling: {{configFile: /{SECRET}}}
server: {{address: "{SECRET}:80"}}
kube: {{kubeconfig: /{SECRET}, server: "https://{SECRET}", userAgent: {SECRET}}}
leaderElection: {{resourceName: {SECRET}}}
status: {{name: {SECRET}}}
"""
    return load(text).settings


@pytest.fixture
def picture() -> Picture:
    """A picture of a world that is full of secrets and names."""
    facts, node = group(), f"{NAME}-node"
    world = World(
        cluster=cluster(),
        groups=(facts,),
        group_of={node: facts.id},
        gpus={node: GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu")},
        config_maps={CONFIG_MAP: {"priorities": f"10: [{NAME}-.*]\n"}, "other": {"password": SECRET}},
    )
    return Picture(world=world, memory=memory(), settings=settings(), now=EPOCH, classes=REGISTRY)


@pytest.mark.parametrize("write", [json_pieces, yaml_pieces])
@pytest.mark.parametrize("anonymize", [False, True])
def test_no_secret_is_in_a_picture(picture, write, anonymize) -> None:
    text = b"".join(write(picture.entries(anonymize=anonymize)))
    assert SECRET.encode() not in text
    assert b"waiting" in text or anonymize


@pytest.mark.parametrize("write", [json_pieces, yaml_pieces])
def test_no_name_is_in_an_anonymous_picture(picture, write) -> None:
    text = b"".join(write(picture.entries(anonymize=True))).decode()
    assert [line for line in text.splitlines() if NAME in line] == []


def test_what_is_shown_can_be_read(picture) -> None:
    for anonymize in (False, True):
        document = json.loads(b"".join(json_pieces(picture.entries(anonymize=anonymize))))
        document["settings"]["scaleUp"]["expanders"].pop()
        scenario = read_scenario(document)
        assert len(scenario.world().cluster.pods) == 3
        assert scenario.groups[0].template is not None
        assert len(scenario.memory.leaving.removals) == 1


def test_no_secret_is_in_a_snapshot_for_debugging(picture) -> None:
    fits = dict.fromkeys(picture.world.cluster.pending, Verdict(reason=Reason.FITS))
    shown = snapshot(picture.world, Decision(at=EPOCH, pods=fits), EPOCH)
    assert (len(shown["NodeList"][0]["Pods"]), len(shown["UnscheduledPodsCanBeScheduled"])) == (2, 1)
    text = msgspec.json.encode(shown)
    assert NAME.encode() in text
    assert SECRET.encode() not in text


def test_settings_of_plugins_that_may_be_secrets_are_left_out_and_named(picture) -> None:
    plugin = {"a-plugin": {"retries": 3, "tls": True}}
    document = dict(picture.entries())
    assert document["settings"]["scaleUp"]["expanders"] == [{"priority": {"priorities": {"10": ["acme-.*"]}}}, plugin]
    assert picture.left_out == tuple(f"scaleUp.expanders.a-plugin.{key}" for key in ("token", "headers", "hosts"))


def test_priorities_have_the_hidden_names_of_groups(picture) -> None:
    document = dict(picture.entries(anonymize=True))
    # Back-offs and orders are remembered of two groups that come before this one.
    assert document["priorityConfig"] == "10:\n- ^group-3$\n"
    assert document["settings"]["scaleUp"]["expanders"][0] == {"priority": {"priorities": {10: ["^group-3$"]}}}
