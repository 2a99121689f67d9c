"""Whether a decision to grow is right: every step of it is held against the oracle."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any

import pytest
from msgspec import structs
from nodewright.api import Decision, GroupFacts, GroupOptions, Instance, InstanceState, NodeTemplate, Reason
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.scaleup import ScaleUp, ScaleUpPlan
from nodewright.decision.scaleup.expansion import Expansion
from nodewright.decision.world import World as Seen
from nodewright.objects import CSINode, DaemonSet, Node, ObjectMeta, OwnerReference, Pod
from nodewright.objects.meta import Condition
from nodewright.objects.node import HOSTNAME
from nodewright.objects.pod import PodStatus
from nodewright.objects.volume import CSINodeSpec, DriverLimit, NodeDriver
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.testing.builders import UNSCHEDULABLE
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy

from .filters.node_affinity import wants
from .filters.taint_toleration import repels
from .lives import new_cluster
from .worlds import World, random_world

NOW = EPOCH + timedelta(hours=1)
_READY = (Condition(type="Ready", status="True", last_transition_time=EPOCH),)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A world with groups that may grow, and how far."""

    world: World
    groups: tuple[GroupFacts, ...]
    group_of: dict[str, str]
    daemon_sets: tuple[DaemonSet, ...]
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class Step:
    """What was done in simulation and stood at the end: nodes added or taken out, or pods placed."""

    added: Sequence[str] = ()
    taken_out: str = ""
    placed: Sequence[tuple[str, str]] = ()


@dataclass(kw_only=True)
class Course:
    """How a decision came about."""

    steps: list[Step] = field(default_factory=list)
    #: The groups as they were in the end, with the templates that were gone by.
    groups: dict[str, GroupFacts] = field(default_factory=dict)
    #: Group by node that was ordered.
    home: dict[str, str] = field(default_factory=dict)


def random_case(seed: int) -> Case:
    """The case that belongs to *seed*."""
    random = Random(seed)
    whole = random_world(seed)
    # Few nodes that are there make it worth while to grow.
    plain = replace(whole, nodes=whole.nodes[: random.choice((1, 1, 2, 8))])
    names = [f"group-{letter}" for letter in "abcd"[: random.randint(1, 4)]]
    group_of = {node.name: random.choice(names) for node in plain.nodes if random.random() < 0.3}
    world = replace(
        plain,
        nodes=tuple(_ready(node) for node in plain.nodes),
        running=tuple(_of_controller(pod, "running") for pod in plain.running),
        pending=tuple(
            tuple(_waiting(pod, f"kind-{number}") for pod in pods) for number, pods in enumerate(plain.pending)
        ),
    )
    return Case(
        world=world,
        groups=tuple(_group(random, name, world, random.choice(whole.nodes), group_of) for name in names),
        group_of=group_of,
        daemon_sets=tuple(_daemon_set(random, number, world) for number in range(random.choice((0, 0, 1, 2)))),
        settings=_settings(random, world),
    )


def faults(case: Case) -> Iterator[str]:
    """What is wrong with the decision about *case*, one sentence each."""
    cluster = _cluster(case)
    before = _state(cluster)
    decision, course = _decided(case, cluster)
    if _state(cluster) != before:
        yield "the cluster is not as it was before"
    if _decided(case, cluster)[0] != decision:
        yield "the second time, the decision is another one"
    if _decided(case, _cluster(case))[0] != decision:
        yield "for an equal world, the decision is another one"
    checker = _Checker(case, decision, course)
    yield from checker.replayed()
    yield from checker.too_much()
    yield from checker.idle()
    yield from checker.missed()


def decided(case: Case) -> Decision:
    """The decision about *case*."""
    return _decided(case, _cluster(case))[0]


class _Checker:
    """Goes through a decision with the oracle."""

    def __init__(self, case: Case, decision: Decision, course: Course) -> None:
        self._case = case
        self._decision = decision
        self._course = course
        self._pending = {pod.key: pod for pods in case.world.pending for pod in pods}
        self._oracle = case.world.oracle()
        self._homes: dict[str, str] = {}
        self._numbers = count()

    def replayed(self) -> Iterator[str]:
        """What the oracle has against the placement, step by step."""
        for step in self._course.steps:
            for name in step.added:
                self._add(self._course.groups[self._course.home[name]], name)
            if step.taken_out:
                self._oracle.take_out(step.taken_out)
            for key, name in step.placed:
                refusal = self._oracle.refusal(self._pending[key], name)
                if refusal is not None:
                    yield f"{key} is placed on {name}, but {refusal.filter} says {refusal.reasons}"
                self._oracle.bind(self._pending[key], name)
                self._homes[key] = name
        # Whoever does not want an agent near keeps it off the new node; room is kept for it all the same.
        yield from (broken for broken in self._oracle.violations() if "/agent" not in broken)
        promised = {
            key for key, verdict in self._decision.pods.items() if verdict.reason in (Reason.FITS, Reason.HELPED)
        }
        for key in sorted(promised ^ self._homes.keys()):
            yield f"{key} is told {self._decision.pods.get(key)}, and runs on {self._homes.get(key)}"

    def too_much(self) -> Iterator[str]:
        """Which limits are broken."""
        for grow in self._decision.grow:
            facts = self._course.groups[grow.group]
            most = self._case.settings.scale_up.max_nodes_per_scale_up
            if grow.from_size + grow.count > facts.max_size:
                yield f"{grow.group} grows to {grow.from_size + grow.count}, past {facts.max_size}"
            # For groups that are used whole, or along with others, it is about something else.
            whole = facts.options.zero_or_max_node_scaling
            if 0 < most < grow.count and not whole and not self._case.settings.scale_up.balance_similar_groups:
                yield f"{grow.group} grows by {grow.count}, though it may by {most} only"
        for name, excess in self._excess([]).items():
            if excess > 0 and self._decision.grow:
                yield f"there is {excess} more of {name} than there may be"

    def idle(self) -> Iterator[str]:
        """Which nodes are ordered for nothing."""
        used = Counter(self._course.home[name] for name in set(self._homes.values()) if name in self._course.home)
        for grow in self._decision.grow:
            whole = self._course.groups[grow.group].options.zero_or_max_node_scaling
            if whole and grow.from_size + grow.count != self._course.groups[grow.group].max_size:
                yield f"{grow.group} is used whole, but grows by {grow.count} only"
            if not used[grow.group] or (used[grow.group] != grow.count and not whole):
                yield f"{grow.group} grows by {grow.count} nodes, of which {used[grow.group]} are used"

    def missed(self) -> Iterator[str]:
        """Which pods wait that one more node would have helped, or a node that is there."""
        grown = {grow.group: grow.count for grow in self._decision.grow}
        waiting = [tuple(pod for pod in pods if pod.key not in self._homes) for pods in self._case.world.pending]
        for pods in filter(None, waiting):
            pod = pods[0]
            for name in self._oracle.names:
                if self._oracle.refusal(pod, name) is None:
                    yield f"{pod.key} ({self._decision.pods.get(pod.key)}) would fit on {name}"
            for facts in self._course.groups.values():
                if self._may_grow(facts, grown.get(facts.id, 0)):
                    name = f"one-more-{next(self._numbers)}"
                    self._add(facts, name)
                    if self._oracle.refusal(pod, name) is None:
                        yield f"{pod.key} ({self._decision.pods.get(pod.key)}) would fit on a new node of {facts.id}"
                    self._oracle.take_out(name)

    def _may_grow(self, facts: GroupFacts, grown: int) -> bool:
        most = self._case.settings.scale_up.max_nodes_per_scale_up
        if facts.target_size >= facts.max_size or (most and grown >= most):
            return False
        number = facts.max_size - facts.target_size if facts.options.zero_or_max_node_scaling else 1
        return all(excess <= 0 for excess in self._excess([facts] * number).values())

    def _excess(self, more: Sequence[GroupFacts]) -> dict[str, int]:
        """How far the cluster would be over its limits with one more node of each group in *more*."""
        limits = self._case.settings.limits
        maxima = {"nodes": limits.nodes.max, "cpu": limits.cpu.max, "memory": limits.memory.max}
        sizes = [dict(node.capacity) for node in self._case.world.nodes]
        grown = [self._course.groups[grow.group] for grow in self._decision.grow for _ in range(grow.count)]
        sizes += [dict(facts.template.capacity) for facts in (*grown, *more) if facts.template]
        found = {
            "nodes": len(sizes),
            "cpu": sum(-(-size["cpu"] // 1000) * 1000 for size in sizes),
            "memory": sum(size["memory"] for size in sizes),
        }
        return {name: found[name] - most for name, most in maxima.items() if most}

    def _add(self, facts: GroupFacts, name: str) -> None:
        """Add a new node of a group, with the pods that come with it."""
        template = facts.template
        assert template is not None
        node = Node(
            metadata=ObjectMeta(name=name, labels={**template.labels, HOSTNAME: name}),
            spec=structs.replace(Node().spec, taints=template.taints, unschedulable=template.unschedulable),
            status=structs.replace(Node().status, allocatable=_written(template.allocatable)),
        )
        drivers = tuple(
            NodeDriver(name=driver, allocatable=DriverLimit(count=most))
            for driver, most in template.csi_drivers.items()
        )
        pods = list(template.pods)
        if not template.from_node:
            pods += [
                each.pod for each in self._case.daemon_sets if not repels(node, each.pod) and wants(each.pod, node)
            ]
        self._oracle.add(node, pods, CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=drivers)))


def _decided(case: Case, cluster: Cluster) -> tuple[Decision, Course]:
    seen = Seen(cluster=cluster, groups=case.groups, group_of=case.group_of)
    with _watched(cluster) as course:
        decision, _, _ = decide(seen, Memory(), a_policy(case.settings), NOW)
    return decision, course


@contextmanager
def _watched(cluster: Cluster) -> Iterator[Course]:
    """Follow what is done to *cluster* in forks; what is taken back is forgotten."""
    course = Course()
    steps: list[Step] = []

    def follow(name: str, step: Any) -> None:
        original = getattr(cluster, name)

        def followed(*args: Any) -> None:
            original(*args)
            steps.append(step(*args))
            cluster._journal.note(steps.pop)

        patch.setattr(cluster, name, followed)

    def serve(self: Expansion, sets: Any) -> None:
        original_serve(self, sets)
        course.steps, course.groups, course.home = list(steps), dict(self._groups), dict(self._home)

    def plan(self: ScaleUp, *given: Any, **more: Any) -> ScaleUpPlan:
        found = original_plan(self, *given, **more)
        course.steps = course.steps or list(steps)
        return found

    original_serve, original_plan = Expansion.serve, ScaleUp.plan
    with pytest.MonkeyPatch.context() as patch:
        follow("add_nodes", lambda names, *_: Step(added=tuple(names)))
        follow("hide_node", lambda name: Step(taken_out=name))
        follow(
            "take",
            lambda _, keys, at: Step(
                placed=[(key, cluster.table.names[row]) for key, row in zip(keys, at.tolist(), strict=True)]
            ),
        )
        patch.setattr(Expansion, "serve", serve)
        patch.setattr(ScaleUp, "plan", plan)
        yield course


def _cluster(case: Case) -> Cluster:
    cluster = new_cluster(case.world)
    cluster.daemon_sets.update({each.metadata.key: each for each in case.daemon_sets})
    return cluster


def _state(cluster: Cluster) -> object:
    """All that a decision could leave behind."""
    table = cluster.table
    return (
        list(table.names),
        dict(table.rows),
        table.size,
        table.class_of[: table.size].tolist(),
        {
            name: table.free[index, : table.size].tolist()
            for name, index in table.dimensions.items()
            if table.free[index].any()
        },
        {each.index: each.population for each in cluster.pod_classes.known if each.population},
        {
            each.index: cluster.tally.of(each).tolist()[: table.size]
            for each in cluster.pod_classes.known
            if each.population
        },
        {name: pod.node for name, pod in cluster.pods.items()},
        list(cluster.pending),
        len(cluster._guests),
        dict(cluster._companions),
        {each.index: sorted(at) for each, at in cluster.storage.attachments.homes()},
    )


def _group(random: Random, name: str, world: World, like: Node, group_of: dict[str, str]) -> GroupFacts:
    members = [node for node in world.nodes if group_of.get(node.name) == name]
    room = random.choice((1, 2, 3, 5, 10))
    whole = random.random() < 0.1
    return GroupFacts(
        id=name,
        provider="fake",
        min_size=0,
        max_size=len(members) + room,
        target_size=len(members),
        instances=tuple(Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in members),
        template=_template(random, like, world),
        options=GroupOptions(zero_or_max_node_scaling=whole),
    )


def _template(random: Random, like: Node, world: World) -> NodeTemplate:
    small = {"cpu": min(like.allocatable["cpu"], 2000), "pods": 2} if random.random() < 0.5 else {}
    agents = [_agent(pod) for pod in world.running[:1] if random.random() < 0.15]
    return NodeTemplate(
        labels={key: value for key, value in like.metadata.labels.items() if key != HOSTNAME},
        taints=like.spec.taints,
        unschedulable=like.spec.unschedulable and random.random() < 0.2,
        capacity=like.capacity,
        allocatable={**like.allocatable, **small},
        pods=tuple(agents),
        csi_drivers={"disk.example.com": 2} if random.random() < 0.2 else {},
    )


def _daemon_set(random: Random, number: int, world: World) -> DaemonSet:
    kind = random.choice([*world.running, *(pods[0] for pods in world.pending)])
    spec = structs.replace(kind.spec, node_name="", affinity=None, topology_spread_constraints=(), volumes=())
    labels = kind.metadata.labels if random.random() < 0.3 else {"app": "agent"}
    return DaemonSet(
        metadata=ObjectMeta(name=f"agent-{number}", namespace="default", uid=f"uid-agent-{number}"),
        spec=DaemonSetSpec(template=PodTemplate(metadata=ObjectMeta(labels=labels), spec=spec)),
    )


def _settings(random: Random, world: World) -> Settings:
    nodes = len(world.nodes)
    cores = sum(-(-node.capacity["cpu"] // 1000) for node in world.nodes)
    memory = sum(node.capacity["memory"] for node in world.nodes)
    limits: dict[str, Any] = {}
    if random.random() < 0.2:
        limits["nodes"] = {"max": nodes + random.randint(1, 6)}
    if random.random() < 0.4:
        limits["cpu"] = {"max": cores + random.randint(2, 20)}
    if random.random() < 0.1:
        limits["memory"] = {"max": memory + random.randint(1, 64) * 2**30}
    scale_up: dict[str, Any] = {"balanceSimilarGroups": random.random() < 0.4}
    if random.random() < 0.2:
        scale_up["maxNodesPerScaleUp"] = random.randint(1, 3)
    return Settings.model_validate({"limits": limits, "scaleUp": scale_up})


def _ready(node: Node) -> Node:
    spec = structs.replace(node.spec, provider_id=f"fake://{node.name}")
    return structs.replace(node, spec=spec, status=structs.replace(node.status, conditions=_READY))


def _waiting(pod: Pod, kind: str) -> Pod:
    return structs.replace(_of_controller(pod, kind), status=PodStatus(phase="Pending", conditions=(UNSCHEDULABLE,)))


def _of_controller(pod: Pod, name: str) -> Pod:
    owner = OwnerReference(kind="ReplicaSet", name=name, uid=f"uid-of-{name}", controller=True)
    meta = structs.replace(pod.metadata, owner_references=(owner,), creation_timestamp=EPOCH)
    return structs.replace(pod, metadata=meta)


def _agent(like: Pod) -> Pod:
    """A static pod."""
    meta = ObjectMeta(name="agent", namespace="kube-system", uid="uid-agent", labels={"app": "agent"})
    spec = structs.replace(like.spec, node_name="", affinity=None, topology_spread_constraints=(), volumes=())
    return Pod(metadata=meta, spec=spec, status=PodStatus(phase="Running"))


def _written(resources: Any) -> dict[str, Any]:
    return {name: f"{amount}m" if name == "cpu" else amount for name, amount in resources.items()}
