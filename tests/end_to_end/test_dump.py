"""``nodewright dump`` shows the live cluster, changes nothing there, and what it shows can be decided about."""

import json
import re

import pytest
import yaml
from nodewright.cli.main import main
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing.clock import FastClock
from nodewright_fake.apiserver.faults import Fault

from tests.end_to_end.resting import at_rest, write_config

SCENARIO = """
zones: [eu-a]
instanceTypes:
  small: {cpu: 4, memory: 8Gi, price: 0.2}
  big: {cpu: 64, memory: 256Gi, price: 3}
groups:
  - {name: pool, zone: eu-a, instanceType: small, min: 1, max: 5, bootTime: 0s}
  - {name: giants, zone: eu-a, instanceType: big, max: 2, bootTime: 0s}
workloads:
  deployments:
    - {name: web, replicas: 2, cpu: "1"}
    - {name: giant, replicas: 1, cpu: "16"}
"""
PRIVATE = ("web-", "pool-1", "giants", "eu-a")


def settled(pods):
    """Whether the scheduler has looked at all pods, and the small ones run."""
    running = [pod for pod in pods if pod["spec"].get("nodeName")]
    return len(running) == 2 and all(pod["status"].get("conditions") for pod in pods)


@pytest.fixture
def world():
    """A world in which two pods run and another one needs a node of the other group."""
    with at_rest(SCENARIO, FastClock(50), settled) as world:
        yield world


@pytest.fixture
def dump(world, tmp_path, capfdbinary):
    """Dumps, and returns exit status, standard output and standard error."""
    config = write_config(
        tmp_path, world, "scaleUp: {expanders: [price]}", "groups: [{match: pool, scaleDown: {unneededTime: 2m}}]"
    )

    def dump(*words):
        status = main(["dump", *words, "--config", str(config), "--kubeconfig", str(world.kubeconfig)])
        told = capfdbinary.readouterr()
        return status, told.out, told.err.decode()

    return dump


def decided(file, capfdbinary):
    """What is decided about the picture long after: pods that have only just come would be waited for."""
    text = re.sub(r'(?m)^("?now"?: "?)\d{4}', r"\g<1>2100", file.read_text(), count=1)
    file.write_text(text)
    assert main(["decide", str(file), "-o", "json"]) == 0
    return json.loads(capfdbinary.readouterr().out)["iterations"][0]


def test_the_picture_is_decided_about_as_the_cluster(dump, tmp_path, capfdbinary) -> None:
    status, text, trouble = dump()
    assert (status, trouble) == (0, "")
    file = tmp_path / "picture.json"
    file.write_bytes(text)
    document, answer = json.loads(text), decided(file, capfdbinary)
    assert answer["scaleUp"] == [{"group": "giants", "delta": 1, "newSize": 1}]
    assert [group["id"] for group in document["nodeGroups"]] == ["pool", "giants"]
    assert document["settings"]["groups"] == [{"match": "pool", "scaleDown": {"unneededTime": "2m"}}]
    assert document["pricing"]["fake"]["pods"]
    assert (len(document["nodes"]), len(document["pods"])) == (1, 3)


def test_names_are_hidden_when_that_is_asked_for(dump, tmp_path, capfdbinary) -> None:
    file = tmp_path / "picture.yaml"
    assert dump("--anonymize", "-o", "yaml", "--output-file", str(file)) == (0, b"", "")
    text = file.read_text()
    assert [name for name in PRIVATE if name in text] == []
    assert yaml.safe_load(text)["nodeGroups"][0]["options"] == {"scaleDownUnneededTime": "2m"}
    assert decided(file, capfdbinary)["scaleUp"] == [{"group": "group-1", "delta": 1, "newSize": 1}]


def test_nothing_is_changed(world, dump) -> None:
    before = [group.desired for group in world.cloud.groups]
    dump()
    changes = ("create", "update", "patch", "delete", "deletecollection")
    assert sum(world.api_server.record.count(verb=verb) for verb in changes) == 0
    assert before == [group.desired for group in world.cloud.groups]


def test_a_missing_right_is_named(world, dump, monkeypatch) -> None:
    monkeypatch.setattr(Autoscaler.start, "__defaults__", (1.0,))
    fault = Fault(when=lambda request: request.path == "/api/v1/pods", status=403, message="pods is forbidden")
    world.api_server.faults.append(fault)
    status, text, trouble = dump()
    assert (status, text) == (1, b"")
    assert "never listed pods (list pods: pods is forbidden)" in trouble


def test_an_absent_api_server_is_named(dump, monkeypatch) -> None:
    monkeypatch.setattr(Autoscaler.start, "__defaults__", (1.0,))
    status, text, trouble = dump("--kubernetes", "http://127.0.0.1:9")
    assert (status, text) == (1, b"")
    assert "the API server at http://127.0.0.1:9 does not answer: connection refused" in trouble


def test_a_provider_that_does_not_answer_is_named(world, dump) -> None:
    world.cloud_server.stop()
    status, _, trouble = dump()
    assert status == 0
    assert "provider fake could not be read" in trouble


def test_wrong_usage_is_told(dump) -> None:
    assert dump("-o", "xml") == (2, b"", 'flags: --output: must be one of json, yaml, not "xml"\n')
    assert dump("--anonymise")[::2] == (2, "flags: --anonymise: unknown flag; did you mean --anonymize?\n")
