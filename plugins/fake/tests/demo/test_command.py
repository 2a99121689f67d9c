"""``nodewright demo`` as its users run it."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from io import StringIO

import pytest
from nodewright.api import ConfigurationError
from nodewright.testing import FastClock
from nodewright_fake.demo.stage import Stage
from nodewright_fake.demo.view import frame
from nodewright_fake.scenario import parse_scenario
from rich.console import Console

#: Should nobody be left to interrupt it, it ends by itself.
MAIN = "import signal, sys; signal.alarm(120); import nodewright.cli.main as cli; sys.exit(cli.main())"
COMMAND = [sys.executable, "-W", "error", "-c", MAIN, "demo"]
SHORT = """
name: a short one
clock: {speed: 120, start: 2030-01-01T00:00:00Z}
zones: [eu-a]
instanceTypes:
  small: {cpu: 2, memory: 4Gi, price: 0.6}
groups:
  - {name: base, zone: eu-a, instanceType: small, min: 1, max: 4, bootTime: 20s}
workloads:
  deployments:
    - {name: web, replicas: 1, cpu: 1500m}
story:
  - {at: 30s, note: One more., scale: {deployment: web, replicas: 2}}
  - {at: 5m, note: That was all.}
"""


@pytest.fixture
def short(tmp_path):
    file = tmp_path / "short.yaml"
    file.write_text(SHORT)
    return str(file)


@pytest.fixture
def surroundings(tmp_path):
    """The environment of a demo whose temporary files can be told from others'."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    return {**os.environ, "TMPDIR": str(directory), "COLUMNS": "80", "TERM": "xterm-256color"}


@pytest.fixture
def start(surroundings):
    """Starts a demo with its output in pipes; it is ended with the test at the latest."""
    processes = []

    def begin(*words):
        process = subprocess.Popen(
            [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def left_behind(surroundings):
    """Names of the temporary files that are there."""
    return os.listdir(surroundings["TMPDIR"])


def run(*words):
    """Run the command in this process and return its exit status."""
    # What imports the whole configuration is not needed to collect tests.
    from nodewright.cli.main import main

    return main(["demo", *words])


def test_the_whole_story_at_high_speed_ends_well_with_the_summary(start, surroundings) -> None:
    process = start("--speed", "200")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert re.search(r"^12:0\d:\d\d  story    The shop is on television", out, re.MULTILINE)
    assert re.search(r"^12:\d\d:\d\d  grow     grow spot-", out, re.MULTILINE)
    assert re.search(r"^12:\d\d:\d\d  node     spot-[ab]-1 is ready$", out, re.MULTILINE)
    assert re.search(r"^12:\d\d:\d\d  state    \d+ nodes", out, re.MULTILINE)
    assert re.search(r"^12:1[78]:\d\d  story    All is quiet", out, re.MULTILINE)
    summary = out[out.rindex("\n\n") :]
    assert re.search(r"^pods +\d+ pods waited for a node", summary, re.MULTILINE)
    assert re.search(r"waiting time: mean \d+ s, p50 \d+ s, p95 \d+ s, max \d+ s$", summary, re.MULTILINE)
    assert re.search(r"^nodes +2 at the start, \d+ at the peak, \d+ at the end$", summary, re.MULTILINE)
    assert re.search(r"a static cluster of the size of the peak: \$\d\.\d+, \d+% saved$", summary, re.MULTILINE)
    assert re.search(r"CreateFailed: the cloud could not make it", summary)
    assert left_behind(surroundings) == []


def test_a_story_of_ones_own_is_played_at_its_own_speed(short, capsys) -> None:
    assert run("--scenario", short) == 0
    out = capsys.readouterr().out
    assert re.search(r"^00:00:[345]\d  story    One more\.$", out, re.MULTILINE)
    assert re.search(r"grow base 1 → 2 for 1 pod: the only option$", out, re.MULTILINE)
    assert "1 pod waited for a node, 1 found one at once" in out


def test_a_duration_ends_a_story_early(short, capsys) -> None:
    assert run("--scenario", short, "--duration", "10s") == 0
    out = capsys.readouterr().out
    assert "One more." not in out
    assert re.search(r"^time +[1-5]\ds of the cluster's time$", out, re.MULTILINE)


def test_ctrl_c_prints_the_summary_so_far_and_leaves_nothing_behind(start, surroundings) -> None:
    process = start("--speed", "1")
    assert process.stdout.readline() != ""
    assert len(left_behind(surroundings)) == 1
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 5
    assert (process.returncode, err) == (130, "")
    assert re.search(r"^nodes +2 at the start, 2 at the peak, 2 at the end$", out, re.MULTILINE)
    assert left_behind(surroundings) == []


def test_a_world_that_is_kept_tells_its_kubeconfig_and_ends_well_with_ctrl_c(start, short, surroundings) -> None:
    process = start("--scenario", short, "--duration", "1s", "--keep")
    told = next(match for line in process.stdout if (match := re.search(r"export KUBECONFIG=(\S+) ", line)))
    assert os.path.basename(told[1]) in left_behind(surroundings)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert left_behind(surroundings) == []


def test_on_a_terminal_the_demo_has_a_screen_of_its_own_and_gives_it_back(surroundings, short) -> None:
    ours, its = pty.openpty()
    words = ["--scenario", short, "--speed", "20"]
    process = subprocess.Popen([*COMMAND, *words], stdin=its, stdout=its, stderr=its, env=surroundings)
    os.close(its)
    try:
        shown = read_until(ours, b"base-1")
        assert b"\x1b[?1049h" in shown
        assert b"\x1b[?25l" in shown
        assert b"a short one" in shown
        process.send_signal(signal.SIGINT)
        rest = read_until(ours, b"failures")
        assert rest.index(b"\x1b[?1049l") < rest.index(b"at the peak")
        assert rest.rindex(b"\x1b[?25h") > rest.rfind(b"\x1b[?25l")
        assert process.wait(timeout=20) == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(descriptor, text, *, within=20.0):
    """What comes from a terminal up to and with *text*."""
    shown = b""
    until = time.monotonic() + within
    while text not in shown and time.monotonic() < until:
        shown += os.read(descriptor, 65536)
    return shown


def test_where_no_colour_is_wanted_none_is_used(make, monkeypatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(force_terminal=True, color_system="truecolor", file=StringIO())
    console.print(frame(make.scene(), 80, 24))
    assert "●" in console.file.getvalue()
    assert not re.search(r"\x1b\[[\d;]*[34]8;", console.file.getvalue())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--speed", "0"], "argument --speed: 0 is no speed: write a number above 0, such as 20"),
        (["--speed", "fast"], "argument --speed: fast is no speed: write a number above 0, such as 20"),
        (
            ["--duration", "ten"],
            "argument --duration: 'ten' is not a duration: write a number with a unit, such as 90s, 2m or 1h30m",
        ),
    ],
)
def test_wrong_words_are_told(words, message, capsys) -> None:
    with pytest.raises(SystemExit) as exit_:
        run(*words)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


def test_a_scenario_that_can_not_be_read_is_told(capsys) -> None:
    assert run("--scenario", "missing.yaml") == 2
    assert capsys.readouterr().err.startswith("missing.yaml: can't be read")


def test_wrong_settings_for_the_autoscaler_end_the_demo_with_all_mistakes(tmp_path, capsys) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(f"{SHORT}autoscaler: {{scaleDown: {{unneededTime: soon}}, scaleup: {{}}}}\n")
    assert run("--scenario", str(file)) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("autoscaler, in the scenario: scaleDown.unneededTime: ")
    assert second.startswith("autoscaler, in the scenario: scaleup: ")


def test_a_scenario_can_not_have_the_autoscaler_look_after_another_cloud() -> None:
    scenario = parse_scenario(f"{SHORT}autoscaler: {{providers: [aws]}}\n")
    with Stage(scenario, FastClock()) as stage, pytest.raises(ConfigurationError) as refused:
        stage.autoscaler()
    assert str(refused.value) == (
        "autoscaler, in the scenario: providers: leave them out: the demo's only provider is the scenario's own cloud"
    )
