"""``nodewright run`` with plugins in processes of their own, of which one does what no Python program survives."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from nodewright.testing.clock import FastClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_group, a_scenario

SCENARIO = a_scenario(a_group("pool", max=5, bootTime="0s"), a_group("other", max=5, bootTime="0s"), replicas=2)
#: Should nobody be left to stop it, it ends by itself.
PROGRAM = "import signal; signal.alarm(120); from nodewright.cli.main import program; program()"

DEADLY = """
    import re
    from nodewright.api import Expander

    class Deadly(Expander):
        api_version = 1

        def best(self, options, context):
            re.match("(a+)+$", "a" * 60 + "b")
"""
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - fake: {{url: "{url}", isolation: process}}
scaleUp:
  expanders:
    - deadly: {{isolation: {{process: {{deadline: 500ms, memory: 512Mi}}}}}}
    - least-waste
server: {{address: 127.0.0.1:0}}
leaderElection: {{enabled: false}}
"""


@pytest.fixture
def nodewright(tmp_path):
    """A running Nodewright, and the world that it runs in."""
    with World(parse_scenario(SCENARIO), FastClock()) as world, Distributions(tmp_path) as distributions:
        distributions.install("acme", {"expanders/deadly": "Deadly"}, DEADLY)
        file = tmp_path / "nodewright.yaml"
        file.write_text(CONFIG.format(url=world.provider_config["url"]))
        command = [sys.executable, "-c", PROGRAM, "run", "--config", str(file), "--kubeconfig", str(world.kubeconfig)]
        path = os.pathsep.join(filter(None, sys.path))
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": path})
        yield process, world, file
        process.kill()
        process.communicate()


def test_it_scales_while_a_plugin_hangs_for_ever_and_leaves_no_process_behind(nodewright) -> None:
    process, world, _ = nodewright
    eventually(lambda: world.store.list("nodes"))
    theirs = processes_below(process.pid)
    assert theirs
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 0
    assert (
        "plugin deadly failed in best: the process of deadly gave no answer (best) within 0.5 s: it was ended" in told
    )
    assert not any(Path(f"/proc/{each}").exists() for each in theirs)


def test_a_plugin_comes_back_into_the_process_when_the_file_says_so(nodewright) -> None:
    process, world, file = nodewright
    eventually(lambda: world.store.list("nodes"))
    assert processes_below(process.pid)
    text = file.read_text().replace(", isolation: process", "")
    file.write_text("".join(line for line in text.splitlines(keepends=True) if "deadly" not in line))
    eventually(lambda: not processes_below(process.pid))
    assert process.poll() is None


def processes_below(parent):
    tasks = Path(f"/proc/{parent}/task").iterdir()
    children = [int(each) for task in tasks for each in (task / "children").read_text().split()]
    return [each for child in children for each in (child, *processes_below(child))]


def eventually(holds):
    until = monotonic() + 30
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.05)
