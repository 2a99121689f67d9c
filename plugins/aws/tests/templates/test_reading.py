"""How often AWS is asked what groups launch."""

import pytest
from nodewright.api import AccessDeniedError, PermanentError, ThrottledError

TYPE = "node.kubernetes.io/instance-type"
VERSIONS = "describe_launch_template_versions"


def launching(a_group, template: str, version: str = "1", **more):
    return a_group(template, LaunchTemplate={"LaunchTemplateId": template, "Version": version}, **more)


def types(templates, groups):
    return [templates.template(group).labels[TYPE] for group in groups]


def test_all_versions_of_a_launch_template_are_asked_for_in_one_call(aws, templates, a_group) -> None:
    names = ("m5.large", "m5.xlarge", "c5.xlarge")
    aws.templates["lt-1"] = [{"InstanceType": name} for name in names]
    versions = ("2", "$Latest", "$Default")
    groups = [a_group(version, LaunchTemplate={"LaunchTemplateId": "lt-1", "Version": version}) for version in versions]
    templates.refresh(groups)
    assert types(templates, groups) == ["m5.xlarge", "c5.xlarge", "m5.large"]
    assert aws.arguments(VERSIONS) == [{"LaunchTemplateId": "lt-1", "Versions": ["2", "$Latest", "$Default"]}]


def test_a_template_without_a_version_is_its_default_one(aws, templates, a_group) -> None:
    aws.templates["lt-web"] = [{"InstanceType": "m5.large"}, {"InstanceType": "m5.xlarge"}]
    group = a_group(LaunchTemplate={"LaunchTemplateName": "web"})
    templates.refresh([group])
    assert types(templates, [group]) == ["m5.large"]
    assert aws.arguments(VERSIONS) == [{"LaunchTemplateName": "web", "Versions": ["$Default"]}]


def test_one_version_that_is_gone_is_no_harm_to_others(aws, templates, a_group) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m5.large"}]
    good = a_group("good", LaunchTemplate={"LaunchTemplateId": "lt-1", "Version": "1"})
    bad = a_group("bad", LaunchTemplate={"LaunchTemplateId": "lt-1", "Version": "7"})
    templates.refresh([good, bad])
    assert types(templates, [good]) == ["m5.large"]
    with pytest.raises(PermanentError, match="version 7 of launch template lt-1 can't be read"):
        templates.template(bad)


@pytest.mark.parametrize("version", ["$Latest", "$Default", "2", "1"])
def test_many_launch_templates_are_listed_page_by_page(aws, templates, a_group, version) -> None:
    aws.page_size = 50
    for number in range(100):
        aws.templates[f"lt-{number}"] = [{"InstanceType": "m5.large"}]
    if version in ("2", "$Latest"):
        for data in aws.templates.values():
            data.append({"InstanceType": "m5.xlarge"})
    groups = [launching(a_group, f"lt-{number}", version) for number in range(100)]
    templates.refresh(groups)
    assert set(types(templates, groups)) == {"m5.xlarge" if version in ("2", "$Latest") else "m5.large"}
    assert aws.counts[VERSIONS] == 2


def test_versions_that_are_no_longer_the_latest_are_read_one_by_one(aws, templates, a_group) -> None:
    for number in range(6):
        aws.templates[f"lt-{number}"] = [{"InstanceType": "m5.large"}, {"InstanceType": "m5.xlarge"}]
    groups = [launching(a_group, f"lt-{number}", "1" if number == 3 else "2") for number in range(6)]
    templates.refresh(groups)
    assert types(templates, groups)[2:4] == ["m5.xlarge", "m5.large"]
    assert [arguments.get("LaunchTemplateId") for arguments in aws.arguments(VERSIONS)] == [None, "lt-3"]


def test_a_long_list_is_not_read_for_the_sake_of_a_few(aws, templates, a_group) -> None:
    aws.page_size = 1
    for number in range(100):
        aws.templates[f"lt-{number}"] = [{"InstanceType": "m5.large"}]
    groups = [launching(a_group, f"lt-{number}") for number in range(90, 95)]
    templates.refresh(groups)
    assert types(templates, groups) == ["m5.large"] * 5
    assert aws.counts[VERSIONS] == 5 + 5


def test_where_all_is_refused_few_calls_find_it_out(aws, templates, a_group) -> None:
    aws.failures[VERSIONS] = AccessDeniedError("not authorized to perform ec2:DescribeLaunchTemplateVersions")
    groups = [launching(a_group, f"lt-{number}") for number in range(30)]
    templates.refresh(groups)
    assert aws.counts[VERSIONS] == 1
    for group in groups:
        with pytest.raises(AccessDeniedError, match="ec2:DescribeLaunchTemplateVersions"):
            templates.template(group)


def test_what_can_change_is_read_again_within_minutes_and_what_can_t_within_hours(
    aws, clock, templates, a_group
) -> None:
    aws.templates |= {"lt-1": [{"InstanceType": "m5.large"}], "lt-2": [{"InstanceType": "m5.large"}]}
    groups = [launching(a_group, "lt-1", "1"), launching(a_group, "lt-2", "$Latest")]
    templates.refresh(groups)
    for data in aws.templates.values():
        data.append({"InstanceType": "m5.xlarge"})
    clock.advance(299)
    templates.refresh(groups)
    assert aws.counts[VERSIONS] == 2
    clock.advance(80)
    templates.refresh(groups)
    assert [arguments["LaunchTemplateId"] for arguments in aws.arguments(VERSIONS)] == ["lt-1", "lt-2", "lt-2"]
    assert types(templates, groups) == ["m5.large", "m5.xlarge"]
    clock.advance(15 * 3600)
    templates.refresh(groups)
    assert len(aws.arguments(VERSIONS)) == 5


def test_not_everything_is_due_at_once(aws, clock, templates, a_group) -> None:
    for number in range(4):
        aws.templates[f"lt-{number}"] = [{"InstanceType": "m5.large"}]
    groups = [launching(a_group, f"lt-{number}", "$Latest") for number in range(4)]
    templates.refresh(groups)
    clock.advance(300)
    due = []
    for _ in range(8):
        before = aws.counts[VERSIONS]
        clock.advance(10)
        templates.refresh(groups)
        due.append(aws.counts[VERSIONS] - before)
    assert sum(due) == 4
    assert max(due) < 4


def test_launch_configurations_are_asked_for_fifty_at_a_time(aws, templates, a_group) -> None:
    groups = [a_group(f"group-{number}", LaunchConfigurationName=f"config-{number}") for number in range(120)]
    aws.configurations = {f"config-{number}": {"InstanceType": "m5.large", "ImageId": "ami-1"} for number in range(119)}
    templates.refresh(groups)
    templates.refresh(groups[:-1])
    assert aws.counts["describe_launch_configurations"] == 3
    assert types(templates, groups[:-1]) == ["m5.large"] * 119
    templates.refresh(groups)
    with pytest.raises(PermanentError, match="there is no launch configuration 'config-119'"):
        templates.template(groups[-1])


def test_images_are_asked_for_two_hundred_at_a_time(aws, templates, a_group) -> None:
    groups = [a_group(f"group-{number}", LaunchConfigurationName=f"config-{number}") for number in range(250)]
    aws.configurations = {
        f"config-{number}": {"InstanceType": "m5.large", "ImageId": f"ami-{number}"} for number in range(250)
    }
    templates.refresh(groups)
    templates.refresh(groups)
    assert aws.counts["describe_images"] == 2


def test_an_image_that_is_shared_later_is_found(aws, clock, templates, a_group) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m5.large", "ImageId": "ami-1"}]
    group = launching(a_group, "lt-1")
    templates.refresh([group])
    assert templates.template(group).labels["kubernetes.io/os"] == "linux"
    aws.images["ami-1"] = {"Platform": "windows"}
    clock.advance(1600)
    templates.refresh([group])
    assert templates.template(group).labels["kubernetes.io/os"] == "windows"


def test_images_that_are_parameters_are_looked_up(aws, clock, templates, a_group) -> None:
    aws.images |= {"ami-1": {"Platform": "windows"}, "ami-2": {}}
    for number in range(12):
        aws.parameters[f"/images/{number}"] = "ami-1"
        selector = ":3" if number == 0 else ""
        aws.configurations[f"config-{number}"] = {
            "InstanceType": "m5.large",
            "ImageId": f"resolve:ssm:/images/{number}{selector}",
        }
    groups = [a_group(f"group-{number}", LaunchConfigurationName=f"config-{number}") for number in range(12)]
    for _ in range(2):
        templates.refresh(groups)
    assert {templates.template(group).labels["kubernetes.io/os"] for group in groups} == {"windows"}
    assert aws.counts["get_parameters"] == 2
    aws.parameters["/images/5"] = "ami-2"
    clock.advance(1600)
    templates.refresh(groups)
    assert templates.template(groups[5]).labels["kubernetes.io/os"] == "linux"


@pytest.mark.parametrize("denied", [True, False])
def test_a_parameter_that_can_t_be_read_is_no_harm_and_told_once(
    aws, clock, templates, a_group, caplog, denied
) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m5.large", "ImageId": "resolve:ssm:/images/web"}]
    if denied:
        aws.failures["get_parameters"] = AccessDeniedError("ssm:GetParameters is not allowed")
    group = launching(a_group, "lt-1")
    for _ in range(3):
        templates.refresh([group])
        clock.advance(80)
    assert types(templates, [group]) == ["m5.large"]
    assert aws.counts["get_parameters"] == 3
    reason = "ssm:GetParameters is not allowed" if denied else "there is no such parameter"
    (message,) = caplog.messages
    assert message == (
        "the image resolve:ssm:/images/web of a launch template can't be looked up, so templates lack what the image "
        f"would show: {reason}"
    )


def test_what_no_group_needs_any_more_is_forgotten(aws, templates, a_group) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m5.large"}]
    group = launching(a_group, "lt-1")
    for groups in ([group], [], [group]):
        templates.refresh(groups)
    assert aws.counts[VERSIONS] == 2


def test_the_same_requirements_are_asked_for_once(aws, clock, templates, a_group, mixed) -> None:
    wishes = {"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 1}}
    aws.templates["lt-1"] = [{"ImageId": "ami-1"}]
    aws.matching.append((wishes, ["m5.large"]))
    groups = [
        a_group(name, MixedInstancesPolicy=mixed("lt-1", {"InstanceRequirements": wishes})) for name in ("a", "b")
    ]
    templates.refresh(groups)
    aws.matching[0][1].append("m5.xlarge")
    clock.advance(1199)
    templates.refresh(groups)
    assert aws.counts["get_instance_types_from_instance_requirements"] == 1
    clock.advance(302)
    templates.refresh(groups)
    assert aws.counts["get_instance_types_from_instance_requirements"] == 2
    assert len(templates.pools(groups[0])) == 2


def test_throttled_requirements_are_not_pressed_on(aws, templates, a_group, mixed) -> None:
    aws.templates["lt-1"] = [{}]
    aws.failures["get_instance_types_from_instance_requirements"] = ThrottledError("slow down")
    groups = [
        a_group(
            f"group-{number}",
            MixedInstancesPolicy=mixed(
                "lt-1", {"InstanceRequirements": {"VCpuCount": {"Min": number}, "MemoryMiB": {"Min": 1}}}
            ),
        )
        for number in range(20)
    ]
    templates.refresh(groups)
    assert aws.counts["get_instance_types_from_instance_requirements"] == 1
    with pytest.raises(ThrottledError):
        templates.template(groups[-1])


def test_the_catalogue_is_asked_for_all_types_together(aws, catalogue, templates, a_group, mixed) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m6g.large"}]
    groups = [
        launching(a_group, "lt-1"),
        a_group("mixed", MixedInstancesPolicy=mixed("lt-1", "m5.large", "m5.xlarge")),
        launching(a_group, "lt-9"),
    ]
    templates.refresh(groups)
    assert catalogue.asked == [{"m6g.large", "m5.large", "m5.xlarge"}]


def test_machines_make_no_calls(aws, templates, a_group) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m5.large"}]
    few, many = (
        launching(a_group, "lt-1", machines=" ".join(f"a:i-{number}" for number in range(count))) for count in (1, 500)
    )
    templates.refresh([few])
    asked = len(aws.asked)
    templates.refresh([many])
    assert len(aws.asked) == asked
