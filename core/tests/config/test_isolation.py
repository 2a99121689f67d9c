"""The key ``isolation`` beside the settings of a plugin."""

import sys
from datetime import timedelta

import pytest
from nodewright.api import ConfigurationError, PluginError
from nodewright.cli.main import main
from nodewright.config.document import load, to_yaml
from nodewright.config.reference import Reference
from nodewright.config.schema import json_schema
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing import SteppedClock, an_expander_context, an_option

HEADER = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
EXPANDER = """
    import os
    from nodewright.api import Expander, PluginConfig

    class Mine(Expander):
        api_version = 1

        class Config(PluginConfig):
            zone: str = ""

        def best(self, options, context):
            assert os.getppid() != 1
            return options

    class Taken(Mine):
        class Config(PluginConfig):
            isolation: str = ""
"""


def expander(text):
    return load(f"{HEADER}scaleUp:\n  expanders:\n  - mine: {text}\n", complete=False).settings.scale_up.expanders[0]


@pytest.fixture
def mine(install):
    return install("acme", {"expanders/mine": "Mine", "expanders/taken": "Taken"}, EXPANDER)


def test_a_plugin_runs_here_unless_it_says_otherwise() -> None:
    assert expander("{zone: a}").isolation is None
    assert expander("{zone: a, isolation: }").isolation is None


def test_the_key_is_none_of_the_plugins_own_settings() -> None:
    found = expander("{zone: a, isolation: process}")
    assert found.config == {"zone": "a"}
    assert found.isolation is not None


def test_limits_stand_below_the_key() -> None:
    found = expander("{isolation: {process: {memory: 512Mi, deadline: 3s}}}").isolation
    assert (found.memory, found.deadline) == (512 << 20, timedelta(seconds=3))


@pytest.mark.parametrize(
    "written",
    [
        {"mine": {"zone": "a", "isolation": "process"}},
        {"mine": {"isolation": {"process": {"memory": "512Mi", "deadline": "3s"}}}},
    ],
)
def test_it_is_written_as_it_is_read(written) -> None:
    assert Reference.read(written).written() == written
    settings = load(f"{HEADER}hooks:\n- {written}\n".replace("'", ""), complete=False).settings
    assert load(to_yaml(settings), complete=False).settings == settings


def test_mistakes_name_the_line_and_what_to_write() -> None:
    limits = "      process:\n        memory: 5Mi\n        x: 1\n"
    text = f"{HEADER}hooks:\n- a: {{isolation: thread}}\n- b:\n    isolation:\n{limits}"
    with pytest.raises(ConfigurationError) as caught:
        load(text, complete=False)
    assert str(caught.value).splitlines() == [
        "configuration:4: hooks[0].a.isolation: write process, or {process: {memory: 512Mi, deadline: 10s}}",
        "configuration:8: hooks[1].b.isolation.process.memory: must be at least 128Mi: Python takes half of that",
        "configuration:9: hooks[1].b.isolation.process.x: unknown setting",
    ]


def test_every_plugin_has_the_key_in_the_schema(mine) -> None:
    schema = json_schema(Registry())
    assert "isolation" in schema["$defs"]["expanders.mine"]["properties"]
    assert "isolation" in schema["$defs"]["expanders.least-waste"]["properties"]


def test_a_plugin_that_has_a_setting_of_that_name_is_refused(mine) -> None:
    with pytest.raises(
        PluginError, match="its setting isolation has a name that Nodewright keeps for itself: rename it"
    ):
        Registry().load("expanders", "taken")


def test_an_isolated_plugin_is_checked_and_made_without_being_imported_here(mine) -> None:
    registry, faults = Registry(), Faults(SteppedClock())
    text = f"{HEADER}scaleUp: {{expanders: [mine: {{isolation: process}}]}}\n"
    loaded = load(text, classes=registry, complete=False)
    assert not loaded.warnings
    strategies = Strategies(registry, faults)
    policy = strategies.policy(loaded.settings)
    options = [an_option()]
    assert policy.expanders["mine"].best(options, an_expander_context()) == options
    strategies.close()
    assert mine not in sys.modules
    assert not faults.counts


def test_settings_of_an_isolated_plugin_are_checked_line_by_line(mine) -> None:
    text = f"{HEADER}scaleUp:\n  expanders:\n  - mine:\n      isolation: process\n      zoen: a\n"
    with pytest.raises(ConfigurationError) as caught:
        load(text, classes=Registry(), complete=False)
    assert str(caught.value) == "configuration:7: scaleUp.expanders[0].mine.zoen: unknown setting; did you mean zone?"
    assert mine not in sys.modules


def test_a_plugin_that_ends_the_process_that_imports_it_is_left_out(install) -> None:
    install("acme", {"expanders/mine": "Mine"}, "import os; os._exit(4)")
    text = f"{HEADER}scaleUp:\n  expanders:\n  - mine: {{isolation: process}}\n"
    (warning,) = load(text, classes=Registry(), complete=False, tolerant=True).warnings
    assert str(warning) == (
        "configuration:5: scaleUp.expanders[0]: left out: mine can't be loaded in a process of its own: "
        "the process of mine ended with exit code 4"
    )


def test_the_list_of_plugins_shows_which_are_isolated(mine, tmp_path, capsys) -> None:
    file = tmp_path / "nodewright.yaml"
    file.write_text(f"{HEADER}providers: [fake]\nscaleUp: {{expanders: [mine: {{isolation: process}}]}}\n")
    main(["plugins", "--config", str(file)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if " mine " in line]
    assert "in use" in line
    assert "(in a process of its own)" in line
