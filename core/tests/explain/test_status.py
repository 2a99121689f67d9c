"""The status is what Cluster Autoscaler would write about the same cluster."""

from dataclasses import replace
from datetime import timedelta

import pytest
import yaml
from nodewright.api import ErrorClass, Instance, InstanceError, InstanceState, Pause
from nodewright.config.document import load
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Backoff, HealthMemory, Memory, OrderMemory, ScaleUpRequest
from nodewright.explain.conditions import note_conditions
from nodewright.explain.look import Look
from nodewright.explain.status import initializing, status_of
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

EARLIER = EPOCH - timedelta(hours=1)


def settings_of(text):
    return load(f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\n{text}").settings


def look_at(world, memory=None, settings=None, now=EPOCH):
    """What a loop leaves behind."""
    settings = settings or Settings()
    decision, memory, findings = decide(world, memory or Memory(), a_policy(settings), now, in_depth=True)
    memory = note_conditions(world, findings, memory, settings, now)
    return Look(world=world, decision=decision, memory=memory, findings=findings)


def written(look, settings=None, part="status"):
    return yaml.safe_load(status_of(look, settings or Settings()).text()[part])


def group_status(look, name="pool", settings=None):
    return next(group for group in written(look, settings)["nodeGroups"] if group["name"] == name)


def machines(*names):
    return [Instance(id=f"fake://{name}", state=InstanceState.RUNNING) for name in names]


def a_dry_group():
    return Backoff(
        until=EPOCH + timedelta(minutes=5),
        pause=timedelta(minutes=5),
        failed_at=EPOCH,
        error_class=ErrorClass.QUOTA,
        code="QUOTA_EXCEEDED",
        message="Quota 'CPUS' exceeded: 57 in use",
    )


def test_a_small_cluster_is_reported_in_cluster_autoscalers_format() -> None:
    nodes = [a_node("busy", created=EARLIER), a_node("down", ready=False, created=EARLIER)]
    pool = replace(a_group("pool", size=3, instances=machines("busy", "down", "coming")), max_size=5)
    dry = a_group("dry")
    stranger = a_node("own", created=EARLIER)
    pods = [a_pod("web", node="busy", cpu="3")]
    look = look_at(
        a_world(groups=[pool, dry], nodes={"pool": nodes, "": [stranger]}, pods=pods),
        Memory(
            orders=OrderMemory(requests={"pool": ScaleUpRequest(at=EPOCH, count=1)}),
            health=HealthMemory(backoffs={"dry": a_dry_group()}),
        ),
        now=EPOCH + timedelta(milliseconds=250),
    )
    assert (
        status_of(look, Settings()).text()["status"]
        == """\
autoscalerStatus: Running
clusterWide:
  health:
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    nodeCounts:
      longUnregistered: 0
      registered:
        notStarted: 0
        ready: 2
        suspended: 0
        total: 3
        unready:
          resourceUnready: 0
          total: 1
      unregistered: 1
    status: Healthy
  scaleDown:
    candidates: 1
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    status: CandidatesPresent
  scaleUp:
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    status: InProgress
nodeGroups:
- health:
    cloudProviderTarget: 3
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    maxSize: 5
    minSize: 0
    nodeCounts:
      longUnregistered: 0
      registered:
        notStarted: 0
        ready: 1
        suspended: 0
        total: 2
        unready:
          resourceUnready: 0
          total: 1
      unregistered: 1
    status: Healthy
  name: pool
  scaleDown:
    candidates: 1
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    status: CandidatesPresent
  scaleUp:
    backoffInfo: {}
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    status: InProgress
- health:
    cloudProviderTarget: 0
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    maxSize: 10
    minSize: 0
    nodeCounts:
      longUnregistered: 0
      registered:
        notStarted: 0
        ready: 0
        suspended: 0
        total: 0
        unready:
          resourceUnready: 0
          total: 0
      unregistered: 0
    status: Healthy
  name: dry
  scaleDown:
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    status: NoCandidates
  scaleUp:
    backoffInfo:
      errorCode: QUOTA_EXCEEDED
      errorMessage: 'Quota ''CPUS'' exceeded: 57 in use'
    lastProbeTime: "2030-01-01T00:00:00Z"
    lastTransitionTime: "2030-01-01T00:00:00Z"
    status: Backoff
time: 2030-01-01 00:00:00.25 +0000 UTC
"""
    )


def test_before_the_first_loop_there_is_nothing_but_zeros() -> None:
    status = initializing(EPOCH)
    assert status.annotations == {"cluster-autoscaler.kubernetes.io/last-updated": "2030-01-01 00:00:00 +0000 UTC"}
    assert (
        status.text()["status"]
        == """\
autoscalerStatus: Initializing
clusterWide:
  health:
    lastProbeTime: null
    lastTransitionTime: null
    nodeCounts:
      longUnregistered: 0
      registered:
        notStarted: 0
        ready: 0
        suspended: 0
        total: 0
        unready:
          resourceUnready: 0
          total: 0
      unregistered: 0
  scaleDown:
    lastProbeTime: null
    lastTransitionTime: null
  scaleUp:
    lastProbeTime: null
    lastTransitionTime: null
time: 2030-01-01 00:00:00 +0000 UTC
"""
    )
    assert status.text().keys() == {"status"}


class TestConditions:
    WELL = a_world(groups=[a_group("pool", size=1)], nodes={"pool": [a_node("pool-0", created=EARLIER)]})

    def test_a_condition_holds_since_it_changed_also_over_a_restart(self) -> None:
        first = look_at(self.WELL)
        later = look_at(self.WELL, Memory.from_json(first.memory.to_json()), now=EPOCH + timedelta(minutes=1))
        health = written(later)["clusterWide"]["health"]
        assert (health["lastProbeTime"], health["lastTransitionTime"]) == (
            "2030-01-01T00:01:00Z",
            "2030-01-01T00:00:00Z",
        )
        unwell = replace(self.WELL, groups=(a_group("pool", size=9, instances=machines("pool-0")),))
        settings = settings_of("health: {okTotalUnreadyCount: 0}")
        after = look_at(unwell, later.memory, settings, now=EPOCH + timedelta(minutes=2))
        group = group_status(after, settings=settings)
        assert (group["health"]["status"], group["scaleUp"]["status"]) == ("Unhealthy", "Unhealthy")
        assert group["health"]["lastTransitionTime"] == "2030-01-01T00:02:00Z"
        assert group["scaleDown"]["lastTransitionTime"] == "2030-01-01T00:00:00Z"

    def test_without_a_change_nothing_new_has_to_be_remembered(self) -> None:
        first = look_at(self.WELL)
        settings, now = Settings(), EPOCH + timedelta(minutes=1)
        _, memory, findings = decide(self.WELL, first.memory, a_policy(settings), now, in_depth=True)
        assert note_conditions(self.WELL, findings, memory, settings, now) is memory

    def test_a_group_that_is_gone_is_forgotten(self) -> None:
        first = look_at(self.WELL)
        assert first.memory.status.conditions.keys() == {"", "pool"}
        assert look_at(a_world(), first.memory).memory.status.conditions.keys() == {""}

    def test_a_group_that_can_not_be_read_is_not_well(self) -> None:
        world = replace(self.WELL, groups=(replace(self.WELL.groups[0], error="the cloud is away"),))
        group = group_status(look_at(world))
        assert (group["health"]["status"], group["scaleUp"]["status"]) == ("Unhealthy", "Unhealthy")

    def test_machines_that_others_ordered_are_no_scale_up(self) -> None:
        requests = {"pool": ScaleUpRequest(at=EPOCH, count=1, ours=False)}
        world = replace(self.WELL, groups=(a_group("pool", size=2),))
        assert (
            group_status(look_at(world, Memory(orders=OrderMemory(requests=requests))))["scaleUp"]["status"]
            == "NoActivity"
        )

    def test_a_cluster_with_too_many_unready_nodes_is_unhealthy(self) -> None:
        nodes = [a_node(f"n{number}", ready=False, created=EARLIER) for number in range(5)]
        world = a_world(
            groups=[a_group("pool", size=5, instances=machines(*(n.name for n in nodes)))], nodes={"pool": nodes}
        )
        status = written(look_at(world))
        assert status["clusterWide"]["health"]["status"] == "Unhealthy"
        assert status["autoscalerStatus"] == "Running"

    def test_without_a_search_for_nodes_to_remove_its_times_are_empty(self) -> None:
        settings = settings_of("scaleDown: {enabled: false}")
        assert group_status(look_at(self.WELL, settings=settings), settings=settings)["scaleDown"] == {
            "lastProbeTime": None,
            "lastTransitionTime": None,
            "status": "NoCandidates",
        }

    @pytest.mark.parametrize(
        ("nodes", "message"),
        [([], "Cluster has no nodes."), ([a_node(ready=False, created=EARLIER)], "Cluster has no ready nodes.")],
    )
    def test_an_empty_cluster_that_may_not_grow_is_initializing(self, nodes, message) -> None:
        settings = settings_of("scaleUp: {fromZero: false}")
        status = written(look_at(a_world(groups=[a_group()], nodes={"": nodes}), settings=settings), settings)
        assert (status["autoscalerStatus"], status["message"]) == ("Initializing", message)
        assert "message" not in written(look_at(a_world(groups=[a_group()], nodes={"": nodes})))


class TestNodes:
    def test_verdicts_are_counted_and_nodes_with_rare_ones_are_named_with_the_remedy(self) -> None:
        nodes = [a_node(f"pool-{number}", created=EARLIER) for number in range(4)]
        nodes[2] = a_node(
            "pool-2", created=EARLIER, annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
        )
        pods = [a_pod(f"web-{number}", node=f"pool-{number}", cpu="3") for number in (0, 1, 3)]
        look = look_at(a_world(groups=[a_group("pool", size=4)], nodes={"pool": nodes}, pods=pods))
        nodes = written(look, part="nodes")
        assert nodes["verdicts"] == {"NotUnderutilized": 3, "ScaleDownDisabledAnnotation": 1}
        assert [node["name"] for node in nodes["nodes"]] == ["pool-2", "pool-0", "pool-1", "pool-3"]
        assert nodes["nodes"][0] == {
            "name": "pool-2",
            "group": "pool",
            "verdict": "ScaleDownDisabledAnnotation",
            "message": "scale-down is disabled by annotation",
            "remedy": "take the annotation cluster-autoscaler.kubernetes.io/scale-down-disabled off the node",
            "since": "2030-01-01T00:00:00Z",
        }
        assert "notNamed" not in nodes


class TestSize:
    def test_a_huge_cluster_fits_and_says_what_is_left_out(self) -> None:
        nodes = [a_node(f"pool-{number:04}", created=EARLIER) for number in range(1000)]
        groups = [a_group(f"group-{number:04}-{'x' * 60}") for number in range(3000)]
        look = look_at(
            a_world(groups=[*groups, a_group("pool", size=1000)], nodes={"pool": nodes}),
            Memory(health=HealthMemory(backoffs={groups[-1].id: a_dry_group()})),
        )
        text = status_of(look, Settings()).text()
        assert sum(len(part.encode()) for part in text.values()) < 900_000
        status, nodes = yaml.load(text["status"], yaml.CSafeLoader), yaml.safe_load(text["nodes"])
        shown = [group["name"] for group in status["nodeGroups"]]
        assert status["message"] == f"{len(shown)} of 3001 node groups are shown: there is no room for more"
        # What is the matter with one is shown before many that are well.
        assert len(shown) > 500
        assert (shown[0], shown[-1]) == (groups[0].id, groups[-1].id)
        assert (len(nodes["nodes"]), nodes["notNamed"], nodes["total"]) == (100, 900, 1000)

    def test_long_messages_of_a_cloud_are_cut(self) -> None:
        pool = a_group("pool")
        failed = Instance(
            id="fake://x",
            state=InstanceState.CREATING,
            error=InstanceError(error_class=ErrorClass.OTHER, code="LONG", message="x" * 5000),
        )
        look = look_at(
            a_world(groups=[replace(pool, target_size=1, instances=(failed,))]),
            Memory(orders=OrderMemory(requests={"pool": ScaleUpRequest(at=EPOCH, count=1)})),
        )
        message = look.memory.health.backoffs["pool"].message
        assert (len(message), message[-14:]) == (500, "xxx<truncated>")


def test_a_paused_group_says_why_it_does_not_grow() -> None:
    groups = [replace(a_group("a"), pause=Pause(why="painted")), a_group("b")]
    look = look_at(a_world(groups=groups))
    assert [group_status(look, name)["scaleUp"].get("paused") for name in "ab"] == ["painted", None]
