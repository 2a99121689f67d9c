"""The example is a distribution like anybody's, and the tutorial shows it as it is."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from nodewright import testing
from nodewright.api import DrainContext, Expander, PluginConfig
from nodewright.plugins import Faults, Hooks, PluginState, Registry
from nodewright.plugins.hookimpls import HOOKS
from nodewright.testing import SteppedClock, a_group, a_node, a_pod, an_expander_context, an_option, conformance
from nodewright.testing.clock import EPOCH

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/near-data"
TUTORIAL = (ROOT / "docs/strategy-authors.md").read_text()


def block(language: str, beginning: str) -> str:
    """The one block of code in the tutorial that begins like that."""
    (found,) = (text for text in re.findall(rf"```{language}\n(.*?)```", TUTORIAL, re.DOTALL) if beginning in text)
    return str(found)


def section(title: str) -> str:
    """One section of the tutorial."""
    return TUTORIAL.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_example_is_found_by_its_name_and_made_from_its_configuration() -> None:
    near_data = Registry().create("expanders", "near-data", {"zones": ["b"], "premium": 0.5})
    assert isinstance(near_data, Expander)
    options = [an_option(a_group(f"workers-{zone}", zone=zone, price=1.0)) for zone in "abc"]
    assert near_data.best(options, an_expander_context()) == [options[1]]


def test_every_provider_and_strategy_that_is_installed_for_developers_is_ready() -> None:
    # Commands are run by tests of their own.
    known = [each for each in Registry().statuses() if each.kind != "commands"]
    assert {each.distribution for each in known} >= {"nodewright", "nodewright-fake", "nodewright-example-near-data"}
    assert [f"{each.kind}/{each.name}: {each.reason}" for each in known if each.state != PluginState.READY] == []


def test_the_tutorial_shows_the_code_and_the_metadata_of_the_example() -> None:
    assert block("python", "class NearData(") == (EXAMPLE / "src/nodewright_example_near_data/expander.py").read_text()
    assert block("toml", "[build-system]") == (EXAMPLE / "pyproject.toml").read_text()


def test_the_tutorial_shows_how_the_tests_of_the_example_begin() -> None:
    shown = block("python", "def test_")
    assert (EXAMPLE / "tests/test_near_data.py").read_text().startswith(shown)


def test_the_tutorial_shows_how_the_example_is_proven() -> None:
    assert block("python", "class TestNearData(") == (EXAMPLE / "tests/test_conformance.py").read_text()


def test_the_tutorial_lists_every_suite_of_strategies_with_its_fixture() -> None:
    rows = re.findall(r"^\| ((?:`\w+Conformance`(?:, )?)+) \| `(\w+)`", TUTORIAL, re.MULTILINE)
    shown = {name: fixture for names, fixture in rows for name in re.findall(r"\w+Conformance", names)}
    suites = {name for name in conformance.__all__ if name.endswith("Conformance")} - {"ProviderConformance"}
    assert shown.keys() == suites
    assert [name for name, fixture in shown.items() if not hasattr(getattr(conformance, name), fixture)] == []


def test_the_hook_in_the_tutorial_works() -> None:
    names: dict[str, Any] = {}
    exec(block("python", "class InUse("), names)
    hooks = Hooks(Faults(SteppedClock()))
    hooks.register("in-use", names["InUse"](names["InUseConfig"]()))
    assert str(hooks.veto_scale_down(a_node(labels={"example.com/in-use-by": "ada"}), a_group(), EPOCH)) == (
        "in-use: in use by ada"
    )
    assert hooks.veto_scale_down(a_node(), a_group(), EPOCH) is None


def test_the_drain_rule_in_the_tutorial_works() -> None:
    names: dict[str, Any] = {}
    exec(block("python", "class OfficeHours("), names)
    rule = names["OfficeHours"](PluginConfig())
    night, day = (DrainContext(now=EPOCH + timedelta(hours=hour)) for hour in (5, 6))
    shop, other = a_pod(namespace="shop"), a_pod()
    assert [rule.judge(shop, night), rule.judge(shop, day), rule.judge(other, day)] == [None, "ShopIsOpen", None]
    assert [rule.varies(shop, day), rule.varies(other, day)] == [True, False]


def test_the_tutorial_lists_every_hook_with_what_it_gives() -> None:
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", section("Hooks"), re.MULTILINE)
    assert {name: tuple(filter(None, arguments.split(", "))) for name, arguments in rows} == HOOKS


def test_the_builders_in_the_tutorial_can_be_called_as_shown() -> None:
    calls = re.findall(r"^\| `(.*?)` \|", section("Builders for tests"), re.MULTILINE)
    assert {call.partition("(")[0] for call in calls} >= {name for name in testing.__all__ if name.startswith("a")}
    names = {name: getattr(testing, name) for name in testing.__all__}
    for call in calls:
        assert eval(call, names) is not None
