from datetime import timedelta

from nodewright.api import Taint
from nodewright.testing import EPOCH, a_group, a_node, a_pod, an_expander_context, an_option, pods_like


def test_a_pod_without_a_node_is_pending_and_marked_unschedulable() -> None:
    pod = a_pod("web", cpu="500m", memory="1Gi", requests={"nvidia.com/gpu": "1"})
    assert pod.key == "default/web"
    assert pod.marked_unschedulable
    assert pod.requests == {"cpu": 500, "memory": 1024**3, "nvidia.com/gpu": 1, "pods": 1}


def test_a_pod_on_a_node_runs_there() -> None:
    pod = a_pod(node="node-1", owner="DaemonSet/agent", created=EPOCH + timedelta(minutes=1))
    assert (pod.spec.node_name, pod.status.phase, pod.marked_unschedulable) == ("node-1", "Running", False)
    assert pod.is_daemon


def test_a_pod_without_owner_belongs_to_nobody() -> None:
    assert a_pod(owner="").metadata.controller is None


def test_a_node_is_ready_and_offers_all_it_has() -> None:
    node = a_node("n", cpu="2", memory="4Gi", pods=10, zone="eu-a", taints=[Taint(key="spot")])
    assert node.ready
    assert node.allocatable == {"cpu": 2000, "memory": 4 * 1024**3, "pods": 10}
    assert node.metadata.labels == {"topology.kubernetes.io/zone": "eu-a"}
    assert node.spec.provider_id == "fake://n"
    assert not a_node(ready=False).ready


def test_a_group_has_as_many_running_machines_as_its_size() -> None:
    group = a_group("spot-a", size=2, max_size=5, price=0.12, zone="eu-a", labels={"team": "web"})
    assert [instance.id for instance in group.instances] == ["fake://spot-a-0", "fake://spot-a-1"]
    assert (group.target_size, group.max_size, group.hourly_price) == (2, 5, 0.12)
    assert group.template is not None
    assert group.template.labels == {"topology.kubernetes.io/zone": "eu-a", "team": "web"}


def test_an_option_helps_so_many_pods_or_the_given_ones() -> None:
    assert an_option("spot-a", nodes=2, pods=3).pod_count == 3
    option = an_option(a_group("spot-a"), pods=[pods_like(a_pod("web", cpu="1"), 2), pods_like(a_pod("db"), 1)])
    assert option.pods[0].keys == ("default/web-0", "default/web-1")
    assert (option.group.id, option.pod_count, option.requested("cpu")) == ("spot-a", 3, 2100)


def test_chance_in_an_expander_context_is_repeatable() -> None:
    assert an_expander_context(seed=7).random.random() == an_expander_context(seed=7).random.random()
