"""The TAB key: what a shell is told that may come next."""

import os
import subprocess
import sys

import pytest
from nodewright.cli.main import main


def completions(line, tmp_path):
    """What the program answers to a shell that stands at the end of *line*."""
    answer = tmp_path / "answer"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    program = "from nodewright.cli.main import program; program()"
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    return answer.read_text().split("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nodewright sha", ["shadow"]),
        ("nodewright why ", ["pod", "node", "group"]),
        ("nodewright why group x -o ", ["table", "json", "yaml"]),
        ("nodewright config s", ["show", "schema"]),
        ("nodewright run --scale-down-unneeded-t", ["--scale-down-unneeded-time"]),
        ("nodewright plugins --out", ["--output"]),
    ],
)
def test_commands_options_and_values_are_completed(line, expected, tmp_path) -> None:
    assert sorted(completions(line, tmp_path)) == sorted(expected)


def test_a_command_of_another_distribution_that_is_broken_hides_no_other(install, tmp_path) -> None:
    install("acme", {"commands/hello": "Hello"}, "import boto4")
    assert completions("nodewright p", tmp_path) == ["plugins"]


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete "), ("zsh", "compdef "), ("fish", "complete ")])
def test_each_shell_gets_what_it_reads(shell, word, capsys) -> None:
    assert main(["completion", shell]) == 0
    told = capsys.readouterr().out
    assert word in told
    assert "nodewright" in told
