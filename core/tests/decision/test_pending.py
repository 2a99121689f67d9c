"""Which pods count as pending, and which of them bring nodes."""

from dataclasses import replace as changed
from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.api import GpuConfig, PendingPodsProcessor, PodSet, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.demand.pending import in_turn
from nodewright.decision.memory import DemandMemory, Memory, Removal, RemovalMemory, UnneededMemory
from nodewright.objects import Condition
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def policy_of(**scale_up):
    return a_policy(Settings.model_validate({"scaleUp": scale_up}))


def decide_on(*pods, policy=None, memory=None, now=NOW, size=0, nodes=(), template=None, **more):
    group = a_group("a", size=size, template=template or a_template(cpu="4"))
    world = a_world(groups=[group], nodes={"a": nodes}, pods=pods)
    return decide(changed(world, **more), memory or Memory(), policy or a_policy(), now)[0]


def reasons(decision):
    return {key.partition("/")[2]: verdict.reason for key, verdict in decision.pods.items()}


def told(pod, reason="", status="False", *, scheduler=""):
    """The pod with what its scheduler has said of it: nothing if no reason and no status is given."""
    condition = Condition(type="PodScheduled", status=status, reason=reason)
    pod = replace(pod, status=replace(pod.status, conditions=(condition,) if reason or status != "False" else ()))
    return replace(pod, spec=replace(pod.spec, scheduler_name=scheduler)) if scheduler else pod


def nominated(pod, node):
    return replace(pod, status=replace(pod.status, nominated_node_name=node))


def chain(*names, **plugins):
    """A policy with only these steps."""
    policy = a_policy()
    return changed(policy, pending_pods={name: plugins.get(name) or policy.pending_pods[name] for name in names})


class TestSchedulers:
    """Who says that a pod needs a node."""

    @pytest.mark.parametrize("pod", [told(a_pod()), told(a_pod(), "SchedulingGated"), told(a_pod(), "SchedulerError")])
    def test_a_pod_counts_only_after_its_scheduler_found_no_node(self, pod) -> None:
        assert decide_on(pod).pods == {}

    def test_a_bypassed_scheduler_is_not_waited_for(self) -> None:
        pods = [told(a_pod("mine"), scheduler="mine"), told(a_pod("other"), scheduler="other")]
        assert reasons(decide_on(*pods, policy=policy_of(bypassedSchedulers=["mine"]))) == {"mine": Reason.HELPED}

    def test_the_default_scheduler_is_bypassed_by_its_name(self) -> None:
        decision = decide_on(told(a_pod()), policy=policy_of(bypassedSchedulers=["default-scheduler"]))
        assert reasons(decision) == {"web": Reason.HELPED}

    def test_a_gated_pod_brings_no_nodes_even_if_its_scheduler_is_bypassed(self) -> None:
        pod = told(a_pod(), "SchedulingGated")
        assert decide_on(pod, policy=policy_of(bypassedSchedulers=["default-scheduler"])).pods == {}

    def test_only_pods_of_allowed_schedulers_count_if_there_are_any(self) -> None:
        pods = [a_pod("usual"), told(a_pod("batch"), "Unschedulable", scheduler="batch")]
        assert reasons(decide_on(*pods, policy=policy_of(allowedSchedulers=["batch"]))) == {"batch": Reason.HELPED}

    def test_what_a_pod_of_a_scheduler_that_is_not_allowed_takes_is_taken(self) -> None:
        runs = a_pod("runs", cpu="4", node="n")
        waits = told(a_pod("waits", cpu="1"), "Unschedulable", scheduler="batch")
        nodes = [a_node("n", cpu="4", provider_id="fake://a-0")]
        decision = decide_on(runs, waits, policy=policy_of(allowedSchedulers=["batch"]), size=1, nodes=nodes)
        assert reasons(decision) == {"waits": Reason.HELPED}

    def test_a_pod_that_is_being_deleted_does_not_count(self) -> None:
        pod = a_pod()
        assert decide_on(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=NOW))).pods == {}

    def test_a_pod_nominated_for_a_node_that_is_gone_neither_waits_nor_takes_room(self) -> None:
        assert decide_on(nominated(a_pod(), "gone")).pods == {}

    def test_an_expendable_pod_that_is_nominated_takes_no_room(self) -> None:
        pods = [nominated(a_pod("cheap", cpu="4", priority=-11), "n"), a_pod("web", cpu="4")]
        decision = decide_on(*pods, size=1, nodes=[a_node("n", cpu="4", provider_id="fake://a-0")])
        assert reasons(decision) == {"web": Reason.FITS}


class TestPodsThatHaveJustCome:
    """A moment is waited for more pods."""

    def test_if_all_pods_are_new_nothing_grows_until_the_oldest_is_two_seconds_old(self) -> None:
        pods = [a_pod("first", created=ago(1.8)), a_pod("last", created=ago(0.1))]
        decision = decide_on(*pods)
        assert not decision.grow
        assert reasons(decision) == {"first": Reason.JUST_CREATED, "last": Reason.JUST_CREATED}
        assert decision.again == ago(1.8) + timedelta(seconds=2)
        assert reasons(decide_on(*pods, now=decision.again)) == {"first": Reason.HELPED, "last": Reason.HELPED}

    def test_a_lull_in_which_none_followed_ends_the_waiting(self) -> None:
        pods = [a_pod("first", created=ago(1.2)), a_pod("last", created=ago(0.3))]
        decision = decide_on(*pods)
        assert set(reasons(decision).values()) == {Reason.JUST_CREATED}
        assert decision.again == NOW + timedelta(seconds=0.6)
        seen = Memory(demand=DemandMemory(arrivals={"default/first": ago(1.2), "default/last": ago(0.3)}))
        decision = decide_on(*pods, memory=seen)
        assert decision.again == ago(0.3) + timedelta(seconds=0.6)
        assert set(reasons(decide_on(*pods, now=decision.again, memory=seen)).values()) == {Reason.HELPED}

    def test_the_lull_counts_from_when_the_last_pod_was_first_seen(self) -> None:
        # Both came 0.1 s ago, at the end of the second that the API server notes.
        pods = [a_pod("first", created=ago(1)), a_pod("last", created=ago(1))]
        world = a_world(groups=[a_group("a", template=a_template())], pods=pods)
        decision, memory, _ = decide(world, Memory(), a_policy(), NOW)
        assert set(reasons(decision).values()) == {Reason.JUST_CREATED}
        memory = Memory.from_json(memory.to_json())
        assert memory.demand.arrivals == {"default/first": NOW, "default/last": NOW}
        later, memory, _ = decide(world, memory, a_policy(), NOW + timedelta(seconds=0.5))
        assert later.again == NOW + timedelta(seconds=0.6)
        last, memory, _ = decide(world, memory, a_policy(), later.again)
        assert set(reasons(last).values()) == {Reason.HELPED}
        assert memory.demand.arrivals == {}

    def test_a_pod_that_is_seen_late_does_not_make_the_burst_longer_than_its_creation_allows(self) -> None:
        pods = [a_pod("web", created=ago(1.5))]
        assert decide_on(*pods).again == ago(1.5) + timedelta(seconds=1.6)
        assert reasons(decide_on(a_pod("web", created=ago(2)))) == {"web": Reason.HELPED}

    def test_one_older_pod_is_enough_for_all(self) -> None:
        decision = decide_on(a_pod("old", created=ago(3)), a_pod("new", created=ago(1)))
        assert set(reasons(decision).values()) == {Reason.HELPED}
        assert decision.again is None

    @pytest.mark.parametrize("resource", ["nvidia.com/gpu", "amd.com/gpu", "example.com/accelerator"])
    def test_with_gpus_it_takes_thirty_seconds(self, resource) -> None:
        gpu = GpuConfig(label="gpu", type="t4", resource="example.com/accelerator")
        pods = [a_pod("gpu", requests={resource: "1"}, created=ago(20)), a_pod("old", created=ago(600))]
        settings = {"gpus": {"some-node": gpu}, "template": a_template(resources={resource: "1"})}
        decision = decide_on(*pods, **settings)
        assert set(reasons(decision).values()) == {Reason.JUST_CREATED}
        assert decision.again == ago(20) + timedelta(seconds=30)
        assert set(reasons(decide_on(*pods, now=decision.again, **settings)).values()) == {Reason.HELPED}

    def test_an_older_pod_with_gpus_is_enough_for_all(self) -> None:
        pods = [
            a_pod(name, requests={"nvidia.com/gpu": "1"}, created=ago(age)) for name, age in (("new", 3), ("old", 40))
        ]
        decision = decide_on(*pods, template=a_template(resources={"nvidia.com/gpu": "8"}))
        assert set(reasons(decision).values()) == {Reason.HELPED}

    def test_where_a_scheduler_is_bypassed_no_time_is_lost(self) -> None:
        decision = decide_on(a_pod(created=ago(1)), policy=policy_of(bypassedSchedulers=["mine"]))
        assert reasons(decision) == {"web": Reason.HELPED}

    def test_no_node_begins_to_go_meanwhile(self) -> None:
        nodes = [a_node("n", cpu="1", provider_id="fake://a-0")]
        memory = Memory(unneeded=UnneededMemory(since={"n": EPOCH}))
        decision = decide_on(a_pod(cpu="2", created=ago(0.5)), size=1, nodes=nodes, memory=memory)
        assert not decision.drain
        assert decision.nodes["n"].reason is Reason.COOLING_DOWN
        assert decision.nodes["n"].detail == "pods have only just come"

    def test_pods_that_fit_hold_nothing_up(self) -> None:
        nodes = [a_node("n", cpu="4", provider_id="fake://a-0"), a_node("idle", cpu="4", provider_id="fake://a-1")]
        memory = Memory(unneeded=UnneededMemory(since={"idle": EPOCH}))
        decision = decide_on(a_pod(created=ago(1)), size=2, nodes=nodes, memory=memory)
        assert reasons(decision) == {"web": Reason.FITS}
        assert [drain.node for drain in decision.drain] == ["idle"]


class TestDelays:
    """How old a pod has to be."""

    def test_a_pod_has_to_be_older_than_the_delay(self) -> None:
        pods = [a_pod("younger", created=ago(29)), a_pod("just", created=ago(30)), a_pod("older", created=ago(31))]
        decision = decide_on(*pods, policy=policy_of(newPodDelay="30s"))
        assert reasons(decision) == {"younger": Reason.TOO_YOUNG, "just": Reason.TOO_YOUNG, "older": Reason.HELPED}

    def test_the_next_decision_is_due_when_the_next_pod_is_old_enough(self) -> None:
        pods, policy = [a_pod("b", created=ago(10)), a_pod("a", created=ago(20))], policy_of(newPodDelay="30s")
        decision = decide_on(*pods, policy=policy)
        assert timedelta(0) < decision.again - (ago(20) + timedelta(seconds=30)) < timedelta(seconds=1)
        assert reasons(decide_on(*pods, policy=policy, now=decision.again))["a"] is Reason.HELPED

    def test_young_pods_take_the_room_that_they_find(self) -> None:
        nodes = [a_node("n", cpu="1", provider_id="fake://a-0")]
        pods = [a_pod("young", cpu="1", priority=1, created=ago(5)), a_pod("old", cpu="1", created=ago(60))]
        decision = decide_on(*pods, policy=policy_of(newPodDelay="30s"), size=1, nodes=nodes)
        assert reasons(decision) == {"young": Reason.FITS, "old": Reason.HELPED}

    def test_an_annotation_makes_it_longer_and_never_shorter(self) -> None:
        pods = [
            a_pod("longer", annotations={DELAY: "1m30s"}, created=ago(60)),
            a_pod("shorter", annotations={DELAY: "5s"}, created=ago(10)),
            a_pod("usual", created=ago(60)),
        ]
        decision = decide_on(*pods, policy=policy_of(newPodDelay="30s"))
        assert reasons(decision) == {
            "longer": Reason.TOO_YOUNG,
            "shorter": Reason.TOO_YOUNG,
            "usual": Reason.HELPED,
        }

    def test_an_annotation_that_is_no_duration_is_ignored_and_told_of_its_controller(self) -> None:
        pods = [a_pod(name, annotations={DELAY: "a while"}) for name in ("web-1", "web-2")]
        decision = decide_on(*pods)
        assert set(reasons(decision).values()) == {Reason.HELPED}
        (notice,) = decision.notices
        assert (notice.reason, notice.warning) == ("PodScaleUpDelayInvalid", True)
        assert notice.message == (
            f"annotation {DELAY} of the pods of ReplicaSet default/web is ignored: "
            'write a duration such as 10m or 1h30m (units: h, m, s, ms), not "a while"'
        )


class TestPodsThatReturn:
    """Pods of nodes that are being drained."""

    def leaving(self, *pods, policy=None):
        nodes = [a_node("n", cpu="4", provider_id="fake://a-0")]
        removal = Removal(group="a", provider_id="fake://a-0", started=NOW, drains=True)
        return decide_on(
            *pods, policy=policy, memory=Memory(leaving=RemovalMemory(removals={"n": removal})), size=1, nodes=nodes
        )

    def test_they_bring_nodes_if_they_fit_nowhere(self) -> None:
        decision = self.leaving(a_pod("leaves", node="n", cpu="1"), a_pod("waits", cpu="1"))
        assert [grow.count for grow in decision.grow] == [1]
        assert reasons(decision) == {"leaves": Reason.HELPED, "waits": Reason.HELPED}

    def test_those_that_no_controller_creates_anew_or_that_end_already_do_not_count(self) -> None:
        ending = a_pod("ending", node="n")
        pods = [
            replace(ending, metadata=replace(ending.metadata, deletion_timestamp=NOW)),
            a_pod("mirror", node="n", annotations={"kubernetes.io/config.mirror": "x"}),
            a_pod("agent", node="n", owner="DaemonSet/agent"),
            a_pod("cheap", node="n", priority=-11),
        ]
        assert self.leaving(*pods).pods == {}

    def test_those_that_end_count_if_their_controller_waits_for_that(self) -> None:
        ending = a_pod("db-0", node="n", owner="StatefulSet/db")
        ending = replace(ending, metadata=replace(ending.metadata, deletion_timestamp=NOW))
        assert reasons(self.leaving(ending)) == {"db-0": Reason.HELPED}

    def test_those_of_schedulers_that_are_not_allowed_do_not_count_either(self) -> None:
        pods = [a_pod("usual", node="n"), told(a_pod("batch", node="n"), "x", scheduler="batch")]
        decision = self.leaving(*pods, policy=policy_of(allowedSchedulers=["batch"]))
        assert reasons(decision) == {"batch": Reason.HELPED}

    def test_without_the_step_they_are_ignored(self) -> None:
        policy = chain("filter-expendable", "filter-schedulable", "filter-daemonset-pods")
        assert self.leaving(a_pod("leaves", node="n"), policy=policy).pods == {}


class AddPods(PendingPodsProcessor):
    """Adds some pods."""

    adds_pods = True
    pod = a_pod("planned", cpu="3")
    keys = ("default/planned-1", "default/planned-2")

    def process(self, pods, context):
        return [*pods, PodSet(pod=self.pod, keys=self.keys)]


class AddWithoutSaying(AddPods):
    adds_pods = False


class AddTwice(AddPods):
    keys = ("default/web", "default/web")


class AddWhatWaits(AddPods):
    keys = ("default/web",)


class AddWhatWasTakenOff(AddPods):
    keys = ("default/cheap",)


class AddMalformed(AddPods):
    pod = a_pod("planned", cpu="much")


class TestTheChain:
    """Steps do what they are named for, and nothing without being named."""

    def test_pending_daemon_set_pods_take_room_before_they_are_dropped(self) -> None:
        nodes = [a_node("n", cpu="1", provider_id="fake://a-0")]
        pods = [a_pod("agent", cpu="1", owner="DaemonSet/agent", priority=1), a_pod("web", cpu="1")]
        assert reasons(decide_on(*pods, size=1, nodes=nodes)) == {"agent": Reason.FITS, "web": Reason.HELPED}

    @pytest.mark.parametrize(
        ("left_out", "pod"),
        [
            ("filter-expendable", a_pod("x", cpu="3", priority=-11)),
            ("filter-schedulable", a_pod("x", cpu="1")),
            ("filter-daemonset-pods", a_pod("x", cpu="3", owner="DaemonSet/x")),
        ],
    )
    def test_a_step_that_is_left_out_takes_no_pods_off(self, left_out, pod) -> None:
        pods = [pod, a_pod("runs", cpu="2", node="n")]
        nodes = [a_node("n", cpu="4", provider_id="fake://a-0")]
        usual = a_policy().pending_pods
        assert reasons(decide_on(*pods, size=1, nodes=nodes)) == {"x": usual[left_out].reason}
        policy = chain(*(name for name in usual if name != left_out))
        assert reasons(decide_on(*pods, size=1, nodes=nodes, policy=policy)) == {"x": Reason.HELPED}

    def test_cloud_tpus_are_no_matter_of_nodes(self) -> None:
        pod = a_pod("x", cpu="3", requests={"cloud-tpus.google.com/v3": "8"})
        assert reasons(decide_on(pod)) == {"x": Reason.HELPED}
        policy = chain(*(name for name in a_policy().pending_pods if name != "clear-tpu-requests"))
        assert reasons(decide_on(pod, policy=policy)) == {"x": Reason.NO_GROUP_FITS}

    def test_pods_that_a_step_adds_bring_nodes_though_they_do_not_exist(self) -> None:
        policy = chain("add", "filter-schedulable", add=AddPods(AddPods.Config()))
        decision = decide_on(policy=policy)
        assert [grow.count for grow in decision.grow] == [2]
        assert reasons(decision) == {"planned-1": Reason.HELPED, "planned-2": Reason.HELPED}

    @pytest.mark.parametrize(
        ("step", "why"),
        [
            (AddWithoutSaying, "returned default/planned-1, which is not one of those it was given, or not only once"),
            (AddTwice, "returned default/web more than once"),
            (AddWhatWaits, "returned default/web more than once"),
            (AddWhatWasTakenOff, "returned default/cheap, which was taken off the list before"),
            (AddMalformed, "'much'"),
        ],
    )
    def test_a_step_that_adds_what_it_must_not_is_left_out_and_named(self, step, why) -> None:
        policy = chain("filter-expendable", "add", "filter-schedulable", add=step(step.Config()))
        faults = []
        policy.faults.listen(faults.append)
        decision = decide_on(a_pod("web"), a_pod("cheap", priority=-11), policy=policy)
        assert reasons(decision) == {"web": Reason.HELPED, "cheap": Reason.EXPENDABLE}
        ((plugin, where, error),) = [(fault.plugin, fault.where, fault.error) for fault in faults]
        assert (plugin, where) == ("add", "process")
        assert why in error


class TestTurns:
    """The order in which pods are placed."""

    def sets(self, *pods):
        return [pods.keys for pods in in_turn(a_world(pods=pods).cluster, Settings().scale_up)]

    def test_equal_pods_with_others_in_between_are_sets_of_their_own(self) -> None:
        pods = [a_pod(f"{kind}{number}", owner=f"ReplicaSet/{kind}") for number, kind in enumerate("aababb")]
        names = [[key.removeprefix("default/") for key in keys] for keys in self.sets(*pods)]
        assert names == [["a0", "a1"], ["b2"], ["a3"], ["b4", "b5"]]

    def test_where_very_many_alternate_equals_come_together(self) -> None:
        pods = [a_pod(f"{number}", owner=f"ReplicaSet/{number % 3}") for number in range(900)]
        assert [len(keys) for keys in self.sets(*pods)] == [300, 300, 300]

    def test_a_pod_keeps_its_turn_when_something_about_it_changes_that_does_not_count(self) -> None:
        world = a_world(pods=[a_pod("a"), a_pod("b", cpu="1"), a_pod("c")])
        pod = a_pod("a")
        world.cluster.put_pod(replace(pod, metadata=replace(pod.metadata, resource_version="2")))
        assert [pods.keys for pods in in_turn(world.cluster, Settings().scale_up)] == [
            ("default/a",),
            ("default/b",),
            ("default/c",),
        ]


class TestNodesThatStay:
    """On which nodes waiting pods are counted."""

    NODES = (a_node("idle", cpu="4"), a_node("used", cpu="4"))
    RUNNING = a_pod("running", cpu="1500m", node="used", owner="ReplicaSet/web")
    UNNEEDED = Memory(unneeded=UnneededMemory(since={"idle": ago(60)}))

    def after(self, *pods, memory):
        group = a_group("a", size=2, template=a_template(cpu="4"))
        world = a_world(groups=[group], nodes={"a": list(self.NODES)}, pods=[self.RUNNING, *pods])
        return decide(world, memory, a_policy(), NOW)[:2]

    def test_a_pod_is_counted_on_a_node_that_stays_so_that_an_unneeded_one_can_go(self) -> None:
        decision, memory = self.after(told(a_pod("new", cpu="2200m"), "Unschedulable"), memory=self.UNNEEDED)
        assert reasons(decision) == {"new": Reason.FITS}
        assert memory.unneeded.since == {"idle": ago(60)}

    def test_a_pod_that_fits_nowhere_else_keeps_an_unneeded_node(self) -> None:
        decision, memory = self.after(told(a_pod("new", cpu="3"), "Unschedulable"), memory=self.UNNEEDED)
        assert reasons(decision) == {"new": Reason.FITS}
        assert memory.unneeded.since == {}

    def test_pods_that_are_more_than_the_nodes_that_stay_hold_fill_these_first(self) -> None:
        pods = [told(a_pod(f"new-{n}", cpu="1", owner="ReplicaSet/new"), "Unschedulable") for n in range(3)]
        decision, _ = self.after(*pods, memory=self.UNNEEDED)
        assert set(reasons(decision).values()) == {Reason.FITS}
        assert decision.grow == ()
