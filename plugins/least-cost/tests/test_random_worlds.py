"""What least-cost pays against other expanders, through whole decisions in worlds made by chance."""

from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

import pytest
from msgspec.structs import replace as struct_replace
from nodewright.api import (
    Decision,
    GroupFacts,
    Instance,
    InstanceState,
    Node,
    NodeTemplate,
    Pod,
    PodSet,
    PricingModel,
    Reason,
    format_resource,
)
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.objects import DaemonSet, ObjectMeta
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.objects.selector import LabelSelector
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.scheduling import ClusterSimulation
from nodewright.strategies.expanders import LeastWaste
from nodewright.strategies.price import Price
from nodewright.testing import EPOCH, a_group, a_node, a_pod, a_template
from nodewright.testing.worlds import a_policy, a_world
from nodewright_least_cost.expander import LeastCost

NOW = EPOCH + timedelta(hours=1)
ZONES = ("a", "b", "c")
GPU = "nvidia.com/gpu"
KINDS = ("plain", "anti", "spread", "zone-spread", "zone-anti", "zone-affinity", "affinity")


class ByTheCpu(PricingModel):
    """Pods cost by their CPUs and memory; what nodes cost is known already."""

    def node_price(self, template, start, end):
        return None

    def pod_price(self, pod, start, end):
        return pod.requests["cpu"] / 1000 * 0.03 + pod.requests["memory"] / 1024**3 * 0.004


def some_groups(random):
    """Machine types, in one or all zones; small ones may be cheap for their size, and large ones dear, or not."""
    for number in range(random.randint(2, 4)):
        cpus = random.choice([2, 4, 8, 16])
        memory = cpus * random.choice([2, 4, 8])
        gpus = {GPU: "4"} if random.random() < 0.2 else {}
        price = cpus * random.uniform(0.03, 0.08) + (2.0 if gpus else 0.0)
        labels = {"pool": random.choice(["web", "batch"])}
        for zone in ZONES if random.random() < 0.4 else random.sample(ZONES, 1):
            template = a_template(
                cpu=str(cpus),
                memory=f"{memory}Gi",
                labels=labels,
                zone=zone,
                resources=gpus,
                instance_type=f"t{number}",
            )
            here = price * random.choice([1.0, 1.0, 1.1])
            yield a_group(f"group-{number}-{zone}", template=template, price=here, max_size=200)


def constrained(random, pod, kind):
    """Give *pod* the constraint that its kind is called after."""
    selector = LabelSelector(match_labels=pod.metadata.labels)
    key = ZONE if kind.startswith("zone-") else HOSTNAME
    terms = PodAffinity(required=(PodAffinityTerm(topology_key=key, label_selector=selector),))
    if kind.endswith("spread"):
        rule = TopologySpreadConstraint(
            topology_key=key, label_selector=selector, max_skew=random.choice([1, 1, 2, 5]), min_domains=None
        )
        return struct_replace(pod, spec=struct_replace(pod.spec, topology_spread_constraints=(rule,)))
    if kind.endswith("anti"):
        return struct_replace(pod, spec=struct_replace(pod.spec, affinity=Affinity(pod_anti_affinity=terms)))
    if kind.endswith("affinity"):
        return struct_replace(pod, spec=struct_replace(pod.spec, affinity=Affinity(pod_affinity=terms)))
    return pod


def some_pods(random, pools, kinds):
    for number in range(random.randint(1, 4)):
        kind = random.choice(kinds)
        fields = {
            "cpu": f"{random.randrange(200, 1700, 100)}m",
            "memory": f"{random.randrange(256, 3072, 128)}Mi",
            "owner": f"ReplicaSet/set-{number}",
            "labels": {"app": f"set-{number}"},
            "node_selector": {"pool": random.choice(pools)} if random.random() < 0.4 else None,
            "requests": {GPU: "1"} if random.random() < 0.1 else None,
        }
        rule = random.random()
        for index in range(random.randint(1, 12)):
            yield constrained(Random(rule), a_pod(f"set-{number}-{index}", **fields), kind)


def some_nodes(random, pods):
    """Nodes that are full, here and there with pods of the same kind: zones that hold others down."""
    if random.random() < 0.5:
        return [], []
    nodes = []
    for zone in random.sample(ZONES, random.randint(1, 3)):
        labels = {"pool": random.choice(["web", "batch"]), HOSTNAME: f"full-{zone}"}
        nodes.append(a_node(f"full-{zone}", zone=zone, cpu="1", memory="1Gi", labels=labels))
    running = [a_pod(f"filler-{node.name}", cpu="1", memory="1Gi", node=node.name, labels={}) for node in nodes]
    for node in nodes:
        for number, pod in enumerate(random.sample(pods, min(len(pods), random.randint(0, 2)))):
            running.append(
                a_pod(f"old-{node.name}-{number}", cpu="0", memory="0", node=node.name, labels=pod.metadata.labels)
            )
    return nodes, running


def an_agent(random):
    pod = a_pod("agent", cpu=f"{random.randrange(50, 300, 50)}m", memory="100Mi")
    template = PodTemplate(spec=pod.spec)
    return DaemonSet(metadata=ObjectMeta(name="agent", namespace="kube-system"), spec=DaemonSetSpec(template=template))


@dataclass(kw_only=True)
class Cloud:
    """A world that grows as decided: nodes join at once, and pods run where they were promised a place."""

    groups: list[GroupFacts]
    nodes: dict[str, list[Node]]
    pods: dict[str, Pod]
    agents: list[DaemonSet]

    def world(self) -> World:
        """The world as it is now."""
        groups = [
            replace(
                group,
                target_size=len(self.nodes[group.id]),
                instances=tuple(
                    Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in self.nodes[group.id]
                ),
            )
            for group in self.groups
        ]
        world = a_world(groups=groups, nodes=self.nodes, pods=self.pods.values(), daemon_sets=self.agents)
        return replace(world, pricing={"fake": ByTheCpu()})

    def grow(self, decision: Decision) -> None:
        """Add nodes, and put the pods that they were bought for onto them."""
        fresh: dict[str, list[str]] = {}
        for grow in decision.grow:
            template = next(group.template for group in self.groups if group.id == grow.group)
            for _ in range(grow.count):
                name = f"{grow.group}-{len(self.nodes[grow.group])}"
                node = a_node(name, labels={**template.labels, HOSTNAME: name})
                node = struct_replace(node, status=struct_replace(node.status, **_amounts(template)))
                self.nodes[grow.group].append(node)
                fresh.setdefault(grow.group, []).append(node.name)
                for each in self.agents:
                    agent = a_pod(f"agent-{node.name}", owner="DaemonSet/agent", node=node.name)
                    spec = struct_replace(each.pod.spec, node_name=node.name)
                    self.pods[agent.key] = struct_replace(agent, spec=spec)
        simulation = ClusterSimulation(self.world().cluster)
        waiting = [(grow.group, key) for grow in decision.grow for key in grow.pods]
        while waiting:
            before = len(waiting)
            for group, key in list(waiting):
                same = PodSet(pod=self.pods[key], keys=(key,))
                placed = simulation.place(same, on=fresh[group])
                if placed:
                    self._bind(key, placed[key])
                    waiting.remove((group, key))
            if len(waiting) == before:
                # First fit missed how these were to be packed: the promise counts.
                for group, key in waiting:
                    self._bind(key, fresh[group][-1])
                return

    def _bind(self, key: str, node: str) -> None:
        pod = self.pods[key]
        spec, status = struct_replace(pod.spec, node_name=node), struct_replace(pod.status, phase="Running")
        self.pods[key] = struct_replace(pod, spec=spec, status=status)


def _amounts(template: NodeTemplate) -> dict[str, dict[str, str]]:
    amounts = {name: format_resource(name, amount) for name, amount in template.allocatable.items()}
    return {"capacity": amounts, "allocatable": amounts}


def a_random_cloud(seed):
    """Make a cloud of which a loop, or a few, will serve all pods that can be."""
    random = Random(seed)
    groups = list(some_groups(random))
    pools = sorted({group.template.labels["pool"] for group in groups})
    agents = [an_agent(random)] if random.random() < 0.5 else []
    kinds = KINDS if seed % 2 else (KINDS[seed // 2 % len(KINDS)], "plain")
    pods = list(some_pods(random, pools, kinds))
    nodes, running = some_nodes(random, pods)
    return Cloud(
        groups=groups,
        nodes={"": nodes, **{group.id: [] for group in groups}},
        pods={pod.key: pod for pod in [*pods, *running]},
        agents=agents,
    )


def pay(expander, cloud, **config):
    """Decide until nothing grows any more; return how many pods have no place, and what the new nodes cost."""
    policy = a_policy(expanders={"expander": expander(expander.Config(**config))})
    price = {group.id: group.hourly_price for group in cloud.groups}
    cost = 0.0
    while True:
        decision, _, _ = decide(cloud.world(), Memory(), policy, NOW)
        if not decision.grow:
            break
        cost += sum(price[grow.group] * grow.count for grow in decision.grow)
        cloud.grow(decision)
    assert not policy.faults.counts
    return sum(verdict.reason is not Reason.FITS for verdict in decision.pods.values()), cost


@pytest.mark.parametrize("tens", range(20))
def test_least_cost_is_never_dearer_than_least_waste_or_price(tens) -> None:
    for seed in range(tens * 10, tens * 10 + 10):
        left, cost = pay(LeastCost, a_random_cloud(seed))
        for other in (LeastWaste, Price):
            other_left, other_cost = pay(other, a_random_cloud(seed))
            assert left <= other_left, f"world {seed}, {other.__name__}"
            if left == other_left:
                assert cost <= other_cost + 1e-9, f"world {seed}, {other.__name__}"
