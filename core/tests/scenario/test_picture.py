"""Pictures hold all that a decision goes by, and can be read back."""

import gzip
import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace as changed
from nodewright.api import (
    ErrorClass,
    GpuConfig,
    GroupFacts,
    GroupOptions,
    Instance,
    InstanceError,
    InstanceState,
    NodeTemplate,
    NodewrightError,
    Pause,
    Reason,
    ResourceLimits,
    Taint,
)
from nodewright.config.document import load
from nodewright.config.model import Settings
from nodewright.decision.memory import (
    Backoff,
    Changes,
    CooldownMemory,
    HealthMemory,
    KnownTemplate,
    LastVerdict,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    TemplateMemory,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.decision.templates.node_template import fingerprint
from nodewright.objects import ObjectMeta, Pod
from nodewright.plugins import Registry
from nodewright.scenario.files import json_pieces, new_file, yaml_pieces
from nodewright.scenario.scenario import Picture, Scenario, read_scenario
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

GIB = 2**30
POD_NAME = "statefulset.kubernetes.io/pod-name"


def a_picture(world=None, *, memory=None, settings=None):
    return Picture(
        world=world or a_world(),
        memory=memory or Memory(),
        settings=settings or Settings(),
        now=EPOCH,
        classes=Registry(),
    )


def document_of(picture: Picture):
    return json.loads(b"".join(json_pieces(picture.entries())))


def read_back(picture: Picture) -> Scenario:
    return read_scenario(document_of(picture))


def a_full_group(**changes):
    """A group of which everything is said."""
    template = NodeTemplate(
        labels={"pool": "a"},
        annotations={"cluster-autoscaler.kubernetes.io/x": "y"},
        taints=(Taint(key="a", value="b"), Taint(key="c", effect="NoExecute")),
        capacity={"cpu": 4000, "memory": 16 * GIB, "pods": 110, "nvidia.com/gpu": 2},
        allocatable={"cpu": 3930, "memory": 15 * GIB + 1, "pods": 110},
        pods=(a_pod("proxy", namespace="kube-system", cpu="50m", owner="Node/x"),),
        csi_drivers={"disk.example.com": 39},
        zones=("eu-a", "eu-b"),
        unschedulable=True,
    )
    cause = InstanceError(error_class=ErrorClass.STOCK_OUT, code="NO_ROOM", message="none left", pool="a/big")
    failed = Instance(
        id="i-2",
        state=InstanceState.CREATING,
        error=cause,
        zone="a",
        instance_type="big",
        incarnation="7",
        ends_at=EPOCH,
    )
    group = GroupFacts(
        id="a",
        provider="cloud",
        min_size=1,
        max_size=9,
        target_size=0,
        instances=(Instance(id="i-1", state=InstanceState.RUNNING), failed),
        template=template,
        options=GroupOptions(
            scale_down_utilization_threshold=0.7,
            scale_down_gpu_utilization_threshold=0.6,
            scale_down_unneeded_time=timedelta(minutes=1),
            scale_down_unready_time=timedelta(hours=1.5),
            max_node_provision_time=timedelta(minutes=2),
            max_node_startup_time=timedelta(minutes=3),
            ignore_daemonsets_utilization=True,
            zero_or_max_node_scaling=True,
            allow_non_atomic_scale_up_to_max=True,
        ),
        atomic=True,
        force_delete=True,
        quotas={"eu/CPUS": 4},
        available=3,
        errors=(cause,),
        pause=Pause(why="people work on it", shrinks=True),
        hourly_price=0.0,
        error="away",
    )
    return replace(group, **changes)


def test_a_group_comes_back_with_all_that_was_said_of_it() -> None:
    groups = (a_full_group(), a_group("b", size=2, price=0.25), a_group("c", template=None))
    assert read_back(a_picture(a_world(groups=groups))).groups == groups


def test_what_is_remembered_comes_back() -> None:
    memory = Memory(
        unneeded=UnneededMemory(since={"n1": EPOCH + timedelta(microseconds=1)}, unremovable_until={"n2": EPOCH}),
        verdicts=VerdictMemory(
            last={"n2": LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod="shop/web", cause="NotReplicated")}
        ),
        health=HealthMemory(
            unregistered_since={"i-1": EPOCH},
            backoffs={
                "a": Backoff(
                    until=EPOCH, pause=timedelta(minutes=5), failed_at=EPOCH, error_class=ErrorClass.QUOTA, code="QUOTA"
                )
            },
        ),
        orders=OrderMemory(
            requests={"a": ScaleUpRequest(at=EPOCH, count=2), "b": ScaleUpRequest(at=EPOCH, count=1, ours=False)}
        ),
        leaving=RemovalMemory(
            removals={"n3": Removal(group="a", provider_id="i-3", started=EPOCH, drains=True, evicting_since=EPOCH)}
        ),
        cooldown=CooldownMemory(cluster=Changes(grown=EPOCH, shrunk=EPOCH, stuck=EPOCH)),
    )
    picture = a_picture(a_world(groups=(a_group("a"), a_group("b"))), memory=memory)
    assert read_back(picture).memory == memory
    assert document_of(picture)["scaleUpRequests"] == [{"group": "a", "increase": 2, "time": "2030-01-01T00:00:00Z"}]


def test_what_is_not_shown_of_a_template_is_no_change_of_it() -> None:
    template = replace(a_full_group().template, annotations={"private": "secret"})
    group = a_full_group(template=template)
    memory = Memory(
        learnt=TemplateMemory(templates={"a": KnownTemplate(promised=fingerprint(template), gone_since=EPOCH)})
    )
    scenario = read_back(a_picture(a_world(groups=(group,)), memory=memory))
    assert fingerprint(scenario.groups[0].template) != fingerprint(template)
    assert scenario.memory.learnt.templates["a"].promised == fingerprint(scenario.groups[0].template)
    stale = Memory(learnt=TemplateMemory(templates={"a": KnownTemplate(promised="of another time")}))
    again = read_back(a_picture(a_world(groups=(group,)), memory=stale))
    assert again.memory.learnt.templates["a"].promised == "of another time"


def test_settings_come_back_but_for_those_that_decide_nothing() -> None:
    text = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
seed: 7
cluster: prod
providers: [fake: {url: "http://127.0.0.1:7070"}]
kube: {server: "https://example.com"}
scaleUp: {expanders: [priority: {priorities: {10: [".*"]}}, random], optionsPerLoop: 1}
limits: {cpu: {max: 100500m}, memory: {max: 5Gi}, gpus: [{type: t4, max: 3}]}
groups: [{match: "spot-*", scaleDown: {unneededTime: 90s}}]
"""
    settings = load(text).settings
    found = read_back(a_picture(settings=settings)).settings
    assert found == settings.model_copy(update={"cluster": "", "providers": (), "kube": Settings().kube})


def test_gpus_limits_and_labels_of_clouds_come_back() -> None:
    gpu = GpuConfig(label="gpu", type="t4", resource="example.com/gpu")
    limits = ResourceLimits(minimum={"cpu": 1500}, maximum={"cpu": 64000, "memory": 256 * GIB, "t4": 3})
    world = replace(
        a_world(groups=(a_group("a"), a_group("b"))),
        group_gpus={"b": gpu},
        resource_limits={"cloud": limits, "other": ResourceLimits()},
        balancing_ignored_labels={"cloud": frozenset(["z", "a"])},
    )
    found = read_back(a_picture(world)).world()
    assert (found.group_gpus, found.resource_limits, found.balancing_ignored_labels) == (
        world.group_gpus,
        world.resource_limits,
        world.balancing_ignored_labels,
    )


def test_providers_that_could_not_be_read_come_back_with_the_reason() -> None:
    world = replace(a_world(), unreadable={"shed": "no answer within 60 s"})
    assert read_back(a_picture(world)).world().unreadable == {"shed": "no answer within 60 s"}


def test_what_a_cloud_said_of_its_fault_is_not_in_an_anonymous_picture() -> None:
    picture = a_picture(replace(a_world(), unreadable={"shed": "account 4711 is closed"}))
    document = b"".join(json_pieces(picture.entries(anonymize=True)))
    assert b"4711" not in document
    assert read_scenario(json.loads(document)).unreadable == {"shed": "its provider could not be read"}


def test_pods_that_wait_keep_their_turn() -> None:
    world = a_world(pods=[a_pod("b"), a_pod("c", labels={"app": "x"}), a_pod("a")])
    unseen = changed(a_pod("b"), status=Pod().status)
    world.cluster.put_pod(unseen)
    world.cluster.put_pod(a_pod("b"))
    document = document_of(a_picture(world))
    assert [pod["metadata"]["name"] for pod in document["pods"]] == ["c", "a", "b"]


def test_priorities_and_gpus_come_back() -> None:
    world = a_world(nodes={"": [a_node("n1")]})
    gpus = {"n1": GpuConfig(label="gpu", type="t4", resource="example.com/gpu", dra_driver="gpu.example.com")}
    config_maps = {"cluster-autoscaler-priority-expander": {"priorities": "10: [a]\n"}}
    found = read_back(a_picture(replace(world, gpus=gpus, config_maps=config_maps))).world()
    assert (found.gpus, found.config_maps) == (gpus, config_maps)
    assert read_back(a_picture(world)).world().config_maps == {}


def test_pods_come_back_as_they_are_on_their_nodes() -> None:
    running = [a_pod(f"web-{n}", node="n1", labels={"app": "web", POD_NAME: f"web-{n}"}) for n in range(2)]
    ended = changed(a_pod("job", node="n1"), status=changed(Pod().status, phase="Succeeded"))
    leaving = changed(
        a_pod("bye", node="n1"), metadata=ObjectMeta(name="bye", namespace="default", deletion_timestamp=EPOCH)
    )
    waiting = a_pod("new", labels={POD_NAME: "new"})
    stray = a_pod("stray", node="gone")
    world = a_world(nodes={"": [a_node("n1")]}, pods=[ended, *running, waiting, stray, leaving])
    found = read_back(a_picture(world)).world().cluster
    assert [row.key for row in found.pods_on("n1")] == ["default/web-0", "default/web-1", "default/bye"]
    assert found.pods.keys() == world.cluster.pods.keys() - {"default/job"}
    for key, row in found.pods.items():
        was = world.cluster.pods[key]
        assert (row.uid, row.node, row.owner, row.created, row.deleted, row.telling) == (
            was.uid,
            was.node,
            was.owner,
            was.created,
            was.deleted,
            was.telling,
        )
    assert found.pods["default/web-0"].pod_class is found.pods["default/web-1"].pod_class


def test_each_object_has_a_line_of_its_own() -> None:
    world = a_world(nodes={"": [a_node("n1"), a_node("n2")]})
    lines = b"".join(json_pieces(a_picture(world).entries())).decode().splitlines()
    assert lines[:3] == ["{", '"now": "2030-01-01T00:00:00Z",', '"nodeGroups": [],']
    assert sum(line.startswith('{"metadata":{"name":"n') for line in lines) == 2


def test_yaml_lists_are_written_one_by_one() -> None:
    text = b"".join(
        yaml_pieces(iter([("now", EPOCH), ("pods", iter([b'{"a": 1}', b'{"b": [2]}'])), ("nodes", iter([]))]))
    )
    assert text.decode() == "now: 2030-01-01T00:00:00Z\npods:\n- a: 1\n- b:\n    - 2\nnodes: []\n"


def test_a_file_appears_once_it_is_whole_and_is_for_its_owner_only(tmp_path) -> None:
    path = tmp_path / "picture.json"
    with new_file(str(path)) as file:
        file.write(b"{}")
        assert not path.exists()
    assert path.read_bytes() == b"{}"
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_could_not_be_finished_leaves_nothing_behind(tmp_path) -> None:
    path = tmp_path / "picture.json"
    path.write_text("before")
    with suppress(ZeroDivisionError), new_file(str(path)) as file:
        file.write(b"{")
        raise ZeroDivisionError
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("picture.json", "before")]


def test_a_file_can_be_packed(tmp_path) -> None:
    path = tmp_path / "picture.json.gz"
    with new_file(str(path)) as file:
        file.write(b"{}")
    assert gzip.decompress(path.read_bytes()) == b"{}"


def test_a_file_that_can_not_be_written_is_named(tmp_path) -> None:
    path = tmp_path / "nowhere" / "picture.json"
    with (
        pytest.raises(NodewrightError, match=f"{path} can't be written: No such file or directory"),
        new_file(str(path)),
    ):
        pass


def test_the_time_is_that_of_the_look() -> None:
    now = datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
    assert read_back(replace(a_picture(), now=now)).now == now
