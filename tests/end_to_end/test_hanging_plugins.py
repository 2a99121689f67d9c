"""Plugins that hang, or leave threads behind, in a process of its own: they are named, and the process ends."""

import re
import signal
import subprocess
import sys
from threading import Thread
from time import monotonic, sleep

import pytest
from nodewright.testing.clock import FastClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_group, a_scenario

SCENARIO = a_scenario(a_group("pool", max=5, bootTime="0s"), a_group("other", max=5, bootTime="0s"), replicas=2)
#: Should nobody be left to stop it, it ends by itself.
PROGRAM = """
import signal
from datetime import timedelta
from nodewright.runtime import watchdog
signal.alarm(120)
watchdog.PATIENCE = timedelta(seconds=1)
from nodewright.cli.main import program
program()
"""

HANGING = """
    import time
    from nodewright.api import Expander

    class Hanging(Expander):
        def best(self, options, context):
            while True:
                time.sleep(0.01)
"""

DEADLOCKED = """
    import ctypes
    from nodewright.api import Expander

    class Deadlocked(Expander):
        def best(self, options, context):
            lock = ctypes.create_string_buffer(64)
            ctypes.CDLL(None).pthread_mutex_lock(lock)
            ctypes.CDLL(None).pthread_mutex_lock(lock)
"""

LEAKY = """
    import threading, time
    from nodewright.api import Expander

    class Leaky(Expander):
        def best(self, options, context):
            print("leaving a thread behind")
            threading.Thread(target=time.sleep, args=(100,), name="leaky-1").start()
            return options
"""


class Process:
    """A process with its lines on stderr, as they come."""

    def __init__(self, command, path):
        self.lines = []
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": path})
        self._reader = Thread(target=lambda: self.lines.extend(self._process.stderr), daemon=True)
        self._reader.start()
        self.signal = self._process.send_signal

    def says(self, pattern):
        until = monotonic() + 30
        while not any(re.search(pattern, line) for line in list(self.lines)):
            assert monotonic() < until, f"it never said {pattern!r} but {''.join(self.lines)}"
            sleep(0.05)

    def ends(self, within):
        status = self._process.wait(within)
        self._reader.join(5)
        return status

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stderr.close()


@pytest.fixture
def run(tmp_path):
    """Starts ``nodewright run`` with an expander of this name and code, in a world in real time."""
    started = []
    with World(parse_scenario(SCENARIO), FastClock()) as world, Distributions(tmp_path) as distributions:

        def start(name, code):
            distributions.install(name, {f"expanders/{name}": name.title()}, code)
            config = tmp_path / "nodewright.yaml"
            config.write_text(
                "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
                f"providers: [fake: {{url: '{world.provider_config['url']}'}}]\n"
                f"scaleUp: {{expanders: [{name}]}}\nserver: {{address: '127.0.0.1:0'}}\n"
            )
            command = [sys.executable, "-c", PROGRAM, "run", "--config", str(config)]
            command += ["--kubeconfig", str(world.kubeconfig)]
            started.append(Process(command, path=str(tmp_path / name)))
            return started[-1]

        yield start
        for process in started:
            process.kill()


def test_an_expander_that_hangs_is_named_and_a_second_signal_ends_the_process_at_once(run) -> None:
    process = run("hanging", HANGING)
    process.says(r"plugin hanging failed in best: has been in best for \d+ s \(at hanging.py:8, in best\)")
    process.signal(signal.SIGTERM)
    # As `timeout` does, to the process and to its group.
    process.signal(signal.SIGTERM)
    process.says(r"stopping takes long: plugin hanging has been in best for \d+ s")
    began = monotonic()
    process.signal(signal.SIGTERM)
    assert process.ends(within=5) == 1
    assert monotonic() - began < 3
    process.says(r"a second signal: stopping at once; plugin hanging has been in best")


def test_a_thread_that_a_plugin_left_running_does_not_keep_the_process_alive(run) -> None:
    process = run("leaky", LEAKY)
    process.says("plugin leaky printed in best: leaving a thread behind")
    process.signal(signal.SIGTERM)
    assert process.ends(within=20) == 0
    process.says("nodewright: ending without waiting for these threads: leaky-1")


def test_a_call_into_c_that_never_ends_does_not_survive_two_signals(run) -> None:
    process = run("deadlocked", DEADLOCKED)
    process.says("plugin deadlocked failed in best: has been in best")
    process.signal(signal.SIGTERM)
    process.says("stopping takes long: plugin deadlocked has been in best")
    process.signal(signal.SIGTERM)
    assert process.ends(within=5) == 1
