"""``nodewright run`` as people start and stop it: a process of its own."""

import json
import signal
import socket
import subprocess
import sys
from time import monotonic, sleep
from urllib.request import urlopen

import pytest
from nodewright.testing.clock import FastClock
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_group, a_scenario

SCENARIO = a_scenario(a_group("pool", max=5, bootTime="0s"), replicas=2)
#: Should nobody be left to stop it, it ends by itself.
PROGRAM = "import signal, sys; signal.alarm(120); from nodewright.cli.main import main; sys.exit(main())"


@pytest.fixture
def world():
    """A world in real time."""
    with World(parse_scenario(SCENARIO), FastClock()) as world:
        yield world


@pytest.fixture
def run(world, tmp_path):
    """Starts ``nodewright run`` on the world; what still runs after the test is ended."""
    started = []

    def start(*flags, address="127.0.0.1:0"):
        config = tmp_path / "nodewright.yaml"
        config.write_text(
            "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
            f"providers: [fake: {{url: '{world.provider_config['url']}'}}]\nserver: {{address: '{address}'}}\n"
        )
        command = [sys.executable, "-c", PROGRAM, "run", "--config", str(config)]
        command += ["--kubeconfig", str(world.kubeconfig), *flags]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_dry_run_writes_nothing_from_start_to_end_even_with_leader_election_on(world, run) -> None:
    process = run("--dry-run", "--leader-elect=true", "--write-status-configmap=true", "--scan-interval=1s")
    eventually(lambda: world.cloud.gate.calls.get("snapshot", 0) > 2)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "this is a dry run: nothing in the cluster and in the clouds is changed" in told
    assert "would grow pool 0 → 1 for 2 pods: the only option" in told
    assert {call.verb for call in world.api_server.record.calls} <= {"get", "list", "watch"}
    assert set(world.cloud.gate.calls) <= {"snapshot", "prices"}
    assert not world.store.list("nodes")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(holds):
    until = monotonic() + 20
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_scales_until_it_is_told_to_stop(world, run, number) -> None:
    port = free_port()
    process = run(address=f"127.0.0.1:{port}")
    eventually(lambda: world.store.list("nodes"))
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        assert b"nodewright_decision_seconds_count" in answer.read()
    with urlopen(f"http://127.0.0.1:{port}/health-check") as answer:
        assert answer.read() == b"OK"
    process.send_signal(number)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "grow pool 0 → 1 for 2 pods: the only option" in told
    assert told.rstrip().endswith("stopping")


def test_snapshots_and_profiles_are_served_to_those_who_ask_for_them(world, run) -> None:
    port = free_port()
    run("--debugging-snapshot-enabled", "--profiling", address=f"127.0.0.1:{port}")
    eventually(lambda: world.store.list("nodes"))

    def ask(path):
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
            return answer.read().decode()

    def nodes():
        return [each["Node"]["metadata"]["name"] for each in json.loads(ask("/snapshotz"))["NodeList"]]

    eventually(lambda: nodes() == [node["metadata"]["name"] for node in world.store.list("nodes")])
    assert "thread MainThread\n" in ask("/debug/pprof/goroutine?debug=2")
    eventually(lambda: 'function_duration_seconds_count{function="loopWait"}' in ask("/metrics"))
    assert 'nodewright_watch_trouble{kind="pods"} 0.0' in ask("/metrics")


@pytest.mark.parametrize("operation", ["snapshot", "increase"])
def test_a_call_that_does_not_end_does_not_keep_it(world, run, monkeypatch, operation) -> None:
    impatient = "from nodewright.cli import run; run._GRACE_SECONDS = 0.5"
    monkeypatch.setattr("tests.end_to_end.test_run.PROGRAM", PROGRAM.replace("; ", f"; {impatient}; ", 1))
    world.cloud.gate.add(ApiFault(ApiFaultKind.SLOW, operations=operation, latency=12.0))
    process = run()
    eventually(lambda: world.cloud.gate.calls.get(operation))
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=11)
    assert process.returncode == 0
    assert "stopping without waiting any longer: plugin fake has been in" in told


def test_a_cluster_that_can_not_be_seen_does_not_keep_it(world, run) -> None:
    hidden = Fault(when=lambda request: request.path.endswith("/nodes"), status=403)
    world.api_server.faults.append(hidden)
    process = run()
    eventually(lambda: hidden.hits)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 0
    assert told.rstrip().endswith("stopping before the cluster was seen for the first time")


def test_a_port_that_is_taken_is_told_with_what_to_do(run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = run(address=f"127.0.0.1:{taken.getsockname()[1]}")
        _, told = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "Address already in use. Name another address with server.address or --address, or free this one" in told


def test_wrong_flags_end_it_before_it_begins(run) -> None:
    _, told = (process := run("--scan-intervall=1s", "--expander=least-wast")).communicate(timeout=20)
    assert process.returncode == 2
    assert "flags: --scan-intervall: unknown flag; did you mean --scan-interval?" in told
    assert "no expander is called 'least-wast': did you mean 'least-waste'?" in told
