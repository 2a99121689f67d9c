"""``cluster-autoscaler`` is started and ended as manifests of Cluster Autoscaler do it."""

import signal
import socket
import subprocess
import sysconfig
from pathlib import Path
from time import monotonic, sleep

import pytest
from nodewright import __version__
from nodewright.cli.cluster_autoscaler import main
from nodewright.config.flag_table import FLAGS
from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_group, a_scenario

SCRIPT = Path(sysconfig.get_path("scripts")) / "cluster-autoscaler"
CONFIG = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake: {{url: '{url}'}}]\n"


@pytest.fixture
def world():
    with World(parse_scenario(a_scenario(a_group("pool", max=5, bootTime="0s"), replicas=2)), FastClock()) as world:
        yield world


@pytest.fixture
def begin(world, tmp_path):
    """Starts ``./cluster-autoscaler`` in a folder that holds it, as the image does."""
    (tmp_path / "nodewright.yaml").write_text(CONFIG.format(url=world.provider_config["url"]))
    (tmp_path / "cluster-autoscaler").symlink_to(SCRIPT)
    started = []

    def start(*flags):
        command = ["./cluster-autoscaler", "-config=nodewright.yaml", f"-kubeconfig={world.kubeconfig}", *flags]
        started.append(subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_it_scales_with_the_flags_of_its_namesake_and_ends_with_0(world, begin) -> None:
    process = begin("-v=4", "--address=127.0.0.1:0", "--stderrthreshold=info", "-expander", "most-pods,least-waste")
    until = monotonic() + 60
    while not world.store.list("nodes"):
        assert monotonic() < until, "no node came"
        sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "grow pool 0 → 1 for 2 pods" in told


def test_it_ends_with_255_when_it_can_not_go_on(begin) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = begin(f"--address=127.0.0.1:{taken.getsockname()[1]}")
        _, told = process.communicate(timeout=20)
    assert process.returncode == 255
    assert "Address already in use" in told


def test_wrong_flags_end_it_with_2(capsys) -> None:
    assert main(["-scan-intervall=1s", "--max-nodes-total=many"]) == 2
    told = capsys.readouterr().err
    assert "--scan-intervall: unknown flag; did you mean --scan-interval?" in told
    assert '--max-nodes-total: write a whole number, not "many"' in told


@pytest.mark.parametrize("word", ["-h", "-help", "--help"])
def test_help_lists_every_flag(capsys, word) -> None:
    assert main(["--v=4", word]) == 0
    told = capsys.readouterr().out
    assert [name for name in FLAGS if f"--{name} " not in told] == []


def test_it_says_what_it_is(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"nodewright {__version__}\n"
