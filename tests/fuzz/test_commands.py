"""Whatever the input: every command ends in time, with a message and a status."""

import os
import subprocess
import sys

import pytest

from tests.fuzz.commands import attempt, fault

#: How many attempts are made; FUZZ_ATTEMPTS=2000 for a whole run, FUZZ_FIRST for others.
_ATTEMPTS = int(os.environ.get("FUZZ_ATTEMPTS", "200"))
_FIRST = int(os.environ.get("FUZZ_FIRST", "0"))
_PARTS = 4


@pytest.mark.timeout(0 if _ATTEMPTS > 1000 else 300)
@pytest.mark.parametrize("part", range(_PARTS))
def test_no_input_makes_a_command_hang_or_print_a_traceback(part, tmp_path) -> None:
    faults = []
    for seed in range(_FIRST + part, _FIRST + _ATTEMPTS, _PARTS):
        found = fault(each := attempt(seed), tmp_path)
        if found:
            faults.append(f"attempt {seed}: {each}\n{found}")

    assert not faults, f"{len(faults)} faults:\n\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("> /dev/full", 1),
        ("> /dev/full 2> /dev/full", 1),
        (">&-", 0),
        (">&- 2>&- <&-", 0),
        ("2> /dev/full", 0),
        ("| head -c 1 > /dev/null", 141),
    ],
)
@pytest.mark.parametrize("words", ["config schema", "--help", "config from-flags --expander=least-waste"])
def test_output_that_goes_nowhere_is_told_in_a_line(words, end, status) -> None:
    ended = _shell(f"{sys.executable} -m nodewright {words} {end}")

    assert ended.returncode in (status, 0 if status == 141 else status)
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 1


def test_letters_that_a_terminal_lacks_are_written_as_escapes(tmp_path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("apiVersion: nodewright.dev/v1\nkind: Autoscaler\ncluster: café ☕\n", encoding="utf-8")

    ended = _shell(f"PYTHONIOENCODING=ascii {sys.executable} -m nodewright config show {config} --live=false")

    assert ended.returncode == 0, ended.stderr
    assert r"caf\xe9 \u2615" in ended.stdout


def test_an_argument_that_is_no_text_is_refused(tmp_path) -> None:
    ended = subprocess.run(
        [sys.executable.encode(), b"-m", b"nodewright", b"decide", b"\xff.json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stderr == "nodewright: '\\udcff.json' is not written in UTF-8\n"


def _shell(line: str) -> subprocess.CompletedProcess[str]:
    # The status of a pipe is that of its first part.
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, timeout=120, check=False
    )
