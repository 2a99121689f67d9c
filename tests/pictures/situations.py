"""Random situations: the oracle's worlds with groups for their nodes, prices, budgets and things to remember."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product

from msgspec.structs import replace as changed
from nodewright.api import (
    Decision,
    ErrorClass,
    GpuConfig,
    GroupFacts,
    GroupOptions,
    Instance,
    InstanceError,
    InstanceState,
    NodeTemplate,
    Pod,
    PricingModel,
    ResourceLimits,
)
from nodewright.cluster import Cluster
from nodewright.config.document import load
from nodewright.config.model import Disruption, Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import (
    Backoff,
    Changes,
    CooldownMemory,
    Evictions,
    HealthMemory,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    UnneededMemory,
)
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.objects import (
    CapacityQuota,
    Condition,
    Controller,
    DaemonSet,
    LabelSelector,
    Node,
    ObjectMeta,
    OwnerReference,
    PodDisruptionBudget,
    Taint,
    Toleration,
)
from nodewright.objects.budget import BudgetSpec, BudgetStatus
from nodewright.objects.capacity_quota import CapacityLimits, CapacityQuotaSpec
from nodewright.objects.node import HOSTNAME, TO_BE_DELETED
from nodewright.objects.workload import ControllerName, DaemonSetSpec, PodTemplate, ScaleSpec
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.scenario import Picture
from nodewright.strategies.priority import CONFIG_MAP
from nodewright.testing.builders import UNSCHEDULABLE, a_pod
from nodewright.testing.clock import EPOCH, SteppedClock

from tests.oracle.lives import new_cluster
from tests.oracle.worlds import random_world
from tests.oracle.worlds.dice import Dice, SeededDice

REGISTRY = Registry()
NOW = EPOCH + timedelta(hours=3)
#: When the second decision is made.
LATER = timedelta(minutes=11)
_DISRUPTIONS: tuple[dict[str, object], ...] = (
    {},
    {"maxEvictionsPerHour": 9},
    {
        "budgets": [
            {"nodes": 1, "groups": ["spot-*"]},
            {"nodes": 0, "reasons": ["underused"], "groups": ["*-2", "nobody"]},
        ]
    },
    {"budgets": [{"nodes": 0, "groups": ["nobody"]}, {"nodes": "50%", "schedule": {"from": "0 * * * *", "for": "1h"}}]},
)

_EXPANDERS = ("[random]", "[least-waste]", "[most-pods, least-nodes]", "[price]", "[priority]", "[least-cost]")
_ANNOTATIONS = (
    {},
    {},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "disk-0,disk-1"},
)

_PRIORITIES = ("10: [spot]\n20: ['^gpu-[01]$', base-2]\n", "5: ['.*']\n7: []\n", "not: [what, it, should, be]\n")

_NONE = ResourceLimits()


class DearPods(PricingModel):
    """Asks the more the more a pod asks for."""

    currency = "EUR"

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        return None

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        requests = pod.requests
        return (requests.get("cpu", 0) / 30_000 + requests.get("memory", 0) / 2**37) * ((end - start) / LATER)


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Everything that goes into a decision."""

    world: World
    memory: Memory
    settings: Settings

    @property
    def picture(self) -> Picture:
        return Picture(world=self.world, memory=self.memory, settings=self.settings, now=NOW, classes=REGISTRY)

    def decisions(self) -> list[Decision]:
        """Decide now, and some time later, when it counts what was remembered."""
        policy, memory, decisions = policy_of(self.settings), self.memory, []
        for now in (NOW, NOW + LATER):
            decision, memory, _ = decide(self.world, memory, policy, now)
            decisions.append(decision)
        return decisions


def policy_of(settings: Settings) -> Policy:
    """The policy of *settings*, with all that is installed."""
    return Strategies(REGISTRY, Faults(SteppedClock())).policy(settings)


def random_situation(seed: int) -> Situation:
    """The situation that belongs to *seed*."""
    dice = SeededDice(seed)
    bare = random_world(seed)
    nodes = tuple(_furnished_node(dice, node) for node in bare.nodes)
    running = tuple(_furnished_pod(dice, pod) for pod in bare.running)
    pending = tuple(tuple(_waiting(pod) for pod in pods) for pods in bare.pending)
    cluster = new_cluster(replace(bare, nodes=nodes, running=running, pending=pending))
    ids = [f"{dice.pick(('spot', 'base', 'gpu'))}-{number}" for number in range(3)]
    group_of = {node.name: dice.pick(ids) for node in nodes if dice.chance(85)}
    groups = tuple(_group(dice, id_, nodes, [node for node in nodes if group_of.get(node.name) == id_]) for id_ in ids)
    _put_daemon_sets(dice, cluster)
    _put_controllers(SeededDice(1000 + seed), cluster)
    _put_budgets(dice, cluster)
    _put_quota(dice, cluster)
    world = World(
        cluster=cluster,
        groups=groups,
        group_of=group_of,
        gpus={
            node.name: GpuConfig(label="disk", type="ssd", resource="example.com/fpga")
            for node in nodes
            if dice.chance(15)
        },
        group_gpus={
            id_: GpuConfig(label="disk", type="ssd", resource="example.com/fpga") for id_ in ids if dice.chance(15)
        },
        resource_limits={
            "one": ResourceLimits(maximum={"cpu": dice.number(20, 60) * 1000, "ssd": 2}) if dice.chance(30) else _NONE
        },
        balancing_ignored_labels={"other": frozenset(["rack"])} if dice.chance(50) else {},
        unreadable={"shed": "no answer within 60 s"} if dice.chance(20) else {},
        pricing={"one": DearPods(), "other": DearPods()} if dice.chance(80) else {},
        config_maps={CONFIG_MAP: {"priorities": dice.pick(_PRIORITIES)}} if dice.chance(70) else {},
    )
    settings, memory = _settings(dice), _memory(dice, nodes, groups, group_of)
    if dice.chance(50):
        # Something was learnt of the groups' nodes.
        _, memory, _ = decide(world, memory, policy_of(settings), NOW - timedelta(minutes=3))
    for name in memory.leaving.removals:
        _mark(cluster, cluster.nodes[name])
    return Situation(world=world, memory=_with_changes(dice, memory, groups), settings=_restrained(dice, settings))


def _with_changes(dice: Dice, memory: Memory, groups: Sequence[GroupFacts]) -> Memory:
    return replace(
        memory,
        cooldown=replace(
            memory.cooldown,
            groups={
                group.id: Changes(grown=NOW - timedelta(minutes=dice.number(1, 30)))
                for group in groups
                if dice.chance(30)
            },
        ),
        leaving=replace(
            memory.leaving,
            evictions=(Evictions(at=NOW - timedelta(minutes=dice.number(1, 90)), count=dice.number(1, 9)),),
        ),
    )


def _restrained(dice: Dice, settings: Settings) -> Settings:
    """Return *settings* with limits on removals that Cluster Autoscaler does not have."""
    restraints = {"delay_per_group": dice.chance(30), "disruption": Disruption.model_validate(dice.pick(_DISRUPTIONS))}
    return settings.model_copy(update={"scale_down": settings.scale_down.model_copy(update=restraints)})


def _furnished_node(dice: Dice, node: Node) -> Node:
    ready = Condition(type="Ready", status=str(dice.chance(90)), last_transition_time=EPOCH)
    born = NOW - timedelta(minutes=dice.pick((5, 60, 60, 60)))
    disabled = {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"} if dice.chance(5) else {}
    return changed(
        node,
        metadata=changed(node.metadata, creation_timestamp=born, annotations=disabled),
        spec=changed(node.spec, provider_id=f"cloud://{node.name}"),
        status=changed(node.status, conditions=(ready,)),
    )


def _furnished_pod(dice: Dice, pod: Pod) -> Pod:
    kind = dice.pick(("ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "DaemonSet", ""))
    owner = OwnerReference(kind=kind, name=f"{kind}-{dice.number(0, 1)}", uid=f"uid-{kind}", controller=True)
    metadata = changed(
        pod.metadata,
        owner_references=(owner,) if kind else (),
        annotations=dice.pick(_ANNOTATIONS),
        creation_timestamp=EPOCH,
    )
    return changed(pod, metadata=metadata)


def _waiting(pod: Pod) -> Pod:
    owner = OwnerReference(kind="ReplicaSet", name="waiting", uid="uid-waiting", api_version="apps/v1", controller=True)
    return changed(
        pod,
        metadata=changed(pod.metadata, owner_references=(owner,), creation_timestamp=EPOCH),
        status=changed(pod.status, conditions=(UNSCHEDULABLE,)),
    )


def _group(dice: Dice, id_: str, nodes: Sequence[Node], members: Sequence[Node]) -> GroupFacts:
    model = dice.pick(nodes)
    labels = {key: value for key, value in model.metadata.labels.items() if key != HOSTNAME}
    template = NodeTemplate(
        labels=labels,
        annotations={"cluster-autoscaler.kubernetes.io/hint": "kept", "note": "not kept"},
        taints=model.spec.taints,
        capacity=model.capacity,
        allocatable=model.allocatable,
        pods=(a_pod("proxy", namespace="kube-system", cpu="50m", owner="Node/x"),) if dice.chance(30) else (),
        csi_drivers={"disk.example.com": 2} if dice.chance(30) else {},
        zones=("zone-a", "zone-b") if len(members) == 1 else (),
    )
    machines = [Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in members]
    machines += [_machine(dice, f"cloud://{id_}/{number}") for number in range(dice.pick((0, 0, 1, 2)))]
    own = GroupOptions(
        scale_down_unneeded_time=timedelta(minutes=dice.pick((1, 10))),
        scale_down_utilization_threshold=dice.pick((0.5, 0.9)),
    )
    return GroupFacts(
        id=id_,
        provider=dice.pick(("one", "other")),
        min_size=dice.pick((0, 0, 1)),
        max_size=10,
        target_size=len(machines) + dice.pick((0, 0, 1)),
        instances=tuple(machines),
        template=template if dice.chance(90) else None,
        options=own,
        hourly_price=dice.pick((None, 0.5, 2.0)),
        atomic=dice.chance(20),
        error="the cloud is on fire" if dice.chance(5) else "",
    )


def _machine(dice: Dice, id_: str) -> Instance:
    error = InstanceError(error_class=ErrorClass.STOCK_OUT, code="NO_ROOM", message="none left", pool="zone-a/big")
    failed = dice.chance(20)
    return Instance(
        id=id_,
        state=InstanceState.CREATING if failed else dice.pick(list(InstanceState)),
        error=error if failed else None,
        zone="zone-a",
        instance_type="big",
    )


def _put_daemon_sets(dice: Dice, cluster: Cluster) -> None:
    for number in range(dice.number(0, 2)):
        spec = a_pod(cpu="150m", tolerations=(Toleration(operator="Exists"),)).spec
        critical = changed(spec, priority_class_name="system-node-critical" if dice.chance(30) else "")
        meta = ObjectMeta(name=f"DaemonSet-{number}", namespace="default", uid=f"uid-daemon-{number}")
        cluster.daemon_sets[meta.key] = DaemonSet(
            metadata=meta, spec=DaemonSetSpec(template=PodTemplate(spec=critical))
        )


def _put_controllers(dice: Dice, cluster: Cluster) -> None:
    """Let some kinds be seen, with most of the controllers that pods have."""
    if cluster.daemon_sets:
        cluster.controllers.see("DaemonSet")
    for kind in ("ReplicaSet", "StatefulSet", "Job"):
        if dice.chance(50):
            continue
        cluster.controllers.see(kind)
        for namespace, number in product(("default", "team-a", "team-b"), range(2)):
            name = ControllerName(namespace=namespace, name=f"{kind}-{number}")
            if dice.chance(95):
                cluster.controllers.put(kind, Controller(metadata=name, spec=ScaleSpec(replicas=dice.number(1, 8))))


def _put_budgets(dice: Dice, cluster: Cluster) -> None:
    for number in range(dice.number(0, 2)):
        meta = ObjectMeta(name=f"budget-{number}", namespace=dice.pick(("default", "team-a")))
        cluster.budgets[meta.key] = PodDisruptionBudget(
            metadata=meta,
            spec=BudgetSpec(selector=LabelSelector(match_labels={"app": dice.pick(("web", "db"))})),
            status=BudgetStatus(disruptions_allowed=dice.number(0, 1)),
        )


def _put_quota(dice: Dice, cluster: Cluster) -> None:
    cluster.quotas["few"] = CapacityQuota(
        metadata=ObjectMeta(name="few"),
        spec=CapacityQuotaSpec(
            selector=LabelSelector(match_labels={"rack": "1"}),
            limits=CapacityLimits(resources={"nodes": dice.number(2, 5), "cpu": "90"}),
        ),
    )


def _mark(cluster: Cluster, node: Node) -> None:
    mark = Taint(key=TO_BE_DELETED, value="0", effect="NoSchedule")
    cluster.put_node(changed(node, spec=changed(node.spec, taints=(*node.spec.taints, mark))))


def _memory(dice: Dice, nodes: Sequence[Node], groups: Sequence[GroupFacts], group_of: dict[str, str]) -> Memory:
    failure = {"error_class": ErrorClass.STOCK_OUT, "code": "NO_ROOM"}
    going = [node for node in nodes if node.name in group_of and dice.chance(16)]
    return Memory(
        unneeded=UnneededMemory(
            since={node.name: NOW - timedelta(minutes=dice.number(0, 20)) for node in nodes if dice.chance(60)},
            unremovable_until={node.name: NOW + timedelta(minutes=3) for node in nodes if dice.chance(10)},
        ),
        health=HealthMemory(
            unregistered_since={
                each.id: NOW - timedelta(minutes=dice.number(1, 30)) for group in groups for each in group.instances
            },
            backoffs={
                group.id: Backoff(
                    until=NOW + timedelta(minutes=dice.number(-5, 15)),
                    pause=timedelta(minutes=5),
                    failed_at=NOW - timedelta(minutes=4),
                    **failure,
                )
                for group in groups
                if dice.chance(15)
            },
        ),
        orders=OrderMemory(
            requests={
                group.id: ScaleUpRequest(at=NOW - timedelta(minutes=dice.number(1, 20)), count=2, ours=dice.chance(70))
                for group in groups
                if dice.chance(40)
            }
        ),
        leaving=RemovalMemory(
            removals={
                node.name: Removal(
                    group=group_of[node.name],
                    provider_id=node.spec.provider_id,
                    started=NOW - timedelta(minutes=1),
                    drains=dice.chance(90),
                )
                for node in going
            }
        ),
        cooldown=CooldownMemory(
            cluster=Changes(grown=NOW - timedelta(minutes=dice.number(1, 30)) if dice.chance(20) else None)
        ),
    )


def _settings(dice: Dice) -> Settings:
    text = f"""
apiVersion: nodewright.dev/v1
kind: Autoscaler
seed: {dice.number(0, 3)}
scaleUp:
  expanders: {dice.pick(_EXPANDERS)}
  optionsPerLoop: {dice.number(0, 1)}
  balanceSimilarGroups: {dice.pick(("true", "false"))}
  expendablePriorityCutoff: {dice.pick((-10, 5))}
scaleDown:
  utilizationThreshold: {dice.pick((0.5, 0.9))}
  unneededTime: {dice.pick(("1m", "10m", "12m"))}
  skipLocalStorage: {dice.pick(("true", "false"))}
  minReplicas: 2
limits: {{nodes: {{max: {dice.pick((0, 0, 9))}}}, capacityQuotas: {dice.pick(("true", "false"))}}}
groups:
  - match: "spot-*"
    scaleDown: {{unneededTime: 2m}}
  - match: "*-2"
    scaleDown: {{utilizationThreshold: 0.2}}
"""
    return load(text, classes=REGISTRY, complete=False).settings
