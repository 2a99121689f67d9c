"""``nodewright world``."""

import json
import re
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import contextmanager
from pathlib import Path
from threading import enumerate as threads

import pytest
from kubernetes import client, config
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world_command import WorldCommand

SCENARIO = """
name: a small town
zones: [eu-a]
instanceTypes: {c5.large: {cpu: 2, memory: 4Gi, price: 0.1}}
groups: [{name: web, zone: eu-a, instanceType: c5.large, min: 1, max: 9}]
story: [{at: 90s, note: A stranger comes to town.}]
"""


def run(*words):
    """Run the command in this process."""
    command = WorldCommand()
    parser = ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


@contextmanager
def started(folder):
    """A small town in a process of its own: the process, and what it printed up to the first note."""
    scenario = folder / "town.yaml"
    scenario.write_text(SCENARIO)
    program = (
        # Should nobody be left to interrupt it, it ends by itself.
        "import signal; signal.alarm(120)\n"
        "import sys; from argparse import ArgumentParser; from nodewright_fake.world_command import WorldCommand\n"
        "command, parser = WorldCommand(), ArgumentParser(); command.add_arguments(parser)\n"
        "sys.exit(command.run(parser.parse_args(sys.argv[1:])))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "up", "--scenario", str(scenario), "--speed", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "stranger" in line:
            break
    try:
        yield process, "".join(lines)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The cloud's URL of a town that is up."""
    with started(tmp_path_factory.mktemp("town")) as (_, printed):
        yield re.search(r"fake: {url: (\S+)}", printed)[1]


def test_a_world_is_up_until_it_is_interrupted(tmp_path) -> None:
    with started(tmp_path) as (process, printed):
        assert "The world is up: a small town. Ctrl-C ends it." in printed
        assert re.search(r"^00:0[1-9]:\d\d  A stranger comes to town\.$", printed, re.MULTILINE)
        kubeconfig = Path(re.search(r"export KUBECONFIG=(\S+)", printed)[1])
        with config.new_client_from_config(str(kubeconfig)) as api_client:
            assert [node.metadata.name for node in client.CoreV1Api(api_client).list_node().items] == ["web-1"]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stdout.read() == ""
        assert not kubeconfig.exists()


def test_a_world_whose_terminal_is_closed_leaves_nothing_behind(tmp_path) -> None:
    with started(tmp_path) as (process, printed):
        process.send_signal(signal.SIGHUP)
        assert process.wait(10) == 0
    assert not Path(re.search(r"export KUBECONFIG=(\S+)", printed)[1]).exists()


def test_things_go_wrong_while_a_world_is_up(url, capsys) -> None:
    assert run("control", "--url", url, "stock-out", "eu-a/*", "--mode", "refuse", "--available", "1") == 0
    state = json.loads(capsys.readouterr().out)
    assert state["stocks"] == [{"pools": "eu-a/*", "available": 1, "mode": "refuse", "told": False}]
    assert run("control", "--url", url, "heal") == 0
    assert json.loads(capsys.readouterr().out)["stocks"] == []
    assert run("control", "--url", url) == 0
    assert json.loads(capsys.readouterr().out)["spending"]["web"]["machineHours"] > 0


def test_an_action_that_the_world_refuses_is_told(url, capsys) -> None:
    assert run("control", "--url", url, "stock-out", "eu-b/*", "--available", "few") == 1
    assert capsys.readouterr().err == (
        "pool: no capacity pool matches 'eu-b/*'; there are: eu-a/c5.large; "
        "available: must be a whole number, not 'few'\n"
    )


def test_no_world_is_no_address(monkeypatch, capsys) -> None:
    monkeypatch.delenv("NODEWRIGHT_FAKE_URL", raising=False)
    assert run("control", "heal") == 2
    assert capsys.readouterr().err == "which world? Give its --url, or set NODEWRIGHT_FAKE_URL\n"


def test_a_world_that_is_not_up_is_told(capsys) -> None:
    assert run("control", "--url", "http://127.0.0.1:9", "heal") == 1
    assert "the fake cloud at http://127.0.0.1:9 did not answer POST /control/heal" in capsys.readouterr().err


def test_a_scenario_with_mistakes_is_refused(tmp_path, capsys) -> None:
    scenario = tmp_path / "town.yaml"
    scenario.write_text("zones: []\n")
    assert run("up", "--scenario", str(scenario)) == 2
    assert capsys.readouterr().err == f"{scenario}:1: zones: must not be empty\n"


def test_time_does_not_go_backwards(capsys) -> None:
    assert run("up", "--speed", "-1") == 2
    assert capsys.readouterr().err == "--speed must be above 0\n"


@pytest.mark.parametrize("flag", ["--port", "--cloud-port"])
def test_a_port_that_is_taken_is_told_and_nothing_is_left(flag, capsys) -> None:
    before = threads()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert run("up", flag, str(port)) == 1
    said = capsys.readouterr().err
    assert said.startswith("the world can't be opened: [Errno ")
    assert said.endswith("; choose another --port or --cloud-port\n")
    assert threads() == before


def test_the_example_is_printed(capsys) -> None:
    assert run("scenario") == 0
    assert parse_scenario(capsys.readouterr().out).name == "a quiet shop with a busy evening"
