import pytest
from nodewright.api import Option
from nodewright.testing import a_group, an_expander_context, an_option
from nodewright.testing.conformance import ExpanderConformance

from nodewright_my_plugin.expander import MyPlugin, MyPluginConfig


def option(zone: str, *, price: float | None = 1.0, pods: int = 1) -> Option:
    return an_option(a_group(f"workers-{zone}", zone=zone, price=price), pods=pods)


def best(*options: Option, **config: object) -> list[str]:
    expander = MyPlugin(MyPluginConfig.model_validate({"zones": ["b"], **config}))
    return [option.group.id for option in expander.best(options, an_expander_context())]


# EDIT: one test for each thing that your expander promises.
def test_groups_near_the_data_win() -> None:
    assert best(option("a"), option("b"), option("c")) == ["workers-b"]


def test_nothing_near_leaves_the_choice_to_the_next_expander() -> None:
    assert best(option("a"), option("c")) == ["workers-a", "workers-c"]


def test_a_group_near_the_data_that_costs_too_much_is_not_preferred() -> None:
    assert best(option("a", price=1.0), option("b", price=1.3)) == ["workers-a", "workers-b"]
    assert best(option("a", price=1.0), option("b", price=1.3), premium=0.5) == ["workers-b"]


def test_an_unknown_price_is_no_reason_against_a_group() -> None:
    assert best(option("a", price=1.0), option("b", price=None)) == ["workers-b"]


class TestMyPlugin(ExpanderConformance):
    @pytest.fixture
    def expander(self) -> MyPlugin:
        # EDIT: settings that make sense with the groups of the suite: they are in the zones eu-a, eu-b and eu-c.
        return MyPlugin(MyPluginConfig.model_validate({"zones": ["eu-b"]}))
