"""Which of the removable nodes begin to go, and why the others stay."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import GpuConfig, GroupOptions, Reason, ResourceLimits
from nodewright.api.verdict import Verdict
from nodewright.config.model import Settings
from nodewright.decision.memory import Changes, CooldownMemory, Memory, Removal, RemovalMemory, UnneededMemory
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.selector import Selector
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=3)
LONG_AGO = NOW - timedelta(hours=1)
WHOLE = GroupOptions(zero_or_max_node_scaling=True)


class Scene:
    """Groups of nodes that could all go, each with as many pods as the scene gives it."""

    def __init__(self, *groups, pods=None, node=None, nodes=None, **world):
        self.groups = {group.id: group for group in groups}
        members = {
            group.id: [a_node(f"{group.id}{at}", **(node or {})) for at in range(group.target_size)] for group in groups
        }
        running = [a_pod(f"{name}-{at}", node=name) for name, count in (pods or {}).items() for at in range(count)]
        self.world = replace(a_world(groups=groups, nodes={**members, **(nodes or {})}, pods=running), **world)

    def removable(self, name, **fields):
        cluster = self.world.cluster
        entry = Removable(
            node=cluster.nodes[name],
            group=self.groups[self.world.group_of[name]],
            move=tuple(cluster.pods_on(name)),
            verdict=Verdict(reason=Reason.EMPTY),
        )
        return replace(entry, **fields)

    def select(self, *entries, memory=None, now=NOW, settings=None, **options):
        entries = entries or [self.removable(name) for name in self.world.cluster.nodes if name in self.world.group_of]
        memory = memory or Memory()
        if not memory.unneeded.since:
            memory = replace(
                memory, unneeded=replace(memory.unneeded, since={entry.node.name: LONG_AGO for entry in entries})
            )
        policy = a_policy(Settings.model_validate(settings or {}))
        selector = Selector(self.world, memory.unneeded, memory.leaving, memory.cooldown, policy, now)
        return selector.select(entries, **options)


def gone(selection):
    return [entry.node.name for entry in selection.chosen]


def told(selection):
    return {node: str(verdict) for node, verdict in selection.verdicts.items()}


class TestTheTime:
    @pytest.mark.parametrize(
        ("waited", "ready", "why"),
        [
            (600, True, "not unneeded for long enough (until 03:00:00, unneeded since 02:50:00)"),
            (601, True, None),
            (1200, False, "not unready and unneeded for long enough (until 03:00:00, unneeded since 02:40:00)"),
            (1201, False, None),
        ],
    )
    def test_has_to_be_over(self, waited, ready, why) -> None:
        scene = Scene(a_group("a", size=1))
        memory = Memory(unneeded=UnneededMemory(since={"a0": NOW - timedelta(seconds=waited)}))
        selection = scene.select(scene.removable("a0", ready=ready), memory=memory)
        assert told(selection) == ({"a0": why} if why else {})
        assert gone(selection) == ([] if why else ["a0"])

    def test_of_nothing_is_over_at_once(self) -> None:
        scene = Scene(a_group("a", size=1, options=GroupOptions(scale_down_unneeded_time=timedelta(0))))
        assert gone(scene.select(memory=Memory(unneeded=UnneededMemory(since={"a0": NOW})))) == ["a0"]


class TestThePause:
    CHANGES = Memory(
        cooldown=CooldownMemory(
            groups={
                "a": Changes(grown=NOW - timedelta(minutes=5)),
                "b": Changes(grown=LONG_AGO, shrunk=NOW, stuck=NOW - timedelta(minutes=3)),
                "c": Changes(stuck=NOW - timedelta(minutes=2)),
            },
            cluster=Changes(grown=NOW - timedelta(minutes=5)),
        )
    )

    def test_is_for_all_unless_delays_hold_for_the_group_concerned(self) -> None:
        scene = Scene(*(a_group(name, size=1) for name in "abcd"))
        assert gone(scene.select(memory=self.CHANGES)) == []
        selection = scene.select(memory=self.CHANGES, settings={"scaleDown": {"delayPerGroup": True}})
        assert gone(selection) == ["b0", "d0"]
        assert told(selection) == {
            "a0": "scale-down pauses after a recent change (until 03:05:00, after a scale-up of its group)",
            "c0": "scale-down pauses after a recent change (until 03:01:00, after a failed removal of its group)",
        }

    def test_after_a_removal_is_one_of_the_group(self) -> None:
        settings = {"scaleDown": {"delayPerGroup": True, "delayAfterDelete": "1m"}}
        selection = Scene(*(a_group(name, size=1) for name in "bd")).select(memory=self.CHANGES, settings=settings)
        assert gone(selection) == ["d0"]


class TestWhatStays:
    def test_a_node_that_waits_for_a_pod_to_complete(self) -> None:
        scene = Scene(a_group("a", size=2), pods={"a0": 1})
        waits = scene.removable("a0", move=(), waits=tuple(scene.world.cluster.pods_on("a0")))
        selection = scene.select(waits, scene.removable("a1"))
        assert gone(selection) == ["a1"]
        assert told(selection) == {"a0": "waits for a pod to complete (default/a0-0)"}
        assert selection.verdicts["a0"].reason == "BlockedByOnCompletionPod"

    def test_a_node_that_is_marked_in_the_meantime(self) -> None:
        scene = Scene(
            a_group("a", size=1), node={"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
        )
        assert told(scene.select()) == {"a0": "scale-down is disabled by annotation"}

    def test_the_minimum_of_a_group(self) -> None:
        scene = Scene(a_group("a", size=5, min_size=2))
        memory = Memory(leaving=RemovalMemory(removals={"a0": Removal(group="a", provider_id="x", started=LONG_AGO)}))
        others = [scene.removable(f"a{number}") for number in range(1, 5)]
        selection = scene.select(*others, memory=memory)
        assert gone(selection) == ["a1", "a2"]
        assert told(selection)["a3"] == "its group is at its minimum size (at least 2)"


class TestFloors:
    def test_hold_for_cores_and_memory_of_the_cluster(self) -> None:
        scene = Scene(a_group("a", size=4), node={"cpu": "3500m", "memory": "16Gi"}, nodes={"": [a_node("other")]})
        cores = scene.select(settings={"limits": {"cpu": {"min": 11}}})
        # Four cores each: what is broken counts whole.
        assert gone(cores) == ["a0", "a1"]
        assert told(cores)["a2"] == 'too little would be left of a resource ("cluster-wide", cpu: at least 11)'
        assert cores.verdicts["a2"].reason == "MinimalResourceLimitExceeded"
        memory = scene.select(settings={"limits": {"memory": {"min": "64Gi"}}})
        assert gone(memory) == ["a0"]

    def test_do_not_count_nodes_that_are_going_or_starting(self) -> None:
        scene = Scene(a_group("a", size=5))
        going = Memory(leaving=RemovalMemory(removals={"a0": Removal(group="a", provider_id="x", started=LONG_AGO)}))
        ours = [scene.removable(name) for name in ("a2", "a3", "a4")]
        selection = scene.select(*ours, memory=going, starting={"a1"}, settings={"limits": {"cpu": {"min": 8}}})
        assert gone(selection) == ["a2"]

    def test_hold_for_gpus_by_their_type(self) -> None:
        gpu = GpuConfig(label="gpu", type="t4", resource="nvidia.com/gpu")
        scene = Scene(
            a_group("a", size=3),
            a_group("b", size=1),
            node={"resources": {"nvidia.com/gpu": "2"}},
            gpus={f"a{number}": gpu for number in range(3)},
        )
        selection = scene.select(settings={"limits": {"gpus": [{"type": "t4", "min": 4, "max": 8}]}})
        assert gone(selection) == ["a0", "b0"]

    def test_of_a_provider_are_about_its_own_nodes(self) -> None:
        limits = {"one": ResourceLimits(minimum={"cpu": 8000})}
        scene = Scene(a_group("a", size=3, provider="one"), a_group("b", size=3), resource_limits=limits)
        selection = scene.select()
        assert gone(selection) == ["a0", "b0", "b1", "b2"]
        assert told(selection)["a1"].endswith('("provider one", cpu: at least 8)')


class TestAGroupThatIsUsedWhole:
    def test_goes_before_all_others_and_may_be_larger_than_what_may_go_at_a_time(self) -> None:
        scene = Scene(a_group("a", size=2), a_group("w", size=4, options=WHOLE))
        selection = scene.select(settings={"scaleDown": {"maxParallelism": 3}})
        assert gone(selection) == ["w0", "w1", "w2", "w3"]
        assert set(told(selection).values()) == {"as many nodes as allowed are being removed (at most 3 at a time)"}

    def test_is_larger_once_in_a_loop_only(self) -> None:
        scene = Scene(a_group("v", size=4, options=WHOLE), a_group("w", size=4, options=WHOLE, price=9.0))
        assert gone(scene.select(settings={"scaleDown": {"maxParallelism": 3}})) == ["w0", "w1", "w2", "w3"]

    def test_is_not_larger_where_nothing_more_may_go(self) -> None:
        scene = Scene(a_group("a", size=3), a_group("w", size=4, options=WHOLE))
        memory = Memory(
            leaving=RemovalMemory(
                removals={f"a{at}": Removal(group="a", provider_id="x", started=LONG_AGO) for at in range(3)}
            )
        )
        whole = [scene.removable(f"w{number}") for number in range(4)]
        assert gone(scene.select(*whole, memory=memory, settings={"scaleDown": {"maxParallelism": 3}})) == []

    def test_does_not_exceed_disruption_budgets(self) -> None:
        scene = Scene(a_group("w", size=4, options=WHOLE))
        selection = scene.select(settings={"scaleDown": {"disruption": {"budgets": [{"nodes": 3}]}}})
        assert gone(selection) == []

    def test_is_whole_without_nodes_that_are_going_already(self) -> None:
        scene = Scene(a_group("w", size=3, options=WHOLE))
        memory = Memory(leaving=RemovalMemory(removals={"w0": Removal(group="w", provider_id="x", started=LONG_AGO)}))
        assert gone(scene.select(scene.removable("w1"), scene.removable("w2"), memory=memory)) == ["w1", "w2"]
        assert gone(scene.select(scene.removable("w1"), memory=memory)) == []


class TestConfirmation:
    def test_is_asked_for_each_node_in_turn_with_those_chosen_before(self) -> None:
        asked = []

        def confirm(block, before):
            asked.append(([entry.node.name for entry in block], [entry.node.name for entry in before]))

        scene = Scene(a_group("a", size=2), a_group("w", size=2, options=WHOLE))
        assert len(gone(scene.select(confirm=confirm))) == 4
        assert asked == [(["w0", "w1"], []), (["a0"], ["w0", "w1"]), (["a1"], ["w0", "w1", "a0"])]

    def test_that_is_refused_makes_room_for_the_next_best(self) -> None:
        verdict = Verdict(reason=Reason.NO_PLACE, detail="default/x")
        asked = []

        def confirm(block, before):
            asked.append(block[0].node.name)
            return verdict if block[0].node.name in ("a0", "a2") else None

        scene = Scene(a_group("a", size=5))
        selection = scene.select(confirm=confirm, settings={"scaleDown": {"maxParallelism": 2}})
        assert gone(selection) == ["a1", "a3"]
        assert asked == ["a0", "a1", "a2", "a3"]
        assert selection.verdicts["a0"] is verdict
        assert told(selection)["a4"] == "as many nodes as allowed are being removed (at most 2 at a time)"

    def test_is_not_asked_for_where_no_node_can_go(self) -> None:
        def confirm(block, before):
            raise AssertionError

        scene = Scene(a_group("a", size=2, min_size=2))
        assert gone(scene.select(confirm=confirm)) == []


def test_a_node_that_will_not_go_later_either_is_told_so() -> None:
    scene = Scene(a_group("a", size=4, min_size=1))
    selection = scene.select(settings={"scaleDown": {"maxParallelism": 1}})
    assert gone(selection) == ["a0"]
    assert {node: verdict.reason for node, verdict in selection.verdicts.items()} == {
        "a1": Reason.BUDGET,
        "a2": Reason.BUDGET,
        "a3": Reason.GROUP_AT_MIN,
    }


def test_every_node_that_stays_is_told_why() -> None:
    scene = Scene(a_group("a", size=30), pods={f"a{number}": number % 3 for number in range(30)})
    settings = {
        "scaleDown": {
            "maxDrainParallelism": 3,
            "disruption": {
                "maxEvictionsPerHour": 3,
                "budgets": [{"nodes": 5, "reasons": ["empty"]}, {"nodes": "20%", "groups": ["a"]}],
            },
        },
        "limits": {"cpu": {"min": 90}},
    }
    selection = scene.select(settings=settings)
    assert {*gone(selection), *selection.verdicts} == set(scene.world.cluster.nodes)
    assert len(selection.chosen) == 6


def test_a_pause_for_all_is_told_to_nodes_whose_time_has_come() -> None:
    assert told(Scene(a_group("a", size=1)).select(pause="pods have only just come")) == {
        "a0": "scale-down pauses after a recent change (pods have only just come)"
    }
