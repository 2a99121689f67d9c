"""Which groups are found, and how large they may be."""

import pytest
from nodewright.api import ConfigurationError, GroupSpec, ThrottledError
from nodewright_aws.config import AwsConfig
from nodewright_aws.group_specs import parse_rule
from pydantic import ValidationError

ENABLED = "k8s.io/cluster-autoscaler/enabled"


def names(provider):
    return [group.id for group in provider.groups()]


def test_a_rule_finds_groups_that_have_all_of_its_tags(aws, start) -> None:
    aws.add("a", tags={ENABLED: "true", "team": "web"})
    aws.add("b", tags={ENABLED: "true", "team": "data"})
    aws.add("c", tags={"team": "web"})
    assert names(start({}, discovery=(f"asg:tag={ENABLED},team=web",))) == ["a"]
    assert names(start({"discover": [{"tags": {ENABLED: None, "team": "web"}}]})) == ["a"]


def test_of_several_rules_any_may_find_a_group_and_each_is_asked_once(aws, start) -> None:
    aws.add("a", tags={"team": "web"})
    aws.add("b", tags={"team": "data", "env": "prod"})
    rules = ("asg:tag=team=data", "asg:tag=team=web", "asg:tag=env", "asg:tag=env")
    assert names(start({}, discovery=rules)) == ["a", "b"]
    assert aws.calls["describe_auto_scaling_groups"] == 3


def test_the_server_is_asked_for_the_tags_and_not_for_all_groups(aws, start) -> None:
    start({}, discovery=("asg:tag=b,a=1",))
    _, arguments = aws.asked[0]
    assert arguments["Filters"] == [{"Name": "tag:a", "Values": ["1"]}, {"Name": "tag-key", "Values": ["b"]}]


def test_groups_come_by_name_whatever_page_they_are_on(aws, start) -> None:
    aws.page = 2
    for name in ("d", "b", "a", "c", "e"):
        aws.add(name, tags={"x": ""})
    assert names(start({}, discovery=("asg:tag=x",))) == ["a", "b", "c", "d", "e"]


def test_names_are_asked_for_a_hundred_at_a_time(aws, start) -> None:
    for number in range(201):
        aws.add(f"g{number}")
    provider = start({"groups": [f"0:5:g{number}" for number in range(201)]})
    assert len(names(provider)) == 201
    assert aws.calls["describe_auto_scaling_groups"] == 3


def test_without_a_rule_or_a_name_the_error_says_what_to_write(start) -> None:
    with pytest.raises(
        ConfigurationError, match=r"discover: no groups are named: set discover of provider aws .* --nodes"
    ):
        start({}, refresh=False)


@pytest.mark.parametrize("rule", ["asg:team=web", "mig:tag=x", "asg:tag=", "asg:tag=a,,b", "asg:tag==1", "tag=x"])
def test_a_rule_that_is_none_is_refused_with_what_to_write(rule) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"^'.*', of discovery or --node-group-auto-discovery, is no rule for AWS: write asg:tag=key",
    ):
        parse_rule(rule)


@pytest.mark.parametrize(("spec", "why"), [("3:1:a", "minimum 3 is above the maximum 1"), ("a", "write min:max:name")])
def test_a_bad_group_is_found_when_the_configuration_is_checked(spec, why) -> None:
    with pytest.raises(ValidationError, match=why) as error:
        AwsConfig.model_validate({"groups": ["1:2:fine", spec]})
    assert error.value.errors()[0]["loc"] == ("groups", 1)


def test_a_group_that_is_named_twice_with_different_limits_is_a_mistake(aws, start) -> None:
    aws.add("workers")
    flag = GroupSpec(name="workers", min_size=0, max_size=9)
    with pytest.raises(
        ConfigurationError,
        match=r"^groups: group workers is named with 0:5 and 0:9, here or by --nodes: leave one of them",
    ):
        start({"groups": ["0:5:workers"]}, nodes=(flag,), refresh=False)
    assert names(start({"groups": ["0:9:workers", "0:9:workers"]}, nodes=(flag,))) == ["workers"]


def test_a_group_that_does_not_exist_is_warned_of_once(aws, start, caplog) -> None:
    aws.add("workers")
    provider = start({"groups": ["0:5:workers", "0:5:wrokers"]})
    provider.refresh()
    assert names(provider) == ["workers"]
    assert caplog.text.count("there is no Auto Scaling group named wrokers in eu-west-1") == 1


def test_a_group_that_is_being_deleted_is_no_group(aws, start) -> None:
    aws.add("workers", Status="Delete in progress")
    assert names(start()) == []


def test_a_found_group_has_the_sizes_of_aws(aws, start) -> None:
    aws.add("workers", low=2, high=7, tags={"x": ""})
    (group,) = start({}, discovery=("asg:tag=x",)).groups()
    assert (group.min_size, group.max_size) == (2, 7)


def test_a_named_group_keeps_its_sizes_within_those_of_aws(aws, start, caplog) -> None:
    aws.add("workers", low=2, high=7, tags={"x": ""})
    spec = GroupSpec(name="workers", min_size=3, max_size=5)
    (group,) = start({}, nodes=(spec,), discovery=("asg:tag=x",)).groups()
    assert (group.min_size, group.max_size) == (3, 5)
    assert "is to have" not in caplog.text


def test_sizes_that_aws_would_refuse_are_warned_of_once(aws, start, caplog) -> None:
    aws.add("workers", low=2, high=7)
    provider = start({"groups": ["0:100:workers"]})
    provider.refresh()
    (group,) = provider.groups()
    assert (group.min_size, group.max_size) == (2, 7)
    assert caplog.text.count("is to have 0 to 100 machines, but AWS keeps it between 2 and 7") == 1


def test_a_prefix_keeps_groups_of_one_name_apart(aws, start) -> None:
    aws.add("workers")
    assert names(start({"groups": ["0:1:workers"], "prefix": "dr/"})) == ["dr/workers"]


def test_groups_that_can_not_be_read_end_the_refresh_and_stay_as_they_were(aws, start) -> None:
    aws.add("workers", low=2)
    provider = start()
    aws.trouble["describe_auto_scaling_groups"] = ThrottledError("slower")
    with pytest.raises(ThrottledError, match="slower"):
        provider.refresh()
    assert names(provider) == ["workers"]
