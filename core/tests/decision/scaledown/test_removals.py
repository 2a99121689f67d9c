"""Removals under way take one step per loop, and undo themselves when something goes wrong."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as changed
from nodewright.api import GroupOptions, Instance, InstanceState, Outcome, Reason, Taint
from nodewright.config.model import Settings
from nodewright.decision.memory import HealthMemory, Memory, Removal, RemovalMemory
from nodewright.decision.scaledown import advance_removals
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
_UNDELETED = "its machine could not be deleted: "
MARK = Taint(key="ToBeDeletedByClusterAutoscaler", value="0")
DELAY = "delay-deletion.cluster-autoscaler.kubernetes.io/backup"
DS_EVICTION = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"


def advance(world, memory, policy, now):
    return advance_removals(world, memory.leaving, memory.health, memory.unneeded, memory.cooldown, policy, now)


class Going:
    """Nodes of one group that go, seen loop by loop; what is decided meanwhile is kept."""

    def __init__(self, *names, drains=True, whole=False, min_size=0, **settings):
        self.names = names
        self.min_size = min_size
        self.options = GroupOptions(zero_or_max_node_scaling=whole)
        self.policy = a_policy(Settings.model_validate({"scaleDown": settings}))
        self.annotations = {}
        self.unmarked = set()
        self.deleting = set()
        self.size = len(names)
        self.memory = Memory(
            leaving=RemovalMemory(
                removals={
                    name: Removal(group="a", provider_id=f"fake://{name}", started=NOW, drains=drains) for name in names
                }
            )
        )

    def world(self, *pods, outcomes=(), error="", latency=None):
        nodes = [
            a_node(name, taints=() if name in self.unmarked else (MARK,), annotations=self.annotations.get(name))
            for name in self.names
        ]
        states = {
            name: InstanceState.DELETING if name in self.deleting else InstanceState.RUNNING for name in self.names
        }
        instances = [Instance(id=f"fake://{name}", state=state) for name, state in states.items()]
        group = a_group("a", size=self.size, min_size=self.min_size, instances=instances, options=self.options)
        world = a_world(groups=[replace(group, error=error)], nodes={"a": nodes}, pods=pods, outcomes=outcomes)
        return replace(world, taint_latency=latency)

    def wait(self, until=None):
        """Let the cloud ask for fewer deletions until so many seconds after the beginning; or no more."""
        respites = {} if until is None else {"a": {"delete-instances": NOW + timedelta(seconds=until)}}
        self.memory = replace(self.memory, health=HealthMemory(respites=respites))

    def at(self, seconds, *pods, **fields):
        """What is decided so many seconds after the beginning, with *pods* on the nodes."""
        plan = advance(self.world(*pods, **fields), self.memory, self.policy, NOW + timedelta(seconds=seconds))
        self.memory = replace(self.memory, leaving=plan.memory, unneeded=plan.unneeded, cooldown=plan.cooldown)
        self.again = None if plan.again is None else (plan.again - NOW).total_seconds()
        return plan


def failed(action, target, error="no"):
    return Outcome(at=NOW, action=action, target=target, ok=False, error=error)


def put_off(target, until=None):
    not_before = None if until is None else NOW + timedelta(seconds=until)
    error = "too many calls"
    return replace(failed("delete-instances", target, error), temporary=True, group="a", not_before=not_before)


def done(action, target, at=NOW):
    return Outcome(at=at, action=action, target=target, ok=True)


def running(name, node="n1", **fields):
    return a_pod(name, node=node, **fields)


def ending(pod, by):
    return changed(pod, metadata=changed(pod.metadata, deletion_timestamp=NOW + timedelta(seconds=by)))


def asked(plan):
    return [evict.pods for evict in plan.evict]


def undone(plan):
    return {restore.node: restore.verdict.detail for restore in plan.restore}


def deleted(plan):
    return [delete.nodes for delete in plan.delete]


class TestTheMark:
    def test_settles_before_anything_else_and_the_loop_comes_back_then(self) -> None:
        going = Going("n1")
        going.at(1, running("x"))
        assert (going.again, going.memory.leaving.removals["n1"].evicting) == (5, None)

    def test_settles_from_when_it_was_written(self) -> None:
        going = Going("n1")
        late = done("drain", "n1", at=NOW + timedelta(seconds=3))
        assert not going.at(5, running("x"), outcomes=[late]).evict
        assert going.again == 8
        assert going.at(8, running("x")).evict

    @pytest.mark.parametrize(("dynamic", "due"), [(True, 0.6), (False, 5)])
    def test_settles_for_twice_as_long_as_marks_take_to_be_seen_where_that_is_wanted(self, dynamic, due) -> None:
        going = Going("n1", dynamicDelayAfterTaint=dynamic)
        going.at(0, running("x"), latency=timedelta(seconds=0.3))
        assert going.again == due

    def test_is_waited_for_until_it_is_seen(self) -> None:
        going = Going("n1")
        going.unmarked = {"n1"}
        assert not going.at(60, running("x")).evict
        assert undone(going.at(121, running("x"))) == {"n1": f"its taint {MARK.key} is not there"}

    def test_that_is_taken_off_by_another_actor_ends_the_removal(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        going.unmarked = {"n1"}
        assert undone(going.at(7, running("x"))) == {"n1": f"its taint {MARK.key} is not there"}

    def test_that_can_not_be_written_ends_the_removals_that_began_with_it(self) -> None:
        going = Going("n1", "n2")
        going.memory.leaving.removals["n3"] = Removal(group="a", provider_id="fake://n3", started=NOW)
        going.names = ("n1", "n2", "n3")
        outcomes = [done("drain", "n1"), failed("drain", "n2"), done("drain", "n3")]
        assert undone(going.at(1, outcomes=outcomes)) == {
            "n1": "n2, which was to go with it, was not marked: no",
            "n2": "it could not be marked: no",
        }
        assert going.memory.leaving.removals.keys() == {"n3"}

    def test_of_no_removal_comes_off_unless_that_was_just_done_and_is_not_seen_yet(self) -> None:
        going = Going("n1")
        going.memory = Memory()
        assert [restore.verdict.reason for restore in going.at(0).restore] == [Reason.LEFTOVER]
        assert not going.at(1, outcomes=[done("restore", "n1")]).restore
        assert going.at(2, outcomes=[failed("restore", "n1")]).restore

    def test_of_a_machine_that_the_cloud_deletes_for_an_earlier_life_is_followed(self) -> None:
        going = Going("n1")
        going.memory, going.deleting = Memory(), {"n1"}
        assert not going.at(0).restore
        assert going.memory.leaving.removals["n1"].deleted_at == NOW
        assert not going.at(3600).restore
        going.deleting = set()
        assert going.at(3700).restore


class TestAnEmptyNode:
    def test_that_got_pods_meanwhile_stays(self) -> None:
        going = Going("n1", drains=False)
        assert undone(going.at(5, running("x"))) == {"n1": "default/x came to it when it was empty"}
        assert going.memory.cooldown.cluster.stuck == NOW + timedelta(seconds=5)

    def test_that_got_pods_while_it_waited_for_others_stays(self) -> None:
        going = Going("n1", drains=False, deletionBatchInterval="30s")
        assert not going.at(5).delete
        assert undone(going.at(20, running("x"))) == {"n1": "default/x came to it when it was empty"}

    def test_loses_no_daemons_by_default_but_those_that_say_so(self) -> None:
        going = Going("n1", drains=False)
        told = running("told", owner="DaemonSet/told", annotations={DS_EVICTION: "true"})
        daemon = running("daemon", owner="DaemonSet/daemon")
        assert asked(going.at(5, told, daemon)) == [{"default/told": 30}]
        assert going.again == 5
        assert deleted(going.at(6, told, daemon)) == [("n1",)]

    def test_loses_daemons_where_that_is_wanted_but_those_that_say_no(self) -> None:
        going = Going("n1", drains=False, evictDaemonsetsFromEmptyNodes=True)
        told = running("told", owner="DaemonSet/told", annotations={DS_EVICTION: "false"})
        daemon = running("daemon", owner="DaemonSet/daemon")
        assert asked(going.at(5, told, daemon)) == [{"default/daemon": 30}]


class TestADrain:
    def test_asks_the_very_pods_that_it_has_seen(self) -> None:
        (evict,) = Going("n1").at(5, changed(running("x"), metadata=changed(running("x").metadata, uid="u-1"))).evict
        assert evict.uids == {"default/x": "u-1"}

    def test_says_why_a_pod_was_not_let_go_when_it_gives_up(self) -> None:
        going = Going("n1")
        going.at(5, running("x"), running("y"))
        going.at(
            10, running("x"), outcomes=[failed("evict", "default/y", "gone"), failed("evict", "default/x", "denied")]
        )
        assert undone(going.at(126, running("x"))) == {"n1": "default/x could not be evicted in 2 minutes: denied"}

    def test_gives_no_pod_longer_than_allowed(self) -> None:
        assert asked(Going("n1", maxGracefulTermination="10s").at(5, running("x"))) == [{"default/x": 10}]

    def test_gives_a_pod_that_would_take_for_ever_as_long_as_any(self) -> None:
        pod = running("x")
        endless = changed(pod, spec=changed(pod.spec, termination_grace_period_seconds=2**62))
        assert asked(Going("n1", maxGracefulTermination="60s").at(5, endless)) == [{"default/x": 60}]

    def test_does_not_begin_against_a_rule_that_was_not_broken_before(self) -> None:
        bare = running("bare", owner="")
        assert undone(Going("n1").at(5, bare)) == {"n1": "a pod must not be moved (default/bare: NotReplicated)"}

    def test_takes_daemons_along_once_and_waits_for_none_of_them(self) -> None:
        going = Going("n1")
        daemon = running("daemon", owner="DaemonSet/daemon")
        assert asked(going.at(5, running("x"), daemon)) == [{"default/x": 30, "default/daemon": 30}]
        assert asked(going.at(15, running("x"), daemon)) == [{"default/x": 30}]
        assert deleted(going.at(20, daemon)) == [("n1",)]

    def test_leaves_daemons_alone_where_that_is_wanted_and_those_that_came_after_it_began(self) -> None:
        daemon = running("daemon", owner="DaemonSet/daemon")
        assert asked(Going("n1", evictDaemonsets=False).at(5, running("x"), daemon)) == [{"default/x": 30}]
        fresh = running("fresh", owner="DaemonSet/daemon", created=NOW + timedelta(seconds=2))
        assert asked(Going("n1").at(5, running("x"), fresh)) == [{"default/x": 30}]

    def test_looks_again_soon_whether_pods_have_ended(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        going.at(6, ending(running("x"), by=35))
        assert going.again == 11

    def test_ends_when_a_pod_does_not_end_in_its_time(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        pod = ending(running("x"), by=35)
        assert not going.at(65, pod).restore
        assert undone(going.at(66, pod)) == {"n1": "default/x did not end in 61 s"}

    def test_waits_for_a_pod_that_was_let_go_late_as_long_as_for_any_other(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        pod = ending(running("x"), by=150)
        assert not going.at(179, pod).restore
        assert going.at(181, pod).restore

    def test_is_over_when_another_actor_deletes_its_node_and_that_is_reported(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        going.names = ()
        (notice,) = going.at(10).notices
        assert notice.message == "node n1 of a went before its removal was done: somebody else has deleted it"
        assert going.memory.leaving.removals == {}
        assert not going.at(15).notices

    def test_hurries_a_pod_that_was_to_end_much_later(self) -> None:
        going = Going("n1")
        assert asked(going.at(5, ending(running("x"), by=3600))) == [{"default/x": 30}]

    def test_begins_anew_for_a_pod_that_came_when_all_had_left(self) -> None:
        going = Going("n1", deletionBatchInterval="30s")
        going.at(5, running("x"))
        assert not going.at(300).delete
        assert asked(going.at(310, running("y"))) == [{"default/y": 30}]
        assert going.memory.leaving.removals["n1"].evicting_since == NOW + timedelta(seconds=310)


PRIORITIES = ({"priority": 1000, "maxGracefulTermination": "20s"}, {"priority": 0, "maxGracefulTermination": "60s"})


class TestANodeThatHasToStayAfterAll:
    @pytest.mark.parametrize("lost", [{"groups": ()}, {"group_of": {}}, {"group_of": {"n1": "b"}}])
    def test_loses_no_pods_once_it_is_in_its_group_no_more(self, lost) -> None:
        going = Going("n1")
        world = replace(going.world(running("x")), **lost)
        plan = advance(world, going.memory, going.policy, NOW + timedelta(seconds=5))
        assert not plan.evict
        assert undone(plan) == {"n1": "it is no node of group a any more"}

    def test_loses_no_pods_once_its_group_is_at_its_minimum(self) -> None:
        going = Going("n1", "n2", min_size=1)
        plan = going.at(5, running("x"), running("y", node="n2"))
        assert [evict.node for evict in plan.evict] == ["n1"]
        assert undone(plan) == {"n2": "its group is at its minimum size 1 by now"}

    def test_makes_room_for_another_below_the_minimum(self) -> None:
        going = Going("n1", "n2", min_size=1, drains=False)
        plan = going.at(5, running("x"))
        assert undone(plan) == {"n1": "default/x came to it when it was empty"}
        assert deleted(plan) == [("n2",)]

    @pytest.mark.parametrize("since", [1, 7])
    def test_is_let_off_as_soon_as_an_annotation_asks_for_it(self, since) -> None:
        going = Going("n1")
        for seconds in range(since):
            going.at(seconds, running("x"))
        going.annotations = {"n1": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
        plan = going.at(since + 5, running("x"))
        assert not plan.evict
        assert undone(plan) == {"n1": "scale-down is disabled by annotation"}

    def test_loses_no_pods_if_another_of_a_group_that_goes_whole_stays_in_the_same_loop(self) -> None:
        going = Going("n1", "n2", whole=True)
        plan = going.at(5, running("x"), running("y", node="n2", owner=""))
        assert undone(plan).keys() == {"n1", "n2"}
        assert not plan.evict


class TestAMachineThatSomebodyElseDeletes:
    def test_is_not_deleted_again_and_its_node_followed_until_it_has_gone(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        going.deleting = {"n1"}
        for seconds in (10, 20):
            plan = going.at(seconds, running("x"))
            assert (plan.evict, plan.delete, plan.restore) == ((), (), ())
        assert going.memory.leaving.removals["n1"].deleted_at == NOW + timedelta(seconds=10)


class TestADrainByPriority:
    def test_lets_the_lowest_priority_leave_first_each_with_its_own_grace(self) -> None:
        going = Going("n1", drainPriorities=PRIORITIES)
        high, low, below = (running(f"p{priority}", priority=priority) for priority in (1000, 0, -5))
        assert asked(going.at(5, high, low, below)) == [{"default/p0": 30, "default/p-5": 30}]
        assert not going.at(8, high, ending(low, by=35)).evict
        assert asked(going.at(10, high)) == [{"default/p1000": 20}]

    def test_gives_each_wave_the_whole_time_to_leave(self) -> None:
        going = Going("n1", drainPriorities=PRIORITIES)
        high, low = running("high", priority=2000), running("low", priority=1)
        going.at(5, high, low)
        going.at(120, high)
        assert not going.at(239, high).restore
        assert undone(going.at(241, high)) == {"n1": "default/high could not be evicted in 2 minutes"}

    def test_waits_for_daemons_too(self) -> None:
        going = Going("n1", drainPriorities=PRIORITIES)
        daemon = running("daemon", owner="DaemonSet/daemon", priority=2000)
        going.at(5, running("x"), daemon)
        assert asked(going.at(10, daemon)) == [{"default/daemon": 20}]
        assert not going.at(15, daemon).delete
        assert deleted(going.at(20)) == [("n1",)]


class TestADeletion:
    def test_waits_for_those_who_annotate_the_node_but_not_for_ever(self) -> None:
        going = Going("n1", drains=False)
        going.annotations = {"n1": {DELAY: "still copying"}}
        assert not going.at(5).delete
        assert going.again == 10
        assert not going.at(124).delete
        assert deleted(going.at(125)) == [("n1",)]

    def test_goes_on_as_soon_as_the_annotation_has_gone(self) -> None:
        going = Going("n1", drains=False)
        going.annotations = {"n1": {DELAY: "still copying"}}
        going.at(5)
        going.annotations = {}
        assert deleted(going.at(30)) == [("n1",)]

    def test_of_several_nodes_of_a_group_is_one_call(self) -> None:
        assert deleted(Going("n1", "n2", drains=False).at(5)) == [("n1", "n2")]

    def test_gathers_nodes_from_the_first_that_is_ready(self) -> None:
        going = Going("n1", "n2", deletionBatchInterval="30s")
        assert not going.at(5, running("x", node="n2")).delete
        assert not going.at(20).delete
        assert going.again == 35
        assert deleted(going.at(35)) == [("n1", "n2")]

    def test_of_a_group_that_goes_whole_waits_for_all_of_it(self) -> None:
        going = Going("n1", "n2", whole=True)
        assert not going.at(5, running("x", node="n2")).delete
        assert deleted(going.at(20)) == [("n1", "n2")]

    def test_of_a_group_that_goes_whole_is_undone_if_one_of_its_nodes_stays(self) -> None:
        going = Going("n1", "n2", whole=True, drains=False)
        plan = going.at(5, running("x", node="n2"))
        assert undone(plan) == {
            "n1": "its group goes as a whole, and n2 stays: default/x came to it when it was empty",
            "n2": "default/x came to it when it was empty",
        }
        assert not plan.delete

    def test_never_takes_a_group_below_its_minimum_whatever_became_of_its_size(self) -> None:
        going = Going("n1", "n2", drains=False, min_size=1)
        plan = going.at(5)
        assert deleted(plan) == [("n1",)]
        assert undone(plan) == {"n2": "its group is at its minimum size 1 by now"}

    def test_that_fails_gives_all_nodes_of_the_call_back(self) -> None:
        going = Going("n1", "n2", drains=False)
        going.at(5)
        assert undone(going.at(6, outcomes=[failed("delete-instances", "n1")])) == {
            "n1": f"{_UNDELETED}no",
            "n2": f"{_UNDELETED}no",
        }

    def test_that_fails_after_it_took_some_machines_gives_the_others_back(self) -> None:
        going = Going("n1", "n2", drains=False)
        going.at(5)
        going.deleting = {"n1"}
        assert undone(going.at(6, outcomes=[failed("delete-instances", "n1")])) == {"n2": f"{_UNDELETED}no"}
        assert going.memory.leaving.removals.keys() == {"n1"}

    def test_that_failed_while_the_cloud_can_not_be_read_is_undone_when_it_can(self) -> None:
        going = Going("n1", drains=False)
        going.at(5)
        assert not going.at(6, outcomes=[failed("delete-instances", "n1")], error="cloud down").restore
        assert not going.at(300, error="cloud down").restore
        assert undone(going.at(310)) == {"n1": f"{_UNDELETED}no"}

    def test_that_the_cloud_puts_off_is_ordered_once_more_before_its_drained_node_is_given_back(self) -> None:
        going = Going("n1")
        going.at(5, running("x"))
        assert deleted(going.at(10)) == [("n1",)]
        plan = going.at(20, outcomes=[put_off("n1")])
        assert (undone(plan), deleted(plan)) == ({}, [("n1",)])
        assert undone(going.at(30, outcomes=[put_off("n1")])) == {"n1": f"{_UNDELETED}too many calls"}

    def test_that_the_cloud_puts_off_and_then_refuses_gives_its_node_back_at_once(self) -> None:
        going = Going("n1", drains=False)
        going.at(5)
        going.at(6, outcomes=[put_off("n1")])
        assert undone(going.at(7, outcomes=[failed("delete-instances", "n1")])) == {"n1": f"{_UNDELETED}no"}

    def test_that_the_cloud_puts_off_waits_as_long_as_the_cloud_asked_for(self) -> None:
        going = Going("n1", drains=False)
        going.at(5)
        going.wait(until=30)
        assert not going.at(6, outcomes=[put_off("n1", until=30)]).delete
        assert going.again == 30
        assert going.memory.leaving.removals["n1"].put_off == "the cloud is asked once more at 01:00:30: too many calls"
        going.wait()
        assert deleted(going.at(30)) == [("n1",)]

    def test_waits_if_the_group_is_to_delete_less_for_another_nodes_sake(self) -> None:
        going = Going("n1", drains=False)
        going.wait(until=30)
        assert not going.at(5).delete
        assert going.again == 30

    def test_that_the_cloud_puts_off_after_it_took_some_machines_is_ordered_again_for_the_others(self) -> None:
        going = Going("n1", "n2", drains=False)
        going.at(5)
        going.deleting = {"n1"}
        plan = going.at(6, outcomes=[put_off("n1")])
        assert (undone(plan), deleted(plan)) == ({}, [("n2",)])
        assert going.memory.leaving.removals["n1"].deleted_at == NOW + timedelta(seconds=6)

    def test_that_was_put_off_is_not_ordered_again_while_the_cloud_can_not_be_read(self) -> None:
        going = Going("n1", drains=False)
        going.at(5)
        going.annotations = {"n1": {"nodewright.dev/do-not-disrupt": "true"}}
        for seconds in (6, 300):
            plan = going.at(seconds, outcomes=[put_off("n1")] if seconds == 6 else (), error="cloud down")
            assert (plan.restore, plan.delete) == ((), ())
        going.annotations = {}
        assert deleted(going.at(310)) == [("n1",)]

    def test_that_was_put_off_is_given_up_if_its_node_is_to_stay_by_then(self) -> None:
        going = Going("n1", drains=False)
        going.at(5)
        going.annotations = {"n1": {"nodewright.dev/do-not-disrupt": "true"}}
        assert undone(going.at(6, outcomes=[put_off("n1")])).keys() == {"n1"}

    def test_of_a_group_that_goes_whole_is_put_off_as_a_whole(self) -> None:
        going = Going("n1", "n2", whole=True, drains=False)
        going.at(5)
        plan = going.at(6, outcomes=[put_off("n1")])
        assert (undone(plan), deleted(plan)) == ({}, [("n1", "n2")])

    def test_is_not_ordered_twice(self) -> None:
        going = Going("n1", drains=False)
        going.at(5)
        assert not going.at(6).delete
        assert not going.at(600).delete
