"""The library surface reads scenarios from anywhere, decides on them, and writes them back."""

import gzip
import json
from pathlib import Path

import pytest
from nodewright.api import ConfigurationError, NodewrightError
from nodewright.library import (
    Memory,
    decide,
    explain_group,
    explain_node,
    explain_pod,
    policy_of,
    read_scenario,
    read_settings,
    write_scenario,
)
from nodewright.testing import EPOCH, a_group, a_node, a_pod, a_policy, a_world

SCENARIO = """
now: "2030-01-01T00:00:00Z"
nodeGroups:
  - {id: small, maxSize: 10, template: {status: {capacity: {cpu: 2, memory: 8Gi, pods: 110}}}}
  - {id: large, maxSize: 3, template: {status: {capacity: {cpu: 16, memory: 64Gi, pods: 110}}}}
pods:
  - metadata: {name: web-1, namespace: shop}
    spec: {containers: [{name: main, resources: {requests: {cpu: 1500m, memory: 1Gi}}}]}
    status: {conditions: [&waits {type: PodScheduled, status: "False", reason: Unschedulable}]}
  - metadata: {name: web-2, namespace: shop}
    spec: {containers: [{name: main, resources: {requests: {cpu: 1500m, memory: 1Gi}}}]}
    status: {conditions: [*waits]}
"""
HEADER = "{apiVersion: nodewright.dev/v1, kind: Autoscaler}"


def grown(scenario):
    with policy_of(scenario.settings) as policy:
        look = decide(scenario.world(), scenario.memory, policy, scenario.now)
    return [grow.group for grow in look.decision.grow]


def test_a_scenario_is_read_from_text_file_and_document_alike(tmp_path) -> None:
    file, packed = tmp_path / "picture.yaml", tmp_path / "picture.yaml.gz"
    file.write_text(SCENARIO)
    packed.write_bytes(gzip.compress(SCENARIO.encode()))
    text = read_scenario(SCENARIO)
    assert [group.id for group in text.groups] == ["small", "large"]
    assert read_scenario(file).groups == read_scenario(packed).groups == text.groups
    document = json.loads(json.dumps({"now": "2030-01-01T00:00:00Z", "nodeGroups": [{"id": "small", "maxSize": 1}]}))
    assert [group.id for group in read_scenario(document).groups] == ["small"]


@pytest.mark.parametrize(("expander", "group"), [("least-nodes", "large"), ("least-waste", "small")])
def test_overrides_lie_over_the_settings_of_the_scenario(expander, group) -> None:
    settings = "settings: {scaleUp: {expanders: [random]}}"
    assert grown(read_scenario(SCENARIO + settings, {"scaleUp.expanders": [expander]})) == [group]


def test_a_wrong_override_is_named() -> None:
    with pytest.raises(ConfigurationError, match="noSuchSetting"):
        read_scenario(SCENARIO, {"scaleUp.noSuchSetting": 1})


def test_a_plugin_that_is_not_installed_is_named() -> None:
    with pytest.raises(ConfigurationError, match="no-such-expander"):
        read_scenario(SCENARIO, {"scaleUp.expanders": ["no-such-expander"]})


def test_a_file_that_is_missing_or_has_many_scenarios_is_named(tmp_path) -> None:
    with pytest.raises(NodewrightError, match=r"gone\.yaml: can't be read"):
        read_scenario(tmp_path / "gone.yaml")
    many = tmp_path / "many.jsonl"
    many.write_text('{"now": "2030-01-01T00:00:00Z"}\n' * 2)
    with pytest.raises(NodewrightError, match=r"many\.jsonl has 2 scenarios: read the text of each by itself"):
        read_scenario(many)


def test_settings_are_read_from_a_file_or_a_text(tmp_path) -> None:
    file = tmp_path / "nodewright.yaml"
    file.write_text(HEADER)
    assert read_settings(file) == read_settings(HEADER)
    with pytest.raises(ConfigurationError, match="scaleUp"):
        read_settings("{apiVersion: nodewright.dev/v1, kind: Autoscaler, scaleUpp: {}}")


def test_explanations_say_what_the_command_says() -> None:
    world = a_world(
        groups=[a_group("base", size=1)],
        nodes={"base": [a_node("base-1")]},
        pods=[a_pod("db", node="base-1", cpu="3")],
    )
    look = decide(world, Memory(), a_policy(), EPOCH)
    assert explain_pod(look, "default/db")[0] == "pod default/db runs on node base-1 of group base"
    assert "its utilization is above the threshold" in "\n".join(explain_node(look, "base-1"))
    assert explain_group(look, "base")[0].startswith("group base")
    with pytest.raises(NodewrightError, match="base-2"):
        explain_node(look, "base-2")


@pytest.mark.parametrize("name", ["written.json", "written.yaml", "written.yaml.gz"])
def test_a_world_is_written_and_read_back(tmp_path, name) -> None:
    file = tmp_path / name
    world = a_world(groups=[a_group("base", size=1)], nodes={"base": [a_node("base-1")]})
    write_scenario(file, world=world, settings=read_settings(HEADER), now=EPOCH)
    read = read_scenario(file)
    assert [node.name for node in read.nodes] == ["base-1"]
    assert read.group_of == {"base-1": "base"}
    text = gzip.decompress(file.read_bytes()) if name.endswith(".gz") else file.read_bytes()
    assert text.startswith(b"{") == name.endswith(".json")


def test_names_can_be_hidden(tmp_path) -> None:
    file: Path = tmp_path / "hidden.json"
    world = a_world(groups=[a_group("base", size=1)], nodes={"base": [a_node("secret-1")]})
    write_scenario(file, world=world, settings=read_settings(HEADER), now=EPOCH, anonymize=True)
    assert "secret" not in file.read_text()
