"""Metrics of the cluster, its groups and its costs."""

from dataclasses import replace
from datetime import timedelta

from msgspec.structs import replace as with_fields
from nodewright.api import (
    Decision,
    ErrorClass,
    Instance,
    InstanceError,
    InstanceState,
    Pause,
    PricingModel,
    Reason,
    Taint,
    TemplateDifference,
    Verdict,
)
from nodewright.config.document import load
from nodewright.decision.memory import Backoff, HealthMemory, KnownTemplate, Memory, TemplateMemory
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_world

CA = "cluster_autoscaler_"
QUIET = Decision(at=EPOCH)
LATER = EPOCH + timedelta(hours=1)


def settings(text):
    return load(f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake]\n{text}").settings


PER_GROUP = settings("metrics: {perGroup: true}")


def test_nodes_and_machines_are_counted_by_state(watcher) -> None:
    nodes = [a_node("a-0"), a_node("young", ready=False), a_node("old", ready=False, created=EPOCH - timedelta(1))]
    machines = [Instance(id=f"fake://{node.name}", state=InstanceState.RUNNING) for node in nodes]
    machines.append(Instance(id="fake://new", state=InstanceState.CREATING))
    group = replace(a_group("a", size=4), instances=tuple(machines))
    watcher.note(QUIET, world=a_world(groups=[group], nodes={"a": nodes, "": [a_node("stranger")]}))
    assert watcher.of(CA + "nodes_count") == {
        "state=ready": 2,
        "state=unready": 1,
        "state=notStarted": 1,
        "state=suspended": 0,
        "state=unregistered": 1,
        "state=longUnregistered": 0,
    }
    found = watcher.of(CA + "node_groups_count")
    assert found == {"node_group_type=autoscaled": 1, "node_group_type=autoprovisioned": 0}


def test_cores_and_memory_are_those_of_nodes_that_stay(watcher) -> None:
    going = a_node("going", taints=[Taint(key="ToBeDeletedByClusterAutoscaler")])
    watcher.note(QUIET, world=a_world(nodes={"": [a_node("n", cpu="3500m", memory="2Gi"), going]}))
    assert watcher.of(CA + "cluster_cpu_current_cores") == {"": 4}
    assert watcher.of(CA + "cluster_memory_current_bytes") == {"": 2 * 1024**3}


def test_limits_are_those_of_the_configuration_and_of_the_groups(watcher) -> None:
    world = a_world(groups=[a_group("a", max_size=7), a_group("b", max_size=5)])
    watcher.note(QUIET, world=world)
    assert watcher.of(CA + "max_nodes_count") == {"": 12}
    limited = settings("limits: {nodes: {max: 10}, cpu: {min: 8, max: 100}, memory: {max: 1Gi}}")
    watcher.note(QUIET, world=world, settings=limited)
    assert watcher.of(CA + "max_nodes_count") == {"": 10}
    assert watcher.of(CA + "cpu_limits_cores") == {"direction=minimum": 8, "direction=maximum": 100}
    assert watcher.of(CA + "memory_limits_bytes") == {"direction=minimum": 0, "direction=maximum": 1024**3}


def test_taints_are_counted_by_type_and_unknown_ones_as_other(watcher) -> None:
    keys = [
        "node.kubernetes.io/not-ready",
        "ToBeDeletedByClusterAutoscaler",
        "ignore-taint.cluster-autoscaler.kubernetes.io/x",
        "startup-taint.cluster-autoscaler.kubernetes.io/x",
        "example.com/starting",
        "status-taint.cluster-autoscaler.kubernetes.io/x",
        "example.com/state",
        "team",
        "example.com/own",
    ]
    node = a_node("n", taints=[Taint(key=key) for key in keys])
    told = settings("templates: {startupTaints: [example.com/starting], statusTaints: [example.com/state]}")
    watcher.note(QUIET, world=a_world(nodes={"": [node]}), settings=told)
    assert watcher.of(CA + "node_taints_count") == {
        "type=node.kubernetes.io/not-ready": 1,
        "type=ToBeDeletedByClusterAutoscaler": 1,
        "type=ignore-taint.cluster-autoscaler.kubernetes.io/": 1,
        "type=startup-taint": 2,
        "type=status-taint": 2,
        "type=other": 2,
    }
    watcher.note(QUIET)
    assert set(watcher.of(CA + "node_taints_count").values()) == {0}


def test_pods_without_a_node_are_counted_by_what_their_scheduler_said_and_by_verdict(watcher) -> None:
    untried = a_pod("untried")
    untried = with_fields(untried, status=with_fields(untried.status, conditions=()))
    bound = a_pod("bound", node="n")
    world = a_world(nodes={"": [a_node("n")]}, pods=[a_pod("web-1"), a_pod("web-2"), untried, bound])
    verdicts = {f"default/web-{number}": Verdict(reason=Reason.NO_GROUP_FITS) for number in (1, 2)}
    watcher.note(Decision(at=EPOCH, pods=verdicts), world=world)
    found = watcher.of(CA + "unschedulable_pods_count")
    assert (found["type=unschedulable"], found["type=scheduler_unprocessed"]) == (2, 0)
    assert watcher.of("nodewright_pending_pods") == {"reason=NoGroupFits": 2}
    bypassed = settings("scaleUp: {bypassedSchedulers: [default-scheduler]}")
    watcher.note(QUIET, world=world, settings=bypassed)
    assert watcher.of(CA + "unschedulable_pods_count")["type=scheduler_unprocessed"] == 1


def test_a_cluster_with_too_many_unready_nodes_is_not_safe_to_autoscale(watcher) -> None:
    watcher.note(QUIET)
    assert watcher.of(CA + "cluster_safe_to_autoscale") == {"": 1}
    watcher.note(replace(QUIET, halted=Verdict(reason=Reason.SIZES_CORRECTED)))
    assert watcher.of(CA + "cluster_safe_to_autoscale") == {"": 1}
    watcher.note(replace(QUIET, halted=Verdict(reason=Reason.CLUSTER_UNHEALTHY)))
    assert watcher.of(CA + "cluster_safe_to_autoscale") == {"": 0}


def test_groups_have_series_of_their_own_if_asked_for(watcher) -> None:
    world = a_world(groups=[a_group("well", size=2, min_size=1), replace(a_group("ill"), error="no answer")])
    backoff = Backoff(
        until=LATER, pause=timedelta(1), failed_at=EPOCH, error_class=ErrorClass.STOCK_OUT, code="ICE", pool=""
    )
    difference = TemplateDifference(group="well", kind="label", name="x", promised="1", real="2")
    memory = Memory(
        health=HealthMemory(backoffs={"well": backoff}),
        learnt=TemplateMemory(templates={"well": KnownTemplate(differences=(difference,))}),
    )
    watcher.note(QUIET, memory, world)
    assert not [key for key in watcher.shown() if "group=" in key]
    assert watcher.of("nodewright_groups_with_template_differences") == {"": 1}
    watcher.note(QUIET, memory, world, PER_GROUP)
    assert watcher.of(CA + "node_group_min_count") == {"node_group=well": 1, "node_group=ill": 0}
    assert watcher.of(CA + "node_group_max_count") == {"node_group=well": 10, "node_group=ill": 10}
    assert watcher.of(CA + "node_group_target_count") == {"node_group=well": 2, "node_group=ill": 0}
    assert watcher.of(CA + "node_group_healthiness") == {"node_group=well": 1, "node_group=ill": 0}
    assert watcher.of(CA + "node_group_backoff_status") == {
        "node_group=well,reason=ICE": 1,
        "node_group=ill,reason=": 0,
    }
    assert watcher.of("nodewright_template_differences") == {"group=well": 1}
    # The back-off has ended but is still in memory.
    watcher.note(replace(QUIET, at=LATER), memory, world, PER_GROUP)
    assert watcher.of(CA + "node_group_backoff_status")["node_group=well,reason="] == 0


def test_a_group_whose_cloud_asked_for_fewer_orders_shows_that_in_place_of_a_back_off(watcher) -> None:
    memory = Memory(health=HealthMemory(respites={"a": {"grow": LATER}, "b": {"delete-instances": LATER}}))
    watcher.note(QUIET, memory, a_world(groups=[a_group("a"), a_group("b")]), PER_GROUP)
    assert watcher.of(CA + "node_group_backoff_status") == {
        "node_group=a,reason=throttled": 1,
        "node_group=b,reason=": 0,
    }


class Euros(PricingModel):
    currency = "EUR"

    def node_price(self, template, start, end):
        return None

    def pod_price(self, pod, start, end):
        return None


def test_cost_is_that_of_machines_that_are_there_or_made_and_what_has_no_price_is_counted_apart(watcher) -> None:
    machines = [
        Instance(id="fake://1", state=InstanceState.RUNNING),
        Instance(id="fake://2", state=InstanceState.CREATING),
        Instance(id="fake://3", state=InstanceState.DELETING),
        Instance(
            id="fake://4",
            state=InstanceState.CREATING,
            error=InstanceError(error_class=ErrorClass.STOCK_OUT, code="ICE"),
        ),
    ]
    groups = [
        a_group("a", price=0.5, instances=machines),
        a_group("b", price=2.0, size=3),
        a_group("c", size=4),
        a_group("d", size=1, provider="other"),
    ]
    world = replace(a_world(groups=groups), pricing={"fake": Euros()})
    watcher.note(QUIET, world=world)
    assert watcher.of("nodewright_cost_per_hour") == {"currency=EUR,provider=fake": 7.0}
    assert watcher.of("nodewright_unpriced_machines") == {"provider=fake": 4, "provider=other": 1}
    assert watcher.of("nodewright_node_group_cost_per_hour") == {}
    watcher.note(QUIET, world=world, settings=PER_GROUP)
    found = watcher.of("nodewright_node_group_cost_per_hour")
    assert found == {"currency=EUR,node_group=a": 1.0, "currency=EUR,node_group=b": 6.0}


def test_groups_that_are_paused_are_counted_by_provider(watcher) -> None:
    groups = [replace(a_group(name), pause=Pause(why="painted")) for name in "ab"]
    watcher.note(QUIET, world=a_world(groups=[*groups, a_group("c"), a_group("d", provider="other")]))
    assert watcher.of("nodewright_paused_groups") == {"provider=fake": 2, "provider=other": 0}


def test_stopped_machines_cost_nothing(watcher) -> None:
    machines = [Instance(id="i-1", state=state) for state in (InstanceState.RUNNING, InstanceState.STOPPED)]
    watcher.note(QUIET, world=a_world(groups=[a_group("a", instances=machines)]))
    assert watcher.of("nodewright_unpriced_machines") == {"provider=fake": 1}


def test_objects_held_in_memory_are_counted(watcher) -> None:
    pods = [a_pod("web-1"), a_pod("web-2"), a_pod("bound", node="n")]
    watcher.note(QUIET, world=a_world(nodes={"": [a_node("n")]}, pods=pods))
    found = watcher.of("nodewright_cluster_objects")
    assert (found["kind=nodes"], found["kind=pods"], found["kind=pending_pods"]) == (1, 3, 2)
    assert watcher.of("nodewright_node_table_bytes")[""] > 0


def test_a_provider_that_tells_nonsense_stops_no_loop(watcher, caplog) -> None:
    watcher.note(QUIET, world=a_world(groups=[a_group("a", size=1, price="cheap")]))
    assert "the metrics of this loop could not be updated" in caplog.text
    assert watcher.of(CA + "max_nodes_count") == {}
