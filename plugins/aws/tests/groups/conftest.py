"""A small Auto Scaling in boto3's words, without a wire."""

from collections import Counter
from copy import deepcopy

import pytest
from nodewright.api import ForeignNodeError, GroupNotFoundError, ProviderContext, SizeLimitError
from nodewright.testing.clock import SteppedClock
from nodewright_aws.config import AwsConfig
from nodewright_aws.provider import AwsProvider


class Nothing(dict):
    """An answer in which every list is empty."""

    def __missing__(self, key):
        return []


class FakeAws:
    """Answers as AWS does; *trouble* has errors to raise, by operation or by the id of a machine."""

    region = "eu-west-1"

    def __init__(self):
        self.groups = {}
        self.calls = Counter()
        self.asked = []
        self.trouble = {}
        self.page = 100
        self.before = {}

    def add(self, name, *, low=0, high=10, machines=(), desired=None, tags=None, zones=("eu-west-1a",), **more):
        self.groups[name] = {
            "AutoScalingGroupName": name,
            "MinSize": low,
            "MaxSize": high,
            "DesiredCapacity": len(machines) if desired is None else desired,
            "AvailabilityZones": list(zones),
            "Instances": list(machines),
            "Tags": [{"Key": key, "Value": value} for key, value in (tags or {}).items()],
            "LaunchTemplate": {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "workers", "Version": "1"},
            **more,
        }

    def call(self, service, operation, **arguments):
        self.calls[operation] += 1
        self.asked.append((operation, arguments))
        self.before.pop(operation, lambda: None)()
        if operation in self.trouble:
            raise self.trouble[operation]
        return getattr(self, operation, lambda **_: Nothing())(**arguments)

    def pages(self, service, operation, **arguments):
        if operation != "describe_auto_scaling_groups":
            yield self.call(service, operation, **arguments)
            return
        found = [group for group in self.groups.values() if self.matches(group, **arguments)]
        for begin in range(0, len(found) or 1, self.page):
            self.call(service, operation, **arguments)
            yield {"AutoScalingGroups": deepcopy(found[begin : begin + self.page])}

    @staticmethod
    def matches(group, **arguments):
        names = arguments.get("AutoScalingGroupNames")
        assert arguments["MaxRecords"] <= 100
        assert len(names or ()) <= 100
        tags = {tag["Key"]: tag["Value"] for tag in group["Tags"]}
        return (names is None or group["AutoScalingGroupName"] in names) and all(
            any(value in tags for value in each["Values"])
            if each["Name"] == "tag-key"
            else tags.get(each["Name"].removeprefix("tag:")) in each["Values"]
            for each in arguments.get("Filters", ())
        )

    def describe_launch_template_versions(self, **arguments):
        data = {"InstanceType": "m5.large", "ImageId": "ami-1"}
        version = {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "workers", "VersionNumber": 1}
        return {"LaunchTemplateVersions": [version | {"LaunchTemplateData": data}]}

    def set_desired_capacity(self, **arguments):
        group = self.groups.get(arguments["AutoScalingGroupName"])
        if group is None:
            raise GroupNotFoundError("AutoScalingGroup name not found")
        if not group["MinSize"] <= arguments["DesiredCapacity"] <= group["MaxSize"]:
            raise SizeLimitError("is above max value")
        assert arguments["HonorCooldown"] is False
        group["DesiredCapacity"] = arguments["DesiredCapacity"]
        return {}

    def terminate_instance_in_auto_scaling_group(self, **arguments):
        machine = arguments["InstanceId"]
        if machine in self.trouble:
            raise self.trouble[machine]
        for group in self.groups.values():
            for each in group["Instances"]:
                if each["InstanceId"] == machine:
                    if arguments["ShouldDecrementDesiredCapacity"]:
                        if group["DesiredCapacity"] == group["MinSize"]:
                            raise SizeLimitError("Currently, desiredSize equals minSize")
                        group["DesiredCapacity"] -= 1
                    each["LifecycleState"] = "Terminating"
                    return {"Activity": {}}
        raise ForeignNodeError("Instance Id not found - No managed instance found for instance ID")

    def close(self):
        pass


@pytest.fixture
def aws():
    return FakeAws()


@pytest.fixture
def start(aws, monkeypatch):
    """Make a provider of the fake AWS, and refresh it."""
    monkeypatch.setattr("nodewright_aws.provider.Aws", lambda config, user_agent: aws)

    def start(config=None, *, refresh=True, **context):
        settings = {"groups": ["0:100:workers"]} if config is None else config
        provider = AwsProvider(
            AwsConfig.model_validate(settings | {"staticInstanceList": True, "prices": {"spot": "off"}}),
            ProviderContext(clock=SteppedClock(), **context),
        )
        if refresh:
            provider.refresh()
        return provider

    return start
