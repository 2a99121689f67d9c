"""``docs/output.md`` describes what programs get, and how commands end."""

import json
import re
from pathlib import Path

import pytest
import yaml
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.main import main

PAGE = (Path(__file__).parents[3] / "docs" / "output.md").read_text()
HEADER = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
NODE = {
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {
        "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "110"},
        "capacity": {"cpu": "2", "memory": "4Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


def documented(section):
    """The fields that the page lists under a heading, as patterns of paths."""
    (text,) = re.findall(rf"^## `{section}`\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE))


def paths(data, at=""):
    """The path of every value in *data*."""
    match data:
        case dict():
            return {path for key, value in data.items() for path in paths(value, f"{at}.{key}" if at else key)}
        case list():
            return {path for value in data for path in paths(value, f"{at}[]")}
    return {at}


def undocumented(data, section):
    patterns = [
        re.escape(each).replace(r"\*", ".+") + (r"(\W.*)?" if "value" in each else "") for each in documented(section)
    ]
    return [path for path in sorted(paths(data)) if not any(re.fullmatch(each, path) for each in patterns)]


@pytest.fixture
def told(capsys):
    """Runs a command for JSON and for YAML, and returns the data, which has to be the same, and the exit status."""

    def ask(*words):
        status = main([*words, "-o", "json"])
        as_json = json.loads(capsys.readouterr().out)
        assert main([*words, "-o", "yaml"]) == status
        as_yaml = yaml.safe_load(capsys.readouterr().out)
        for each in (as_json, as_yaml):
            for iteration in each.get("iterations", ()) if isinstance(each, dict) else ():
                iteration.pop("timingsMs")
        assert as_yaml == as_json
        return as_json, status

    return ask


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "nodewright.yaml"
    providers = "providers: [fake: {url: 'http://127.0.0.1:9'}]"
    file.write_text(f"{HEADER}groups: [{{match: 'a*', scaleDown: {{unneededTime: 5m}}}}]\n{providers}\n")
    return str(file)


def test_every_exit_status_is_in_the_table() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", PAGE, flags=re.MULTILINE)
    assert rows == [(str(each.value), each.text) for each in ExitStatus]


def test_plugins(told) -> None:
    data, status = told("plugins")
    assert (undocumented(data, "plugins"), status) == ([], ExitStatus.DONE)
    assert {f"[].{key}" for key in data[0]} == documented("plugins")


def test_a_configuration_that_is_right(told, config) -> None:
    data, status = told("config", "check", config)
    assert (data, status) == ({"ok": True, "problems": [], "warnings": []}, ExitStatus.DONE)


def test_a_configuration_that_is_wrong(told, tmp_path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(f"{HEADER}scaleDown: {{unneededTime: 5x}}\n")
    data, status = told("config", "check", str(file))
    assert (undocumented(data, "config check"), status) == ([], ExitStatus.WRONG)
    assert (data["ok"], {each["line"] for each in data["problems"]}) == (False, {1, 3})


def test_the_settings_of_a_configuration(told, config) -> None:
    data, _ = told("config", "show", config, "--live=false")
    assert undocumented(data, "config show") == []
    assert data["groups"][0]["group"] == "a*"


def test_a_decision(told, tmp_path) -> None:
    pods = [
        {
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}]},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
        }
        for name, cpu in (("web", "1500m"), ("giant", "99"))
    ]
    busy = {**pods[0], "metadata": {"name": "busy", "namespace": "shop"}, "status": {}}
    scenario = {
        "now": "2030-01-01T00:00:00Z",
        "nodeGroups": [{"id": "a", "minSize": 0, "maxSize": 5, "template": NODE}],
        "nodes": [NODE],
        "nodeToGroup": {"n1": "a"},
        "pods": [*pods, {**busy, "spec": {**busy["spec"], "nodeName": "n1"}}],
    }
    file = tmp_path / "s.json"
    file.write_text(json.dumps(scenario))
    data, _ = told("decide", str(file))
    assert undocumented(data, "decide") == []
    assert data["iterations"][0]["scaleUp"] == [{"group": "a", "delta": 1, "newSize": 2}]


def test_a_shadow_report(told, tmp_path) -> None:
    finding = {"kind": "growth-missing", "sort": "difference", "group": "a", "ours": "+1", "lag": 3.0}
    lines = [
        {"event": "began", "at": "2030-01-01T00:00:00Z", "cluster": "c", "dryRun": True},
        {"event": "compared", "at": "2030-01-01T00:01:00Z", "findings": [finding]},
    ]
    file = tmp_path / "record.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    data, status = told("shadow", "report", str(file))
    assert (undocumented(data, "shadow report"), status) == ([], ExitStatus.FAILED)
    assert data["differences"] == 1


def test_manifests_for_programs_are_one_list(config, capsys) -> None:
    assert main(["manifests", "--config", config, "-o", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["kind"], "Deployment" in {each["kind"] for each in data["items"]}) == ("List", True)
