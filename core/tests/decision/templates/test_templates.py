"""Which template a group gets, and what is learnt where its provider is wrong."""

from dataclasses import replace
from datetime import timedelta

from msgspec.structs import replace as struct_replace
from nodewright.api import GroupFacts, Taint, TemplateDifference
from nodewright.config.model import ScaleUp, Settings, Templates
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.explain.narrative import describe_learnt
from nodewright.objects import DaemonSet, ObjectMeta, parse_resources
from nodewright.objects.node import TO_BE_DELETED
from nodewright.objects.pod import MIRROR, Container, PodSpec
from nodewright.objects.requests import ResourceRequirements
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
SMALL = a_template(cpu="2", memory="4Gi")


def template_in(world, memory=None, settings=None, now=NOW):
    """Return the template that is gone by for the only group, with the decision and what is remembered."""
    decision, memory, findings = decide(world, memory or Memory(), a_policy(settings), now, in_depth=True)
    return findings.groups[0].template, decision, memory


def a_world_of(*nodes, template=SMALL, **rest):
    return a_world(groups=[a_group("a", size=len(nodes), template=template)], nodes={"a": nodes}, **rest)


def a_daemon_set(name, priority_class=""):
    container = Container(resources=ResourceRequirements(requests={"cpu": "100m"}))
    spec = PodSpec(containers=(container,), priority_class_name=priority_class)
    return DaemonSet(
        metadata=ObjectMeta(name=name, namespace="kube-system"), spec=DaemonSetSpec(template=PodTemplate(spec=spec))
    )


def daemon_pods(template):
    return [pod.metadata.controller.name for pod in template.pods if pod.is_daemon]


def no_template(group: GroupFacts) -> GroupFacts:
    return replace(group, template=None)


def test_a_node_that_has_been_ready_for_a_minute_is_the_model() -> None:
    template, _, _ = template_in(a_world_of(a_node("n", cpu="8", memory="32Gi", labels={"pool": "a"})))
    assert template.from_node == "n"
    assert template.allocatable["cpu"] == 8000
    assert template.labels == {"pool": "a", "cluster-autoscaler.kubernetes.io/template-node": "true"}


def test_a_node_that_is_young_cordoned_unready_or_on_its_way_out_is_no_model() -> None:
    young = a_node("young", cpu="8", created=NOW - timedelta(seconds=60))
    cordoned = a_node("cordoned", cpu="8", unschedulable=True)
    unready = a_node("unready", cpu="8", ready=False)
    leaving = a_node("leaving", cpu="8", taints=[Taint(key=TO_BE_DELETED)])
    template, _, _ = template_in(a_world_of(young, cordoned, unready, leaving))
    assert template.from_node == ""
    assert template.allocatable["cpu"] == 2000


def test_a_node_in_a_poor_state_is_better_than_nothing() -> None:
    world = a_world_of(a_node("n", cpu="8", unschedulable=True))
    world = replace(world, groups=tuple(map(no_template, world.groups)))
    template, _, _ = template_in(world)
    assert (template.from_node, template.unschedulable) == ("n", True)
    template, _, _ = template_in(world, settings=Settings(templates=Templates(from_unschedulable=True)))
    assert not template.unschedulable


def test_marks_that_pass_are_left_out() -> None:
    taints = [
        Taint(key="node.kubernetes.io/memory-pressure"),
        Taint(key="team", value="a"),
        Taint(key="status.example.com/checked"),
        Taint(key="status-taint.cluster-autoscaler.kubernetes.io/x"),
    ]
    settings = Settings(templates=Templates(status_taints=("status.example.com/checked",)))
    template, _, _ = template_in(a_world_of(a_node("n", taints=taints)), settings=settings)
    assert [taint.key for taint in template.taints] == ["team"]


def test_a_startup_taint_makes_a_node_unready_and_is_not_on_new_ones() -> None:
    settings = Settings(templates=Templates(startup_taint_prefixes=("init.example.com/",)))
    node = a_node("n", cpu="8", taints=[Taint(key="init.example.com/agent")])
    template, _, _ = template_in(a_world_of(node), settings=settings)
    assert template.from_node == ""
    promised = a_template(taints=[Taint(key="init.example.com/agent"), Taint(key="team")])
    template, _, _ = template_in(a_world_of(template=promised), settings=settings)
    assert [taint.key for taint in template.taints] == ["team"]


def test_the_static_and_daemon_pods_of_the_model_come_along() -> None:
    mirror = a_pod("kube-proxy", owner="Node/n", annotations={MIRROR: "x"}, node="n")
    agent = a_pod("agent-1", owner="DaemonSet/agent", node="n")
    leaving = a_pod("old-1", owner="DaemonSet/old", node="n")
    leaving = struct_replace(leaving, metadata=struct_replace(leaving.metadata, deletion_timestamp=NOW))
    world = a_world_of(a_node("n"), pods=[mirror, agent, leaving, a_pod("web", node="n")])
    template, _, _ = template_in(world)
    assert [pod.metadata.name for pod in template.pods] == ["kube-proxy", "agent-1"]


def test_a_daemon_set_without_a_pod_on_the_model_counts_only_if_it_forces_its_way() -> None:
    sets = [a_daemon_set("plain"), a_daemon_set("vital", "system-node-critical")]
    world = a_world_of(a_node("n"), daemon_sets=sets)
    assert daemon_pods(template_in(world)[0]) == ["vital"]
    forced = Settings(scale_up=ScaleUp(force_daemonsets=True))
    assert daemon_pods(template_in(world, settings=forced)[0]) == ["plain", "vital"]


def test_the_picture_of_the_last_node_is_kept_for_the_cache_time() -> None:
    settings = Settings(templates=Templates(cache_time=timedelta(hours=1)))
    # A provider without templates: only the picture tells what a node looks like.
    with_node = a_world_of(a_node("n", cpu="8"))
    with_node = replace(with_node, groups=tuple(map(no_template, with_node.groups)))
    without = a_world_of()
    without = replace(without, groups=tuple(map(no_template, without.groups)))
    _, _, memory = template_in(with_node, settings=settings)
    memory = Memory.from_json(memory.to_json())
    template, _, memory = template_in(without, memory, settings)
    assert template.from_node == "n"
    template, _, memory = template_in(without, memory, settings, NOW + timedelta(hours=1))
    assert template is not None
    template, _, memory = template_in(without, memory, settings, NOW + timedelta(hours=1, seconds=1))
    assert template is None
    assert memory.learnt.templates == {}


def test_what_a_node_really_has_is_learnt_and_used_for_a_group_without_nodes() -> None:
    """A type table said 4 GiB where the machines have 16: a group at zero must grow for a pod of 10."""
    settings = Settings(templates=Templates(cache_time=timedelta(0)))
    _, decision, memory = template_in(a_world_of(a_node("n", cpu="2", memory="16Gi")), settings=settings)
    assert {(each.kind, each.name) for each in decision.learnt} == {("capacity", "memory"), ("allocatable", "memory")}
    memory = Memory.from_json(memory.to_json())
    empty = a_world_of(pods=[a_pod(memory="10Gi")])
    _, _, memory = template_in(empty, memory, settings)
    template, decision, _ = template_in(empty, memory, settings, NOW + timedelta(minutes=1))
    assert template.from_node == ""
    assert template.allocatable == parse_resources({"cpu": "2", "memory": "16Gi", "pods": "110"})
    assert decision.grow[0].group == "a"


def test_labels_and_taints_are_learnt_as_well() -> None:
    node = a_node("n", cpu="2", memory="4Gi", labels={"pool": "a"}, taints=[Taint(key="team", value="x")])
    promised = a_template(cpu="2", memory="4Gi", labels={"old": "1"}, taints=[Taint(key="agent-not-ready")])
    settings = Settings(templates=Templates(cache_time=timedelta(0)))
    _, decision, memory = template_in(a_world_of(node, template=promised), settings=settings)
    assert describe_learnt(decision) == [
        (
            "nodes of a are not as its provider's template says, from now on they decide: label old is missing, not 1, "
            "label pool is a, not missing, taint agent-not-ready:NoSchedule is missing, not there, "
            "taint team:NoSchedule is x, not missing"
        )
    ]
    _, _, memory = template_in(a_world_of(template=promised), memory, settings)
    template, _, _ = template_in(a_world_of(template=promised), memory, settings, NOW + timedelta(minutes=1))
    assert template.taints == (Taint(key="team", value="x"),)
    assert (template.labels.get("pool"), template.labels.get("old")) == ("a", None)


def test_a_difference_is_told_once() -> None:
    world = a_world_of(a_node("n", memory="16Gi"))
    _, decision, memory = template_in(world)
    assert decision.learnt
    _, decision, again = template_in(world, memory)
    assert decision.learnt == ()
    assert again.learnt.templates == memory.learnt.templates


def test_a_difference_that_grows_is_told_again_when_it_is_worth_it() -> None:
    _, _, memory = template_in(a_world_of(a_node("n", cpu="2", memory="16Gi")))
    _, decision, memory = template_in(a_world_of(a_node("n", cpu="2", memory="15.9Gi")), memory)
    assert decision.learnt == ()
    _, decision, _ = template_in(a_world_of(a_node("n", cpu="2", memory="8Gi")), memory)
    assert {each.real for each in decision.learnt} == {8 * 1024**3}


def test_what_only_some_nodes_show_is_no_difference() -> None:
    nodes = [
        a_node("n1", cpu="2", memory="4Gi", labels={"id": "1"}, taints=[Taint(key="mine")], zone="eu-a"),
        a_node("n2", cpu="2", memory="3Gi", labels={"id": "2"}, zone="eu-b"),
    ]
    _, decision, _ = template_in(a_world_of(*nodes))
    shown = {(each.kind, each.name, each.real) for each in decision.learnt}
    assert shown == {("capacity", "memory", 3 * 1024**3), ("allocatable", "memory", 3 * 1024**3)}


def test_devices_that_are_missing_are_believed_only_after_a_while() -> None:
    promised = a_template(cpu="2", memory="4Gi", resources={"example.com/fpga": "2"})
    fresh = a_node("n", cpu="2", memory="4Gi", created=NOW - timedelta(minutes=5))
    _, decision, memory = template_in(a_world_of(fresh, template=promised))
    assert decision.learnt == ()
    _, decision, _ = template_in(a_world_of(fresh, template=promised), memory, now=NOW + timedelta(minutes=15))
    assert decision.learnt == tuple(
        TemplateDifference(group="a", kind=kind, name="example.com/fpga", promised=2, real=0)
        for kind in ("capacity", "allocatable")
    )


def test_all_is_forgotten_when_the_provider_changes_its_template() -> None:
    node = a_node("n", cpu="2", memory="16Gi")
    _, _, memory = template_in(a_world_of(node))
    large = a_template(cpu="8", memory="32Gi")
    template, decision, memory = template_in(a_world_of(node, template=large), memory)
    assert template.from_node == "n"
    assert decision.learnt == ()
    template, _, _ = template_in(a_world_of(template=large), memory)
    assert template.allocatable["cpu"] == 8000


def test_a_group_that_is_gone_is_forgotten() -> None:
    _, _, memory = template_in(a_world_of(a_node("n", memory="16Gi")))
    assert memory.learnt.templates
    _, after, _ = decide(a_world(), memory, a_policy(), NOW)
    assert after.learnt.templates == {}


def in_either_zone(zone):
    labels = {"topology.kubernetes.io/zone": zone, "disks.example.com/zone": zone, "team": "shop"}
    return replace(a_template(cpu="2", memory="4Gi", labels=labels), zones=("a", "b"))


def test_the_next_node_of_a_group_with_several_zones_is_expected_where_its_provider_says() -> None:
    node = a_node("n", cpu="8", memory="32Gi", labels={"topology.kubernetes.io/zone": "a", "team": "ml"})
    template, _, _ = template_in(a_world_of(node, template=in_either_zone("b")))
    assert template.from_node == "n"
    assert template.labels["topology.kubernetes.io/zone"] == "b"
    assert template.labels["disks.example.com/zone"] == "b"
    assert template.labels["team"] == "ml"


def test_labels_that_only_nodes_have_follow_the_next_node_to_its_zone() -> None:
    labels = {"topology.kubernetes.io/zone": "a", "disks.example.org/zone": "a", "team": "a-team"}
    template, _, _ = template_in(a_world_of(a_node("n", cpu="8", labels=labels), template=in_either_zone("b")))
    assert template.labels["disks.example.org/zone"] == "b"
    assert template.labels["team"] == "a-team"


def test_what_was_learnt_of_a_group_with_several_zones_is_kept_when_the_next_node_is_expected_elsewhere() -> None:
    node = a_node("n", cpu="8", memory="32Gi", labels={"topology.kubernetes.io/zone": "a"})
    _, _, memory = template_in(a_world_of(node, template=in_either_zone("b")))
    template, _, _ = template_in(a_world_of(template=in_either_zone("a")), memory)
    assert template.from_node == "n"
    assert template.labels["topology.kubernetes.io/zone"] == "a"


def test_what_was_learnt_is_forgotten_when_the_zones_of_a_group_change() -> None:
    node = a_node("n", cpu="8", memory="32Gi", labels={"topology.kubernetes.io/zone": "a"})
    _, _, memory = template_in(a_world_of(node, template=in_either_zone("b")))
    template, _, _ = template_in(a_world_of(template=replace(in_either_zone("b"), zones=("b", "c"))), memory)
    assert template.from_node == ""
