"""``nodewright why`` answers from the live cluster, and changes nothing there."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from nodewright.cli.main import main
from nodewright.testing.clock import FastClock

from tests.end_to_end.resting import at_rest, write_config
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

SCENARIO = a_scenario(
    a_group("pool", min=1, max=5, bootTime="0s"),
    a_group("tainted", instanceType="huge", max=2, bootTime="0s", taints=["gpu=yes:NoSchedule"]),
    deployments=[a_deployment(replicas=1), a_deployment("big", replicas=1, cpu="16")],
)


def settled(pods):
    """Whether the scheduler has looked at both pods, and one of them has a node."""
    judged = [pod for pod in pods if pod["status"].get("conditions")]
    return len(judged) == 2 and any(pod["spec"].get("nodeName") for pod in pods)


@pytest.fixture
def world():
    """A world in which one pod runs and another one fits nowhere."""
    # The command goes by the time of day; the world lives before, so that its pods are not new.
    with at_rest(SCENARIO, FastClock(50, start=datetime.now(UTC) - timedelta(days=1)), settled) as world:
        yield world


@pytest.fixture
def why(world, tmp_path, capsys):
    """Asks, and returns the exit status and what was said."""
    config = write_config(tmp_path, world)

    def ask(*words):
        status = main(["why", *words, "--config", str(config), "--kubeconfig", str(world.kubeconfig)])
        told = capsys.readouterr()
        return status, told.out + told.err

    return ask


def a_record(folder, pod):
    """A record in which a group grows for the *pod*."""
    file = folder / "record.jsonl"
    grow = {"action": "grow", "group": "pool", "count": 1, "podCount": 1, "pods": [pod], "why": "chosen"}
    file.write_text(json.dumps({"event": "decided", "at": "2030-01-01T00:00:00Z", "actions": [grow]}) + "\n")
    return file


def pod_named(world, beginning):
    (key,) = [
        f"default/{pod['metadata']['name']}"
        for pod in world.store.list("pods", "default")
        if pod["metadata"]["name"].startswith(beginning)
    ]
    return key


def test_a_pod_that_fits_nowhere_is_told_why_for_each_group(world, why) -> None:
    key = pod_named(world, "big-")
    assert why("pod", key) == (
        0,
        (
            f"pod {key}: fits on a new node of no group\n"
            "  group pool: Insufficient cpu\n"
            "  group tainted: node(s) had untolerated taint(s)\n"
        ),
    )


def test_a_node_is_told_why_it_stays(world, why) -> None:
    status, told = why("node", "pool-1")
    assert status == 0
    assert told.splitlines()[:3] == [
        "node pool-1 of group pool",
        "  stays: its group is at its minimum size (1 of 1) [NodeGroupMinSizeReached]",
        "  what it would take: a minimum size of pool below 1",
    ]


def test_a_group_is_told_how_it_is_and_what_its_nodes_look_like(world, why) -> None:
    status, told = why("group", "tainted")
    assert status == 0
    assert "group tainted of provider fake: 0 nodes wanted, 0 to 2 allowed" in told
    assert "price: 3 an hour for a node" in told
    assert "growth: no pending pod would fit" in told
    assert "a new node, as its provider says: cpu 64" in told
    assert "taints: gpu=yes:NoSchedule" in told


def test_a_group_is_known_by_what_names_it_in_its_cloud(world, why) -> None:
    status, told = why("group", "FakeGroup/eu-a/pool")
    assert (status, told.partition(":")[0]) == (0, "group pool of provider fake")
    status, told = why("group", "FakeGroup/eu-b/pool")
    assert status != 0
    assert "there is no group FakeGroup/eu-b/pool" in told


def test_a_pod_that_runs_is_told_with_its_node_and_the_order_that_helped_it(world, why, tmp_path) -> None:
    key = pod_named(world, "web-")
    status, told = why("pod", key)
    assert status == 0
    assert re.match(rf"pod {key} runs on node pool-1 of group pool since 20\d\d-", told)
    assert "there is no record of decisions to look into" in told
    record = a_record(tmp_path, key)
    _, told = why("pod", key.removeprefix("default/"), "--record", str(record))
    assert told.endswith(f"  the record {record} says:\n    2030-01-01 00:00:00  pool was grown by 1 for it: chosen\n")


def test_a_pod_that_is_gone_is_known_from_the_record(why, tmp_path) -> None:
    record = a_record(tmp_path, "default/gone-1")
    assert why("pod", "default/gone-1", "--record", str(record)) == (
        0,
        (
            "pod default/gone-1 does not exist (any more)\n"
            f"  the record {record} says:\n"
            "    2030-01-01 00:00:00  pool was grown by 1 for it: chosen\n"
        ),
    )
    status, told = why("pod", "default/never-1", "--record", str(record))
    assert (status, told) == (
        1,
        f"nodewright: there is no pod default/never-1; the record {record} does not name it\n",
    )


@pytest.mark.parametrize(("kind", "name"), [("pod", "web-"), ("pod", "big-"), ("node", "pool-1"), ("group", "pool")])
def test_programs_get_the_answer_as_data(world, why, kind, name) -> None:
    name = pod_named(world, name) if kind == "pod" else name
    _, as_json = why(kind, name, "-o", "json")
    _, as_yaml = why(kind, name, "-o=yaml")
    told = json.loads(as_json)
    assert (told["kind"], told["name"]) == (kind, name)
    assert yaml.safe_load(as_yaml).keys() == told.keys()


def test_warnings_follow_the_answer_and_those_about_the_configuration_are_only_counted(world, why) -> None:
    status, told = why("node", "pool-1", "--salvo-scale-up")
    assert (status, told.splitlines()[0]) == (0, "node pool-1 of group pool")
    assert told.endswith("the configuration has 1 warning: nodewright config check shows them\n")
    world.cloud_server.stop()
    _, told = why("node", "pool-1")
    assert told.splitlines()[-1].startswith("warning: provider fake could not be read")
    assert told.count("warning:") == 1


def test_what_is_not_there_is_told_with_the_nearest_name(why) -> None:
    assert why("group", "poll") == (1, "nodewright: there is no group poll: did you mean pool?\n")
    assert why("pod", "default/none")[0] == 1


def test_wrong_usage_is_told(why) -> None:
    usage = "usage: nodewright why pod|node|group NAME [-o FORMAT] [--record FILE] [flags]\n"
    assert why("pods", "x") == (2, f"{usage}nodewright why: pods: did you mean pod?\n")
    assert why("pod") == (2, usage)


def test_nothing_is_changed(world, why) -> None:
    before = [group.desired for group in world.cloud.groups]
    why("pod", pod_named(world, "big-"))
    changes = ("create", "update", "patch", "delete", "deletecollection")
    assert sum(world.api_server.record.count(verb=verb) for verb in changes) == 0
    assert before == [group.desired for group in world.cloud.groups]
