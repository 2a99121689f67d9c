from datetime import datetime, timedelta

import pytest
from nodewright.api import ErrorClass, InstanceError, InstanceState, Taint
from nodewright.testing import (
    EPOCH,
    SteppedClock,
    a_daemon_set,
    a_drain_context,
    a_failed_instance,
    a_group,
    a_node,
    a_pod,
    a_processor_context,
    a_simulation,
    a_template,
    an_expander_context,
    an_instance,
    an_option,
    keeping_apart,
    pods_like,
)


def test_a_pod_without_a_node_is_pending_and_marked_unschedulable() -> None:
    pod = a_pod("web", cpu="500m", memory="1Gi", requests={"nvidia.com/gpu": "1"})
    assert pod.key == "default/web"
    assert pod.marked_unschedulable
    assert pod.requests == {"cpu": 500, "memory": 1024**3, "nvidia.com/gpu": 1, "pods": 1}


@pytest.mark.parametrize("make", [lambda at: a_pod(created=at), lambda at: a_node(created=at), SteppedClock])
def test_a_time_without_a_zone_is_refused_where_it_is_written(make) -> None:
    with pytest.raises(ValueError, match="give it a time zone, such as UTC"):
        make(datetime(2030, 1, 1))


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


def test_a_failed_instance_was_ordered_and_will_not_come() -> None:
    failed = a_failed_instance(error_class=ErrorClass.QUOTA, code="TooMany", pool="eu-a/c5.large")
    assert failed.state is InstanceState.CREATING
    assert failed.error == InstanceError(error_class=ErrorClass.QUOTA, code="TooMany", pool="eu-a/c5.large")
    assert an_instance().error is None


def test_gpus_are_resources_of_pods_nodes_and_templates() -> None:
    found = (a_pod(gpus=1).requests, a_node(gpus=2).allocatable, a_template(gpus=3).capacity)
    assert [amounts["nvidia.com/gpu"] for amounts in found] == [1, 2, 3]
    assert "nvidia.com/gpu" not in a_pod().requests


def test_pods_that_keep_apart_are_not_placed_together() -> None:
    with a_simulation().fork() as trial:
        nodes = trial.add_nodes(a_group(), 2)
        placed = trial.place(pods_like(keeping_apart(a_pod()), 3))
        assert sorted(placed.values()) == sorted(nodes)


def test_nodes_that_are_added_to_a_simulation_come_with_daemon_sets() -> None:
    with a_simulation(daemon_sets=[a_daemon_set("logs", cpu="500m")]).fork() as trial:
        (node,) = trial.add_nodes(a_group(), 1)
        assert trial.free(node)["cpu"] == 3500


def test_contexts_have_what_they_are_given_and_else_an_empty_cluster() -> None:
    returning = pods_like(a_pod(), 2)
    context = a_processor_context(groups=[a_group("workers")], returning=[returning])
    assert ([group.id for group in context.groups], context.returning) == (["workers"], (returning,))
    assert not context.simulation.place(pods_like(a_pod(), 1))
    assert a_drain_context(budgets=["default/web"]).budgets == ("default/web",)
