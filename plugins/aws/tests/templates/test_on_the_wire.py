"""Templates as read over HTTP, in AWS's own words."""

import pytest
from nodewright.api import Taint
from nodewright_aws.autoscaling.group import parse_group
from nodewright_aws.calls import Aws
from nodewright_aws.config import AwsConfig
from nodewright_aws.instance_types.catalogue import Catalogue
from nodewright_aws.templates.templates import Templates

TYPE = "node.kubernetes.io/instance-type"
GIB = 1024**3


@pytest.fixture
def config(double):
    return AwsConfig.model_validate(double.config())


@pytest.fixture
def calls(config):
    aws = Aws(config, user_agent="test")
    yield aws
    aws.close()


@pytest.fixture
def templates(double, calls, config):
    catalogue = Catalogue(calls, double.clock, static=False)
    return Templates(calls, catalogue, config.templates, double.clock, double.region)


@pytest.fixture
def read(double, calls, templates):
    """Reads all groups as they are, refreshes and returns them by name."""

    def refresh():
        pages = calls.pages("autoscaling", "describe_auto_scaling_groups")
        groups = [parse_group(body) for page in pages for body in page["AutoScalingGroups"]]
        double.calls.clear()
        templates.refresh(groups)
        return {group.name: group for group in groups}

    return refresh


def pools(templates, group):
    return ",".join(map(str, templates.pools(group))).replace("eu-west-1", "")


def test_every_way_to_say_what_a_group_launches_is_understood(double, templates, read) -> None:
    double.make_group("template", instance_type="m5.large")
    double.make_group("configuration", launch_configuration={"SpotPrice": "0.05"}, instance_type="c5.xlarge")
    double.make_group("mixed", types=("m5.xlarge", "m5.large"), on_demand_percent=50, zones=("eu-west-1b",))
    double.make_group(
        "requirements",
        requirements={
            "VCpuCount": {"Min": 2, "Max": 2},
            "MemoryMiB": {"Min": 8192, "Max": 8192},
            "AllowedInstanceTypes": ["m5.*", "m5a.*"],
        },
    )
    groups = read()
    assert templates.template(groups["template"]).labels[TYPE] == "m5.large"
    assert pools(templates, groups["configuration"]) == "a/c5.xlarge/spot"
    assert pools(templates, groups["mixed"]) == "b/m5.xlarge,b/m5.xlarge/spot,b/m5.large,b/m5.large/spot"
    assert templates.template(groups["mixed"]).capacity["cpu"] == 2000
    assert set(pools(templates, groups["requirements"]).split(",")) == {"a/m5.large", "a/m5a.large"}


def test_the_latest_version_of_a_launch_template_is_followed(double, templates, read) -> None:
    double.make_group("web", instance_type="m5.large")
    name = double.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"][0]["LaunchTemplate"]
    double.do(
        "autoscaling",
        "update_auto_scaling_group",
        AutoScalingGroupName="web",
        LaunchTemplate={"LaunchTemplateId": name["LaunchTemplateId"], "Version": "$Latest"},
    )
    assert templates.template(read()["web"]).labels[TYPE] == "m5.large"
    double.do(
        "ec2",
        "create_launch_template_version",
        LaunchTemplateId=name["LaunchTemplateId"],
        LaunchTemplateData={
            "InstanceType": "m5.xlarge",
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 100}}],
        },
    )
    double.clock.advance(400)
    template = templates.template(read()["web"])
    assert template.labels[TYPE] == "m5.xlarge"
    assert 95 * GIB < template.capacity["ephemeral-storage"] < 100 * GIB


def test_managed_node_groups_are_asked_for_their_labels_and_taints(double, templates, read) -> None:
    taints = [{"key": "dedicated", "value": "web", "effect": "NO_SCHEDULE"}, {"key": "plain", "effect": "NO_EXECUTE"}]
    double.make_node_group("prod", "web", labels={"team": "web"}, taints=taints)
    template = templates.template(read()["eks-web"])
    assert template.labels["team"] == "web"
    assert template.labels["eks.amazonaws.com/nodegroup"] == "web"
    assert template.labels["eks.amazonaws.com/capacityType"] == "ON_DEMAND"
    assert template.taints == (
        Taint(key="dedicated", value="web", effect="NoSchedule"),
        Taint(key="plain", effect="NoExecute"),
    )


def test_many_groups_cost_few_calls_and_those_that_are_known_none(double, templates, read) -> None:
    for number in range(30):
        double.make_group(f"group-{number}", instance_type=("m5.large", "c5.xlarge")[number % 2])
    groups = read()
    assert {templates.template(group).labels[TYPE] for group in groups.values()} == {"m5.large", "c5.xlarge"}
    assert dict(double.calls) == {
        ("ec2", "describe_launch_template_versions"): 1,
        ("ec2", "describe_images"): 1,
        ("ec2", "describe_instance_type_offerings"): 1,
        ("ec2", "describe_instance_types"): 1,
    }
    read()
    assert not double.calls
