"""How a decision grows groups for pending pods."""

from dataclasses import replace as replaced
from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.api import (
    ErrorClass,
    Expander,
    Instance,
    InstanceError,
    InstanceState,
    Option,
    Outcome,
    Plugin,
    Reason,
    Taint,
    hookimpl,
)
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.objects import Condition, LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from nodewright.objects.node import CORDONED_BEFORE, HOSTNAME, TO_BE_DELETED
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)


def decide_on(world, policy=None, memory=None, now=NOW):
    return decide(world, memory or Memory(), policy or a_policy(), now)[:2]


def pods(count, **fields):
    return [a_pod(f"web-{number}", **fields) for number in range(count)]


def test_pending_pods_bring_as_many_nodes_as_they_need() -> None:
    world = a_world(groups=[a_group("a", template=a_template(cpu="4"))], pods=pods(10, cpu="1"))
    decision, _ = decide_on(world)
    (grow,) = decision.grow
    assert (grow.group, grow.count, grow.from_size, len(grow.pods)) == ("a", 3, 0, 10)
    assert decision.pods["default/web-0"].reason is Reason.HELPED


class TestANodeWhoseMarkOfDeletionIsLeftOver:
    """A killed process has left the mark; this loop takes it off."""

    def decided(self, *outcomes, cordoned=False, cordon=False, annotations=None, **group):
        taints = [Taint(key=TO_BE_DELETED, value="0")]
        if cordoned:
            taints.append(Taint(key="node.kubernetes.io/unschedulable"))
        node = a_node(
            "n", cpu="4", provider_id="fake://a-0", taints=taints, unschedulable=cordoned, annotations=annotations
        )
        groups = [a_group("a", size=1, template=a_template(cpu="4"), **group)]
        world = a_world(groups=groups, nodes={"a": [node]}, pods=pods(4, cpu="1"))
        settings = Settings.model_validate({"scaleDown": {"cordon": cordon}})
        decision, _ = decide_on(replaced(world, outcomes=outcomes), a_policy(settings))
        return decision

    def test_has_room_for_pods(self) -> None:
        decision = self.decided()
        assert [restore.node for restore in decision.restore] == ["n"]
        assert not decision.grow
        assert {verdict.reason for verdict in decision.pods.values()} == {Reason.FITS}

    def test_has_none_if_it_stays_cordoned(self) -> None:
        assert not self.decided(cordoned=True, cordon=True).grow
        assert self.decided(cordoned=True).grow

    def test_has_none_if_somebody_else_had_cordoned_it(self) -> None:
        assert self.decided(cordoned=True, cordon=True, annotations={CORDONED_BEFORE: "true"}).grow

    def test_has_none_if_its_machine_may_be_going(self) -> None:
        going = [Instance(id="fake://a-0", state=InstanceState.DELETING)]
        assert self.decided(instances=going).grow

    def test_has_none_while_the_mark_can_not_be_taken_off(self) -> None:
        failed = Outcome(at=NOW, action="restore", target="n", ok=False, error="may not patch nodes")
        assert self.decided(failed).grow


def test_pods_that_fit_on_existing_nodes_bring_none() -> None:
    world = a_world(
        groups=[a_group("a", size=1)],
        nodes={"a": [a_node("n", cpu="4", provider_id="fake://a-0")]},
        pods=pods(4, cpu="1"),
    )
    decision, _ = decide_on(world)
    assert not decision.grow
    assert {verdict.reason for verdict in decision.pods.values()} == {Reason.FITS}


def test_nodes_on_their_way_are_counted_on() -> None:
    world = a_world(groups=[a_group("a", size=1)], pods=pods(4, cpu="1"))
    decision, memory = decide_on(world)
    assert not decision.grow
    assert memory.orders.requests["a"].at == NOW


def test_daemon_sets_take_their_share_of_a_new_node(a_daemon_set) -> None:
    world = a_world(
        groups=[a_group("a", template=a_template(cpu="4"))],
        daemon_sets=[a_daemon_set(cpu="500m")],
        pods=pods(4, cpu="1"),
    )
    decision, _ = decide_on(world)
    assert decision.grow[0].count == 2


def test_a_pod_that_fits_no_group_is_told_why_for_each() -> None:
    world = a_world(
        groups=[
            a_group("small", template=a_template(cpu="1")),
            a_group("tainted", template=a_template(cpu="64", taints=[Taint(key="gpu", value="yes")])),
            a_group("elsewhere", template=a_template(cpu="64", labels={"disk": "hdd"})),
        ],
        pods=[a_pod("big", cpu="8", node_selector={"disk": "ssd"})],
    )
    decision, _ = decide_on(world)
    assert decision.pods["default/big"].reason is Reason.NO_GROUP_FITS
    told = {group: str(verdict) for group, verdict in decision.rejections["default/big"].items()}
    assert told == {
        "small": "node(s) didn't match Pod's node affinity/selector (disk=ssd)",
        "tainted": "node(s) had untolerated taint(s) (gpu=yes:NoSchedule)",
        "elsewhere": "node(s) didn't match Pod's node affinity/selector (disk=ssd)",
    }


def test_every_resource_that_does_not_suffice_is_named() -> None:
    world = a_world(
        groups=[a_group("a", template=a_template(cpu="1", memory="1Gi"))],
        pods=[a_pod("big", cpu="8", memory="8Gi", requests={"nvidia.com/gpu": "1"})],
    )
    decision, _ = decide_on(world)
    assert (
        decision.rejections["default/big"]["a"].detail
        == "Insufficient cpu, Insufficient memory, Insufficient nvidia.com/gpu"
    )


def test_least_waste_prefers_the_group_that_is_filled_best() -> None:
    world = a_world(
        groups=[
            a_group("big", template=a_template(cpu="64")),
            a_group("fitting", template=a_template(cpu="4", memory="1Gi")),
        ],
        pods=pods(4, cpu="1"),
    )
    decision, _ = decide_on(world)
    assert decision.grow[0].group == "fitting"
    assert {option.group: option.verdict.reason for option in decision.options} == {
        "big": Reason.NOT_CHOSEN,
        "fitting": Reason.CHOSEN,
    }


def test_a_group_never_grows_past_its_maximum() -> None:
    world = a_world(groups=[a_group("a", size=0, max_size=2, template=a_template(cpu="1"))], pods=pods(9, cpu="1"))
    decision, _ = decide_on(world)
    assert decision.grow[0].count == 2
    assert sorted(verdict.reason for verdict in decision.pods.values()) == sorted(
        [Reason.HELPED] * 2 + [Reason.WAITING] * 7
    )


def test_the_cluster_never_grows_past_its_maximum() -> None:
    settings = Settings.model_validate({"limits": {"nodes": {"max": 3}}})
    world = a_world(
        groups=[a_group("a", template=a_template(cpu="1"))],
        nodes={"": [a_node("mine", cpu="1"), a_node("yours", cpu="1", unschedulable=True)]},
        pods=pods(5, cpu="1"),
    )
    decision, _ = decide_on(world, a_policy(settings))
    assert decision.grow[0].count == 1


def test_a_group_without_template_takes_one_of_its_nodes_for_it() -> None:
    from dataclasses import replace

    group = replace(a_group("a", size=1), template=None)
    node = a_node("n", cpu="2", provider_id="fake://a-0", taints=[Taint(key="node.kubernetes.io/unschedulable")])
    world = a_world(groups=[group], nodes={"a": [node]}, pods=[*pods(3, cpu="2"), a_pod("here", cpu="2", node="n")])
    decision, _ = decide_on(world)
    assert decision.grow[0].count == 3


def failed_growth(group, error_class=ErrorClass.STOCK_OUT):
    cause = InstanceError(error_class=error_class, code="StockOut", message="none left")
    return Outcome(at=NOW, action="grow", target=group, ok=False, error="StockOut: none left", cause=cause)


def test_a_group_that_failed_to_grow_is_left_alone_and_the_next_best_is_taken() -> None:
    groups = [a_group("best", template=a_template(cpu="1", memory="128Mi")), a_group("next")]
    decision, memory = decide_on(a_world(groups=groups, pods=pods(1), outcomes=[failed_growth("best")]))
    assert decision.grow[0].group == "next"
    assert decision.groups["best"].reason is Reason.GROUP_BACKED_OFF
    assert memory.health.backoffs["best"].until == NOW + timedelta(minutes=5)
    assert memory.health.backoffs["best"].error_class is ErrorClass.STOCK_OUT


def test_the_pause_doubles_up_to_a_maximum_and_is_forgotten_at_last() -> None:
    world = a_world(groups=[a_group("a")], outcomes=[failed_growth("a")])
    calm = a_world(groups=[a_group("a")])
    memory, now, pauses = Memory(), NOW, []
    for _ in range(5):
        _, memory = decide_on(world, memory=memory, now=now)
        pauses.append(memory.health.backoffs["a"].pause)
        now = memory.health.backoffs["a"].until
    assert pauses == [timedelta(minutes=minutes) for minutes in (5, 10, 20, 30, 30)]
    _, memory = decide_on(calm, memory=memory, now=now + timedelta(hours=3))
    assert memory.health.backoffs == {}


def test_a_temporary_failure_is_no_reason_to_back_off() -> None:
    outcome = Outcome(at=NOW, action="grow", target="a", ok=False, error="throttled", temporary=True)
    decision, memory = decide_on(a_world(groups=[a_group("a")], pods=pods(1), outcomes=[outcome]))
    assert memory.health.backoffs == {}
    assert decision.grow[0].group == "a"


class Bad(Expander):
    def best(self, options, context):
        raise RuntimeError("no idea")


class Inventive(Expander):
    def best(self, options, context):
        return [Option(group=options[0].group, nodes=1000, pods=options[0].pods)]


@pytest.mark.parametrize("expander", [Bad, Inventive])
def test_a_faulty_expander_keeps_all_options_and_is_named(expander) -> None:
    policy = a_policy(expanders={"faulty": expander(expander.Config())})
    decision, _ = decide_on(a_world(groups=[a_group("a"), a_group("b")], pods=pods(1)), policy)
    assert decision.grow[0].count == 1
    assert policy.faults.counts == {("faulty", "best"): 1}


def test_ties_fall_the_same_way_every_time() -> None:
    world = a_world(groups=[a_group(name) for name in "abcdef"], pods=pods(1))
    chosen = {decide_on(world, a_policy(expanders={}))[0].grow[0].group for _ in range(5)}
    assert len(chosen) == 1


class Veto(Plugin):
    @hookimpl
    def veto_scale_up(self, option):
        return "change freeze" if option.group.id == "best" else None


def test_a_vetoed_option_gives_way_to_the_next_best() -> None:
    groups = [a_group("best", template=a_template(cpu="1", memory="128Mi")), a_group("next")]
    decision, _ = decide_on(a_world(groups=groups, pods=pods(1)), a_policy(hooks={"freeze": Veto(Veto.Config())}))
    assert decision.grow[0].group == "next"
    assert "freeze: change freeze" in {option.verdict.detail for option in decision.options}


def test_young_pods_wait_for_the_new_pod_delay() -> None:
    settings = Settings.model_validate({"scaleUp": {"newPodDelay": "30s"}})
    world = a_world(groups=[a_group("a")], pods=[a_pod("young", created=NOW), a_pod("old", created=EPOCH)])
    decision, _ = decide_on(world, a_policy(settings))
    assert decision.grow[0].pods == ("default/old",)
    assert decision.pods["default/young"].reason is Reason.TOO_YOUNG


def test_expendable_and_daemon_set_pods_bring_no_nodes() -> None:
    world = a_world(
        groups=[a_group("a")], pods=[a_pod("cheap", priority=-11), a_pod("agent", owner="DaemonSet/agent", cpu="99")]
    )
    decision, _ = decide_on(world)
    assert not decision.grow
    assert decision.pods["default/cheap"].reason is Reason.EXPENDABLE
    assert decision.pods["default/agent"].reason is Reason.DAEMON


def test_expendable_pods_that_run_give_way() -> None:
    node = a_node("n", cpu="2", provider_id="fake://a-0")
    running = a_pod("low", cpu="2", priority=-11, node="n")
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}, pods=[running, a_pod("web", cpu="2")])
    before = world.cluster.table.free.copy()
    decision, _ = decide_on(world)
    assert decision.pods["default/web"].reason is Reason.FITS
    assert (world.cluster.table.free == before).all()
    assert [row.key for row in world.cluster.pods_on("n")] == ["default/low"]


def test_a_nominated_pod_holds_its_place() -> None:
    node = a_node("n", cpu="2", provider_id="fake://a-0")
    nominated = a_pod("important", cpu="1500m", priority=100)
    nominated = replace(nominated, status=replace(nominated.status, nominated_node_name="n"))
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}, pods=[nominated, a_pod("web", cpu="1")])
    decision, _ = decide_on(world)
    assert "default/important" not in decision.pods
    assert decision.grow[0].pods == ("default/web",)


def test_a_gated_pod_brings_no_nodes() -> None:
    pod = a_pod("web")
    gated = Condition(type="PodScheduled", status="False", reason="SchedulingGated")
    pod = replace(pod, status=replace(pod.status, conditions=(gated,)))
    decision, _ = decide_on(a_world(groups=[a_group("a")], pods=[pod]))
    assert decision.pods == {}


def test_pods_of_one_priority_take_the_room_in_the_order_in_which_they_came() -> None:
    """They alternate between two shapes; who came first must not be overtaken by a later pod of the other one."""
    node = a_node("n", cpu="4", pods=4, provider_id="fake://a-0")
    came = [a_pod(f"web-{number}", cpu="500m" if number % 2 else "400m") for number in range(8)]
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}, pods=came)
    decision, _ = decide_on(world)
    fitting = [key for key, verdict in decision.pods.items() if verdict.reason is Reason.FITS]
    assert sorted(fitting) == [f"default/web-{number}" for number in range(4)]


def test_higher_priority_comes_first() -> None:
    node = a_node("n", cpu="1", provider_id="fake://a-0")
    came = [a_pod("low", cpu="1", priority=1), a_pod("high", cpu="1", priority=2)]
    decision, _ = decide_on(a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}, pods=came))
    assert decision.pods["default/high"].reason is Reason.FITS
    assert decision.grow[0].pods == ("default/low",)


def test_a_pod_finds_room_beside_a_less_important_one_that_it_has_to_be_near() -> None:
    node = a_node("n", cpu="4", labels={HOSTNAME: "n"}, provider_id="fake://a-0")
    term = PodAffinityTerm(topology_key=HOSTNAME, label_selector=LabelSelector(match_labels={"app": "cache"}))
    web, cache = a_pod("web", priority=1), a_pod("cache", labels={"app": "cache"}, owner="ReplicaSet/cache")
    web = replace(web, spec=replace(web.spec, affinity=Affinity(pod_affinity=PodAffinity(required=(term,)))))
    decision, _ = decide_on(a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}, pods=[web, cache]))
    assert {key: verdict.reason for key, verdict in decision.pods.items()} == {
        "default/web": Reason.FITS,
        "default/cache": Reason.FITS,
    }
