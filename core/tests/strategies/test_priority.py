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
        ("[spot]", "'priorities' is no list of regular expressions by priority"),
        ("{10: []}", "'priorities' has no regular expression"),
        ("{first: [spot]}", "'priorities' has 'first' in place of a priority, which is a whole number"),
        ("{true: [spot]}", "'priorities' has True in place of a priority"),
        ("{10: ['sp(ot']}", "'priorities' has a mistake under 10: 'sp(ot' is no regular expression of Go: missing )"),
        ("{10: [{a: b}]}", "'priorities' has a mistake under 10: {'a': 'b'} is no text"),
        ("{10: spot}", "'priorities' has no list of regular expressions under 10"),
        ("[" * 100_000, "'priorities' is"),
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


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (
            "{10: ['^on-', 'sp(ot'], 5: [spot]}",
            "has a mistake under 10: 'sp(ot' is no regular expression of Go: missing )",
        ),
        ("{10: ['^on-'], first: [spot]}", "has 'first' in place of a priority, which is a whole number"),
        ("{10: ['^on-'], 20: spot}", "has no list of regular expressions under 20"),
        (r"{10: ['^on-'], 20: ['(?=spot)']}", "has a mistake under 20: '(?=spot)' is no regular expression of Go"),
    ],
)
def test_a_line_that_is_wrong_costs_itself_and_is_told(rank, text, mistake) -> None:
    chosen, context = rank(text)
    assert chosen == ["on-demand"]
    reason, message = told(context)[0]
    assert reason == "PriorityConfigMapInvalid"
    assert mistake in message
    assert message.endswith("; it is left out, and all else is in force")


class TestTheLastGoodConfigMap:
    @pytest.fixture
    def ask(self):
        """Asks one expander again and again, with other priorities each time; None: there is no ConfigMap."""
        expander = Priority(Priority.Config())

        def ask(text):
            context = an_expander_context(config_maps={} if text is None else {CONFIG_MAP: {"priorities": text}})
            kept = [option.group.id for option in expander.best([an_option(group) for group in ALL], context)]
            return kept, told(context)[:1]

        return ask

    def test_it_stays_in_force_while_nothing_of_the_present_one_can_be_used(self, ask) -> None:
        ask("{10: [spot]}")
        chosen, notices = ask("{10: [")
        assert chosen == ["spot-a", "spot-b"]
        assert notices[0][1].endswith("; the priorities from before stay in force")
        assert ask("{10: [gpu]}")[0] == ["gpu"]

    def test_one_that_was_deleted_is_in_force_no_longer(self, ask) -> None:
        ask("{10: [spot]}")
        assert ask(None)[0] == list(ALL)
        assert ask("{10: [")[0] == list(ALL)


@pytest.mark.parametrize(
    ("expression", "group", "found"),
    [
        ("(?i)SPOT", "a-spot", True),
        (r"^\pL+$", "größe", True),
        (r"\p{Greek}", "spot", False),
        (r"spot\z", "spot", True),
        (r"spot\z", "spot\n", False),
        ("spot$", "spot\n", False),
        ("(?P<kind>spot)", "a-spot-b", True),
        ("(?<kind>spot)", "a-spot-b", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        ("[[:alpha:]]-", "spot-a", True),
        (r"^\w+$", "größe", False),
        (r"\d", "pool-٣", False),
        ("(?U)a+?b", "aab", True),
        (r"\x{61}", "a", True),
        ("", "a", True),
        ("5", "pool-5", True),
    ],
)
def test_expressions_mean_what_they_mean_in_go(best, expression, group, found) -> None:
    options = [an_option(group), an_option("%%%")]
    chosen = best(Priority, *options, priorities={10: [expression], 5: ["%%%"]})
    assert (group in chosen) is found


def test_no_expression_takes_long(rank) -> None:
    """Python's own engine would take longer than the world has been there."""
    assert rank("{10: ['^(a+)+$'], 5: [b]}", "a" * 60 + "b")[0] == ["a" * 60 + "b"]


def test_numbers_in_lists_are_expressions(rank) -> None:
    assert rank("{10: [5]}", "pool-5", "pool-6")[0] == ["pool-5"]


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
