from nodewright.api import Option
from nodewright.testing import a_group, an_expander_context, an_option
from nodewright_example_near_data.expander import NearData, NearDataConfig


def option(zone: str, *, price: float | None = 1.0, pods: int = 1) -> Option:
    return an_option(a_group(f"workers-{zone}", zone=zone, price=price), pods=pods)


def best(*options: Option, **config: object) -> list[str]:
    expander = NearData(NearDataConfig.model_validate({"zones": ["b"], **config}))
    return [option.group.id for option in expander.best(options, an_expander_context())]


def test_groups_near_the_data_win() -> None:
    assert best(option("a"), option("b"), option("c")) == ["workers-b"]


def test_several_zones_may_hold_the_data() -> None:
    assert best(option("a"), option("b"), option("c"), zones=["c", "b"]) == ["workers-b", "workers-c"]


def test_nothing_near_leaves_the_choice_to_the_next_expander() -> None:
    assert best(option("a"), option("c")) == ["workers-a", "workers-c"]


def test_a_group_near_the_data_may_cost_a_little_more() -> None:
    assert best(option("a", price=1.0), option("b", price=1.2)) == ["workers-b"]


def test_a_group_near_the_data_that_costs_too_much_is_not_preferred() -> None:
    assert best(option("a", price=1.0), option("b", price=1.3)) == ["workers-a", "workers-b"]
    assert best(option("a", price=1.0), option("b", price=1.3), premium=0.5) == ["workers-b"]


def test_costs_are_compared_for_each_pod_helped() -> None:
    assert best(option("a", price=1.0, pods=1), option("b", price=4.0, pods=4)) == ["workers-b"]


def test_an_unknown_price_is_no_reason_against_a_group() -> None:
    assert best(option("a", price=1.0), option("b", price=None)) == ["workers-b"]


def test_where_nothing_has_a_price_only_the_zone_counts() -> None:
    assert best(option("a", price=None), option("b", price=None)) == ["workers-b"]


def test_a_free_group_is_the_cheapest_there_is() -> None:
    assert best(option("a", price=0.0), option("b", price=1.0)) == ["workers-a", "workers-b"]
