"""``nodewright decide``: decisions on pictures of a cluster, for people and for programs."""

import gzip
import io
import json

import pytest
import yaml
from nodewright.cli.main import main


def a_node_object(name="n1", **labels):
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {
            "allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"},
            "capacity": {"cpu": "2", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2029-12-31T00:00:00Z"}],
        },
    }


def a_pod_object(name="web-1", cpu="1500m", **spec):
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    return {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": name,
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "controller": True}],
        },
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}], **spec},
        "status": {} if "nodeName" in spec else {"conditions": conditions},
    }


def a_scenario(**changes):
    return {
        "now": "2030-01-01T00:00:00Z",
        "nodeGroups": [{"id": "a", "minSize": 0, "maxSize": 5, "template": a_node_object("template")}],
        "nodes": [a_node_object()],
        "nodeToGroup": {"n1": "a"},
        "pods": [a_pod_object(f"web-{number}") for number in range(3)] + [a_pod_object("giant", "7")],
        **changes,
    }


@pytest.fixture
def write(tmp_path):
    """Write a file and return its name."""

    def write(name, content):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


@pytest.fixture
def decided(capsys):
    """Run the command with JSON output and return what every line says, after it went well."""

    def decided(*words):
        assert main(["decide", "-o", "json", *words]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return decided


def test_json_has_cluster_autoscalers_fields(write, decided) -> None:
    ((first,),) = (line["iterations"] for line in decided(write("s.json", a_scenario())))
    assert first["now"] == "2030-01-01T00:00:00Z"
    assert first["scaleUpResult"] == "ScaleUpSuccessful"
    assert first["scaleUp"] == [{"group": "a", "delta": 2, "newSize": 3}]
    assert first["chosen"] == "a"
    assert first["options"] == [{"group": "a", "nodeCount": 2, "pods": first["podsTriggeredScaleUp"]}]
    assert len(first["filteredOutSchedulable"]) == 1
    assert sorted(first["filteredOutSchedulable"] + first["podsTriggeredScaleUp"]) == [
        "shop/web-0",
        "shop/web-1",
        "shop/web-2",
    ]
    assert first["podsRemainUnschedulable"] == [{"pod": "shop/giant", "rejected": {"a": ["Insufficient cpu"]}}]
    assert first["consideredNodeGroups"] == ["a"]
    assert first["upcomingNodes"] == {"a": 2}
    assert first["unremovableNodes"] == [{"node": "n1", "reason": "NotUnderutilized"}]
    (used,) = first["utilization"]
    assert used == {"node": "n1", "util": 0.75, "resource": "cpu", "cpu": 0.75, "mem": 0, "gpu": 0}
    assert first["templates"]["a"]["allocatable"] == {"cpu": "2", "memory": "8Gi", "pods": "110"}
    assert first["timingsMs"]["runOnce"] > 0


def test_a_group_at_its_maximum_is_skipped(write, decided) -> None:
    groups = [{"id": "a", "minSize": 0, "maxSize": 1, "template": a_node_object("template")}]
    ((first,),) = (line["iterations"] for line in decided(write("s.json", a_scenario(nodeGroups=groups))))
    assert first["scaleUpResult"] == "ScaleUpNoOptionsAvailable"
    assert first["podsRemainUnschedulable"][0] == {
        "pod": "shop/giant",
        "skipped": {"a": ["max node group size reached"]},
    }


def test_iterations_end_with_the_one_in_which_a_node_goes(write, decided) -> None:
    scenario = a_scenario(pods=[], iterations=5, advance="11m")
    ((first, second),) = (line["iterations"] for line in decided(write("s.json", scenario)))
    assert (first["now"], first["scaleUpResult"]) == ("2030-01-01T00:00:00Z", "ScaleUpNotNeeded")
    assert (first["unneededNodes"], first["scaleDownEmpty"]) == (["n1"], [])
    assert first["unremovableNodes"] == [{"node": "n1", "reason": "NotUnneededLongEnough"}]
    assert (second["now"], second["scaleDownEmpty"]) == ("2030-01-01T00:11:00Z", ["n1"])
    assert (first["scaleDownResult"], first["removableNow"]) == ("ScaleDownNoNodeDeleted", [])
    assert (second["scaleDownResult"], second["removableNow"]) == ("ScaleDownNodeDeleteStarted", [{"node": "n1"}])


def test_a_blocking_pod_is_named_with_its_reason(write, decided) -> None:
    alone = a_pod_object("alone", "100m", nodeName="n1")
    del alone["metadata"]["ownerReferences"]
    ((first,),) = (line["iterations"] for line in decided(write("s.json", a_scenario(pods=[alone]))))
    assert first["unremovableNodes"] == [
        {"node": "n1", "reason": "BlockedByPod", "blockingPod": "shop/alone", "blockingPodReason": "NotReplicated"}
    ]


def test_every_node_has_one_verdict_with_what_it_would_take_and_since_when(write, decided) -> None:
    scenario = a_scenario(pods=[], iterations=2, advance="4m")
    ((first, second),) = (line["iterations"] for line in decided(write("s.json", scenario)))
    waits = {
        "node": "n1",
        "group": "a",
        "reason": "NotUnneededLongEnough",
        "since": "2030-01-01T00:00:00Z",
        "unneededSince": "2030-01-01T00:00:00Z",
        "remedy": "nothing but time: it may go at 00:10:00 if it is not needed before",
    }
    assert first["nodeVerdicts"] == [
        waits | {"words": "not unneeded for long enough (until 00:10:00, unneeded since 00:00:00)"}
    ]
    assert second["nodeVerdicts"] == [
        waits | {"words": "not unneeded for long enough (until 00:10:00, unneeded since 00:00:00)"}
    ]


def test_nodes_that_may_go_are_told_in_order_whether_or_not_so_many_may_go_at_once(write, decided) -> None:
    nodes = [a_node_object(name) for name in ("n1", "n2", "n3")]
    used = a_pod_object("used", "100m", nodeName="n1")
    scenario = a_scenario(pods=[used], nodes=nodes, nodeToGroup=dict.fromkeys(("n1", "n2", "n3"), "a"))
    file = write("s.json", scenario)
    ((first,),) = (
        line["iterations"]
        for line in decided(file, "--set", "scaleDown.unneededTime=0s", "--set", "scaleDown.maxParallelism=1")
    )
    assert first["removableOrder"] == ["n2", "n3"]
    assert [entry["node"] for entry in first["removableNow"]] == ["n2", "n3"]
    assert first["scaleDownEmpty"] == ["n2"]


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({"pods": [], "options": {"scaleDownEnabled": False}}, "ScaleDownNotTried"),
        ({"options": {"scaleDownEnabled": False}}, "ScaleDownInCooldown"),
        ({}, "ScaleDownInCooldown"),
        ({"pods": [], "nodeToGroup": {}}, "ScaleDownNoCandidates"),
        ({"nodes": [], "nodeToGroup": {}, "options": {"scaleUpFromZero": False}}, ""),
    ],
)
def test_how_scale_down_went_has_a_word_of_cluster_autoscaler(write, decided, changes, result) -> None:
    ((first,),) = (line["iterations"] for line in decided(write("s.json", a_scenario(**changes))))
    assert first["scaleDownResult"] == result


def test_yaml_and_standard_input_are_read_as_well(write, decided, monkeypatch) -> None:
    written = yaml.safe_dump(a_scenario())
    (wanted,) = decided(write("s.json", a_scenario()))
    for source in (write("s.yaml", written), "-"):
        monkeypatch.setattr("sys.stdin", io.StringIO(written))
        (found,) = decided(source)
        assert found["iterations"][0]["scaleUp"] == wanted["iterations"][0]["scaleUp"]


def test_many_scenarios_give_one_line_each_in_order(write, decided, tmp_path) -> None:
    lines = [json.dumps({"seed": 1, "scenario": a_scenario()}), "", json.dumps(a_scenario(pods=[]))]
    with gzip.open(tmp_path / "many.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    found = decided(str(tmp_path / "many.jsonl.gz"), write("one.jsonl", lines[0]))
    results = [line["iterations"][0]["scaleUpResult"] for line in found]
    assert results == ["ScaleUpSuccessful", "ScaleUpNotNeeded", "ScaleUpSuccessful"]


def test_a_setting_holds_over_the_options_of_the_scenario(write, decided) -> None:
    scenario = a_scenario(options={"maxNodesPerScaleUp": 5, "scaleDownUnneededTime": "10m"})
    file = write("s.json", scenario)
    ((first,),) = (line["iterations"] for line in decided(file, "--set", "scaleUp.maxNodesPerScaleUp=1"))
    assert first["scaleUp"][0]["delta"] == 1
    file = write("s.json", scenario | {"pods": []})
    ((first,),) = (line["iterations"] for line in decided(file, "--set", "scaleDown.unneededTime=0s"))
    assert first["scaleDownEmpty"] == ["n1"]


def test_expander_priority_reads_the_priorities_of_the_scenario(write, decided) -> None:
    groups = [{"id": id_, "maxSize": 5, "template": a_node_object("template")} for id_ in ("a", "b", "c")]
    for wanted in "abc":
        scenario = a_scenario(
            nodeGroups=groups, options={"expander": "priority"}, priorityConfig=f"10: [.*]\n50: ['^{wanted}$']\n"
        )
        ((first,),) = (line["iterations"] for line in decided(write("s.json", scenario)))
        assert first["chosen"] == wanted


def test_people_get_what_is_done_and_a_table_for_each_kind(write, capsys) -> None:
    file = write("s.json", a_scenario())
    assert main(["decide", file]) == 0
    told, groups, pods, reasons, nodes, summary = capsys.readouterr().out.rstrip().split("\n\n")
    assert told == f"{file} at 2030-01-01 00:00:00\n  grow a 1 → 3 for 2 pods: the only option"
    assert groups.splitlines()[1].split(maxsplit=3) == ["a", "1", "0", "1 → 3 for 2 pods: chosen (the only option)"]
    assert pods.splitlines()[1].split(maxsplit=2) == [
        "1",
        "shop/giant",
        "fits on a new node of no group; a: Insufficient cpu",
    ]
    assert reasons.splitlines()[1].split() == ["1", "NotUnderutilized", "n1"]
    assert nodes.splitlines()[1].split(maxsplit=4) == [
        "n1",
        "a",
        "75%",
        "0s",
        "its utilization is above the threshold (75% of 50%)",
    ]
    assert summary == "1 group grows by 2 nodes, 1 pod waits"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pods": [{"spec": {"nodeName": 3}}]}, "pods[0]: Expected `str`, got `int` - at `$.spec.nodeName`"),
        ({"options": {"expander": "chepest"}}, "options.expander: no expander is called 'chepest'"),
        ({"nodez": []}, "nodez: unknown key; did you mean nodes?"),
        ({"nodes": [a_node_object() | {"status": {"allocatable": {"cpu": "two"}}}]}, "nodes (n1): cpu: 'two' is not"),
    ],
)
def test_a_scenario_that_is_wrong_is_named_with_what_is_wrong(write, capsys, changes, message) -> None:
    file = write("s.json", a_scenario(**changes))
    assert main(["decide", file]) == 1
    assert capsys.readouterr().err.startswith(f"nodewright: {file}: {message}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.json", '{"now": ', "not valid JSON: Expecting value"),
        ("s.json", "[]", "write a scenario as a mapping, not as a list"),
        ("s.yaml", "now: [", "1: not valid YAML"),
        ("s.json.gz", "plain", "can't be read: Not a gzipped file"),
    ],
)
def test_a_file_that_is_no_scenario_is_named(write, capsys, name, content, message) -> None:
    assert main(["decide", write(name, content)]) == 1
    error = capsys.readouterr().err
    assert name in error
    assert message in error


def test_a_missing_file_is_named_and_the_others_are_decided(write, capsys) -> None:
    assert main(["decide", "-o", "json", "missing.json", write("s.json", a_scenario())]) == 1
    out, err = capsys.readouterr()
    assert err == "nodewright: missing.json: can't be read: No such file or directory\n"
    assert json.loads(out)["iterations"]


def test_a_wrong_line_gives_its_error_in_its_place(write, capsys) -> None:
    file = write("s.jsonl", "\n".join(("{", json.dumps(a_scenario()))))
    assert main(["decide", "-o", "json", file]) == 1
    out, err = capsys.readouterr()
    first, second = map(json.loads, out.splitlines())
    assert first["error"].startswith(f"{file}:1: not valid JSON")
    assert err == f"nodewright: {first['error']}\n"
    assert second["iterations"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("scaleUp.optionsPerLop=1", "--set scaleUp.optionsPerLop: unknown setting; did you mean optionsPerLoop?"),
        ("scaleUp.optionsPerLoop=few", "--set scaleUp.optionsPerLoop: write a whole number"),
        ("scaleUp.optionsPerLoop", "--set: write a setting and its value, such as scaleUp.optionsPerLoop=1"),
        ("scaleUp.optionsPerLoop=[", "--set scaleUp.optionsPerLoop: not valid YAML"),
    ],
)
def test_a_wrong_setting_is_wrong_usage(write, capsys, word, message) -> None:
    assert main(["decide", write("s.json", a_scenario()), "--set", word]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"flags: {message}")
    assert out == ""
