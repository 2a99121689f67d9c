"""``nodewright plugins``."""

import json
from collections.abc import Callable

import pytest
from nodewright.cli.main import main

Install = Callable[..., str]

EXPANDER = """
    from nodewright.api import Expander

    class Mine(Expander):
        '''Keeps them all.'''

        def best(self, options, context):
            return options
"""


def test_the_table_tells_where_each_plugin_comes_from_and_how_it_is(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER, version="1.2")
    install("borg", {"expanders/yours": "Mine"}, "import boto4")
    assert main(["plugins"]) == 0
    header, *lines = (line.split(maxsplit=5) for line in capsys.readouterr().out.splitlines())
    assert header == ["KIND", "NAME", "DISTRIBUTION", "VERSION", "STATE", "WHAT IT IS, OR WHAT IS WRONG"]
    assert ["expanders", "mine", "acme", "1.2", "ready", "Keeps them all."] in lines
    assert [
        "expanders",
        "yours",
        "borg",
        "1.0",
        "failed",
        "can't be imported: ModuleNotFoundError: No module named 'boto4'; reinstall borg, or ask its author",
    ] in lines


def test_what_is_told_can_be_read_by_programs(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("acme", {"expanders/mine": "Mine"}, EXPANDER, version="1.2")
    assert main(["plugins", "-o", "json"]) == 0
    known = json.loads(capsys.readouterr().out)
    assert {
        "kind": "expanders",
        "name": "mine",
        "distribution": "acme",
        "version": "1.2",
        "state": "ready",
        "reason": "",
        "description": "Keeps them all.",
    } in known


def test_a_command_that_takes_the_name_of_a_built_in_one_is_told_that_it_is_not_used(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    code = """
        from nodewright.api import Command

        class Mine(Command):
            summary = "runs away"
            def add_arguments(self, parser): pass
            def run(self, arguments): return 0
    """
    install("acme", {"commands/plugins": "Mine"}, code)
    assert main(["plugins", "-o", "json"]) == 0
    (mine,) = (each for each in json.loads(capsys.readouterr().out) if each["distribution"] == "acme")
    assert (mine["state"], mine["reason"]) == ("failed", "not used: nodewright itself has a command of this name")
