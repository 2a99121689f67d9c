from dataclasses import fields, replace
from datetime import timedelta

import pytest
from nodewright.api import GroupOptions
from nodewright.config.document import load
from nodewright.config.effective import PROVIDER, default_options, group_options, rule_options, rule_setting
from nodewright.config.model import GroupRule, GroupScaleDown, Settings
from nodewright.config.paths import all_settings

MINUTE = timedelta(minutes=1)


def rule(match, **options):
    return GroupRule(match=match, **options)


def test_the_defaults_are_those_of_the_contract() -> None:
    assert default_options(Settings()) == GroupOptions()


def test_a_rule_wins_over_the_provider_which_wins_over_the_general_settings() -> None:
    settings = Settings(
        scale_down={"unneeded_time": 9 * MINUTE, "unready_time": 8 * MINUTE},
        groups=(rule("spot-*", scale_down=GroupScaleDown(unneeded_time=2 * MINUTE), max_node_startup_time=3 * MINUTE),),
    )

    def tags(defaults):
        return replace(defaults, scale_down_unneeded_time=5 * MINUTE, max_node_provision_time=6 * MINUTE)

    options, origins = group_options(settings, "spot-a", tags)
    assert options == GroupOptions(
        scale_down_unneeded_time=2 * MINUTE,
        scale_down_unready_time=8 * MINUTE,
        max_node_provision_time=6 * MINUTE,
        max_node_startup_time=3 * MINUTE,
    )
    assert origins == {
        "scale_down_utilization_threshold": "scaleDown.utilizationThreshold",
        "scale_down_gpu_utilization_threshold": "scaleDown.gpuUtilizationThreshold",
        "scale_down_unneeded_time": "groups[0].scaleDown.unneededTime",
        "scale_down_unready_time": "scaleDown.unreadyTime",
        "max_node_provision_time": PROVIDER,
        "max_node_startup_time": "groups[0].maxNodeStartupTime",
        "ignore_daemonsets_utilization": "scaleDown.ignoreDaemonsetsUtilization",
        "zero_or_max_node_scaling": "",
        "allow_non_atomic_scale_up_to_max": "",
    }


def test_what_the_provider_said_may_be_a_method_or_its_answer() -> None:
    answer = GroupOptions(scale_down_unneeded_time=MINUTE)
    assert group_options(Settings(), "a", answer) == group_options(Settings(), "a", lambda defaults: answer)


@pytest.mark.parametrize(
    ("group", "minutes"),
    [("spot-a", 1), ("spot-b", 2), ("spot-ab", 2), ("Spot-b", 4), ("gpu", 3), ("gpus", 4), ("anything", 4)],
)
def test_the_first_rule_that_matches_is_taken_as_a_whole(group, minutes) -> None:
    patterns = {"spot-a": 1, "spot-?*": 2, "gp[uv]": 3, "*": 4}
    settings = Settings(
        scale_down={"unready_time": 7 * MINUTE},
        groups=tuple(
            rule(pattern, scale_down=GroupScaleDown(unneeded_time=time * MINUTE)) for pattern, time in patterns.items()
        ),
    )
    options, _ = group_options(settings, group)
    assert options.scale_down_unneeded_time == minutes * MINUTE
    assert options.scale_down_unready_time == 7 * MINUTE


@pytest.mark.parametrize(
    ("group", "takes"),
    [("https://cloud/zones/a/instanceGroups/spot-1", True), ("https://spot-cloud/base", False), ("team/spot-1", False)],
)
def test_a_rule_matches_the_last_part_of_an_id_that_is_a_url(group, takes) -> None:
    options, _ = group_options(Settings(groups=(rule("spot-*", zero_or_max=True),)), group)
    assert options.zero_or_max_node_scaling is takes


def test_false_and_zero_in_a_rule_count() -> None:
    settings = Settings(
        scale_down={"ignore_daemonsets_utilization": True},
        groups=(rule("*", scale_down=GroupScaleDown(ignore_daemonsets_utilization=False, unneeded_time=timedelta(0))),),
    )
    options, _ = group_options(settings, "a", GroupOptions(zero_or_max_node_scaling=True))
    assert options.ignore_daemonsets_utilization is False
    assert options.scale_down_unneeded_time == timedelta(0)
    assert options.zero_or_max_node_scaling is True


def test_a_rule_may_be_looked_at_by_itself() -> None:
    settings = Settings(groups=(rule("*"), rule("[ab]", zero_or_max=True)))
    options, origins = rule_options(settings, 1)
    assert options.zero_or_max_node_scaling is True
    assert origins["zero_or_max_node_scaling"] == "groups[1].zeroOrMax"


def test_a_rule_can_say_everything_that_the_contract_has() -> None:
    sayable = {setting.name for setting in all_settings(GroupRule)} - {"match"}
    assert {rule_setting(field.name) for field in fields(GroupOptions)} == sayable


def test_a_rule_is_written_in_yaml(write) -> None:
    path = write("groups:\n  - {match: 'a*', scaleDown: {utilizationThreshold: 0.7}, maxNodeProvisionTime: 1h}")
    options, _ = group_options(load(path).settings, "abc")
    assert (options.scale_down_utilization_threshold, options.max_node_provision_time) == (0.7, 60 * MINUTE)
