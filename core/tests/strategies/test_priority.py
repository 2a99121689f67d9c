"""The expander priority, with its ranking in YAML and in a ConfigMap."""

import pytest
from nodewright.api import ConfigurationError
from nodewright.config.document import load
from nodewright.plugins import Registry
from nodewright.strategies.priority import CONFIG_MAP, Priority
from nodewright.testing import an_expander_context, an_option

ALL = ("spot-a", "spot-b", "on-demand", "gpu")


def told(context):
    return [(notice.reason, notice.message) for notice in context.notices]


@pytest.fixture
def rank(best):
    """Asks for the best of ALL, with a ConfigMap that has *text* for its priorities."""

    def ask(text, *groups):
        context = an_expander_context(config_maps={CONFIG_MAP: {"priorities": text}})
        chosen = best(Priority, *(an_option(group) for group in groups or ALL), context=context)
        return chosen, context

    return ask


def test_the_groups_of_the_highest_priority_are_kept(rank) -> None:
    assert rank("{10: [spot], 20: ['^on-'], 5: [gpu]}")[0] == ["on-demand"]
    assert rank("{30: [spot], 20: ['^on-'], 5: [gpu]}")[0] == ["spot-a", "spot-b"]


def test_patterns_are_found_anywhere_and_the_highest_of_several_counts(rank) -> None:
    assert rank("{1: ['.*'], 2: [demand, pot-b]}")[0] == ["spot-b", "on-demand"]


def test_groups_without_a_priority_are_left_out_and_named(rank) -> None:
    chosen, context = rank("{10: [spot]}")
    assert chosen == ["spot-a", "spot-b"]
    assert told(context) == [
        (
            "PriorityConfigMapNotMatchedGroup",
            f"group {group} has no priority and is not used while groups with one can be",
        )
        for group in ("on-demand", "gpu")
    ]
    assert {notice.config_map for notice in context.notices} == {CONFIG_MAP}


def test_all_options_are_kept_if_no_group_has_a_priority(rank) -> None:
    chosen, context = rank("{10: [nothing-like-it]}", "a", "b")
    assert chosen == ["a", "b"]
    assert told(context)[-1] == (
        "PriorityConfigMapNoGroupMatched",
        "no group that could grow has a priority; all options are kept",
    )


def test_priorities_below_minus_one_never_win(rank) -> None:
    assert rank("{-1: [spot], -2: [gpu]}")[0] == ["spot-a", "spot-b"]
    chosen, context = rank("{-2: [gpu]}")
    assert chosen == list(ALL)
    assert "gpu" not in [message.split()[1] for _, message in told(context)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'priorities' is empty"),
        ("{10: [spot", "'priorities' is no YAML: while parsing a flow sequence"),
        ("[spot]", "'priorities' is no list of regular expressions by priority: Input should be a valid dictionary"),
        ("{first: [spot]}", "by priority: first.[key]: Input should be a valid integer"),
        ("{10: ['sp(ot']}", "by priority: 10.0: Input should be a valid regular expression"),
        ("{10: spot}", "by priority: 10: Input should be a valid tuple"),
    ],
)
def test_a_config_map_that_is_wrong_keeps_all_options_and_is_named(rank, text, problem) -> None:
    chosen, context = rank(text)
    assert chosen == list(ALL)
    ((reason, message),) = told(context)
    assert reason == "PriorityConfigMapInvalid"
    assert problem in message
    assert message.endswith("; all options are kept")


@pytest.mark.parametrize(
    ("config_maps", "problem"),
    [
        ({}, f"there is no ConfigMap {CONFIG_MAP}"),
        ({CONFIG_MAP: {"priority": "{1: [a]}"}}, f"ConfigMap {CONFIG_MAP} has no key 'priorities'"),
    ],
)
def test_a_config_map_that_is_missing_or_has_other_keys_keeps_all_options(best, config_maps, problem) -> None:
    context = an_expander_context(config_maps=config_maps)
    assert best(Priority, an_option("a"), an_option("b"), context=context) == ["a", "b"]
    assert told(context) == [("PriorityConfigMapInvalid", f"{problem}; all options are kept")]


def test_priorities_in_yaml_take_the_place_of_the_config_map(best) -> None:
    context = an_expander_context(config_maps={CONFIG_MAP: {"priorities": "{1: [on-demand]}"}})
    options = [an_option(group) for group in ALL]
    assert best(Priority, *options, context=context, priorities={10: ["spot-.$"]}) == ["spot-a", "spot-b"]
    assert {notice.config_map for notice in context.notices} == {""}


def test_only_without_priorities_in_yaml_a_config_map_is_asked_for() -> None:
    assert Priority(Priority.Config()).config_map == CONFIG_MAP
    assert Priority(Priority.Config.model_validate({"priorities": {1: ["a"]}})).config_map == ""


def test_priorities_in_the_configuration_file_are_checked() -> None:
    text = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [fake]
scaleUp:
  expanders:
    - priority:
        priorities:
          20: [".*spot.*", "("]
          high: ["a"]
"""
    with pytest.raises(ConfigurationError) as caught:
        load(text, classes=Registry())
    problems = {problem.path: problem.message for problem in caught.value.problems}
    place = "scaleUp.expanders[0].priority.priorities"
    assert "regular expression" in problems[f"{place}.20[1]"]
    assert problems[f"{place}.high"] == 'write a whole number, not "high"'
