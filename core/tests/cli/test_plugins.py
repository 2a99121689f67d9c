"""``nodewright plugins``."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nodewright.cli.main import main
from nodewright.plugins.registry import DISTRIBUTIONS

Install = Callable[..., str]

EXPANDER = """
    from nodewright.api import Expander

    class Mine(Expander):
        '''Keeps them all.'''

        def best(self, options, context):
            return options
"""


def test_the_table_tells_where_each_plugin_comes_from_and_how_it_is(install, capsys) -> None:
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


def test_what_is_told_can_be_read_by_programs(install, capsys) -> None:
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
        "isolated": False,
    } in known


def test_a_command_that_takes_the_name_of_a_built_in_one_is_told_that_it_is_not_used(install, capsys) -> None:
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


class TestWithConfiguration:
    """``--config FILE`` tells which plugins the file names, and whether it may."""

    CODE = """
        from nodewright.api import Expander, PluginConfig

        class MineConfig(PluginConfig):
            zone: str = "a"

        class Mine(Expander):
            Config = MineConfig
            def best(self, options, context):
                return options
    """

    @pytest.fixture
    def states(
        self, install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> Callable[[str], tuple[int, dict[str, tuple[str, str]]]]:
        """Exit status, and state and reason of each expander, under a configuration with these expanders."""
        install("acme", {"expanders/mine": "Mine"}, self.CODE)

        def states(expanders: str) -> tuple[int, dict[str, tuple[str, str]]]:
            file = tmp_path / "nodewright.yaml"
            file.write_text(
                "apiVersion: nodewright.dev/v1\n"
                "kind: Autoscaler\n"
                "providers: [{fake: {url: http://127.0.0.1:1}}]\n"
                f"scaleUp: {{expanders: {expanders}}}\n"
            )
            status = main(["plugins", "-o", "json", "--config", str(file)])
            known = json.loads(capsys.readouterr().out)
            return status, {each["name"]: (each["state"], each["reason"]) for each in known}

        return states

    def test_those_that_are_named_are_in_use(self, states) -> None:
        status, plugins = states("[{mine: {zone: b}}, least-waste]")
        assert status == 0
        assert plugins["mine"] == ("in use", "")
        assert plugins["least-waste"] == ("in use", "")
        assert plugins["binpacking"] == ("in use", "")
        assert plugins["random"] == ("ready", "")

    def test_one_with_an_invalid_configuration_has_failed(self, states) -> None:
        status, plugins = states("[{mine: {zon: b, zone: 1}}]")
        assert status == 2
        state, reason = plugins["mine"]
        assert state == "failed"
        assert reason.split("; ", 1) == [
            "scaleUp.expanders.mine.zone: write text, not 1: put it in quotes",
            "scaleUp.expanders.mine.zon: unknown setting; did you mean zone?",
        ]

    def test_one_that_is_not_installed_is_missing(self, states, monkeypatch) -> None:
        monkeypatch.setitem(DISTRIBUTIONS, ("expanders", "lucky"), "nodewright-lucky")
        status, plugins = states("[lucky]")
        assert status == 2
        assert plugins["lucky"] == (
            "missing",
            (
                "scaleUp.expanders: no expander is called 'lucky': "
                "install it in Nodewright's folder with: pip install ./plugins/lucky"
            ),
        )

    def test_a_file_that_can_not_be_read_is_told(self, tmp_path, capsys) -> None:
        file = tmp_path / "none.yaml"
        assert main(["plugins", "--config", str(file)]) == 2
        assert capsys.readouterr() == ("", f"{file}: can't be read: No such file or directory\n")
