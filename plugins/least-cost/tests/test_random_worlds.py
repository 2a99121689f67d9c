"""What least-cost pays against other expanders, through whole decisions on worlds made by chance."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from nodewright.api import PricingModel, Reason
from nodewright.decide import decide
from nodewright.memory import Memory
from nodewright.objects import DaemonSet, ObjectMeta
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.strategies.least_waste import LeastWaste
from nodewright.strategies.price import Price
from nodewright.testing import EPOCH, a_group, a_pod, a_template
from nodewright.testing.worlds import a_policy, a_world
from nodewright_least_cost.expander import LeastCost

NOW = EPOCH + timedelta(hours=1)


class ByTheCpu(PricingModel):
    """Pods cost by their CPUs and memory; what nodes cost is known already."""

    def node_price(self, template, start, end):
        return None

    def pod_price(self, pod, start, end):
        return pod.requests["cpu"] / 1000 * 0.03 + pod.requests["memory"] / 1024**3 * 0.004


def some_groups(random):
    for number in range(random.randint(2, 4)):
        cpus = random.choice([2, 4, 8, 16])
        memory = cpus * random.choice([2, 4, 8])
        template = a_template(cpu=str(cpus), memory=f"{memory}Gi", labels={"pool": random.choice(["web", "batch"])})
        yield a_group(f"group-{number}", template=template, price=cpus * random.uniform(0.03, 0.08), max_size=200)


def some_pods(random, pools):
    for number in range(random.randint(1, 4)):
        fields = {
            "cpu": f"{random.randrange(200, 1700, 100)}m",
            "memory": f"{random.randrange(256, 3072, 128)}Mi",
            "owner": f"ReplicaSet/set-{number}",
            "node_selector": {"pool": random.choice(pools)} if random.random() < 0.4 else None,
        }
        for index in range(random.randint(1, 12)):
            yield a_pod(f"set-{number}-{index}", **fields)


def an_agent(random):
    pod = a_pod("agent", cpu=f"{random.randrange(50, 300, 50)}m", memory="100Mi")
    template = PodTemplate(spec=pod.spec)
    return DaemonSet(metadata=ObjectMeta(name="agent", namespace="kube-system"), spec=DaemonSetSpec(template=template))


def a_random_world(seed):
    random = Random(seed)
    groups = list(some_groups(random))
    pools = sorted({group.template.labels["pool"] for group in groups})
    agents = [an_agent(random)] if random.random() < 0.5 else []
    return groups, list(some_pods(random, pools)), agents


def pay(expander, groups, pods, agents):
    """Decide until all pods have a place, and return what their nodes cost."""
    policy = a_policy(expanders={"expander": expander(expander.Config())})
    price = {group.id: group.hourly_price for group in groups}
    bought = Counter()
    while pods:
        world = replace(a_world(groups=groups, pods=pods, daemon_sets=agents), pricing={"fake": ByTheCpu()})
        decision, _ = decide(world, Memory(), policy, NOW)
        assert decision.grow, "there is a group for every pod"
        bought.update({grow.group: grow.count for grow in decision.grow})
        helped = {key for key, verdict in decision.pods.items() if verdict.reason is Reason.HELPED}
        pods = [pod for pod in pods if pod.key not in helped]
    assert not policy.faults.counts
    return sum(price[group] * count for group, count in bought.items())


@pytest.mark.parametrize("tens", range(20))
def test_least_cost_is_never_dearer_than_least_waste_or_price(tens):
    for seed in range(tens * 10, tens * 10 + 10):
        world = a_random_world(seed)
        cost = pay(LeastCost, *world)
        assert cost <= pay(LeastWaste, *world) + 1e-9, f"world {seed}"
        assert cost <= pay(Price, *world) + 1e-9, f"world {seed}"
