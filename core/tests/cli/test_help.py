"""The help of each command: it fits the terminal, and its examples work."""

import re
import shlex
from contextlib import suppress

import pytest
from nodewright.cli import commands
from nodewright.cli.completion import whole_parser
from nodewright.cli.main import main

EXAMPLES = [(name, line) for name in commands.names() for line in commands.load(name).examples]


@pytest.mark.parametrize("name", commands.names())
def test_each_command_has_examples(name) -> None:
    assert name in {of for of, _ in EXAMPLES}


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_each_example_is_understood(name, line) -> None:
    (said,) = re.findall(r"nodewright ([^|)>]*)", line)
    command, *words = shlex.split(said.strip())
    assert command == name
    whole_parser([name]).parse_args([command, *words])


@pytest.mark.parametrize("name", commands.names())
def test_the_help_fits_a_small_terminal(name, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with suppress(SystemExit):
        main([name, "--help"])
    told = capsys.readouterr().out
    assert "examples:" in told
    assert [line for line in told.splitlines() if len(line) > 80 and "nodewright " not in line] == []
