"""A small AWS that knows templates, images, types and managed node groups, and counts what it is asked for."""

from collections import Counter
from collections.abc import Iterator

import pytest
from nodewright.api import NodewrightError, PermanentError
from nodewright.testing import SteppedClock
from nodewright_aws.autoscaling.group import AutoScalingGroup, parse_group
from nodewright_aws.config import TemplateSettings
from nodewright_aws.instance_types.info import Gpu, InstanceTypeInfo
from nodewright_aws.templates.templates import Templates


class SmallAws:
    """Answers in boto3's form. Implements `nodewright_aws.calls.Calls`."""

    region = "eu-west-1"

    def __init__(self) -> None:
        self.configurations: dict[str, dict] = {}
        #: Versions by id; the last is the latest, the first the default one.
        self.templates: dict[str, list[dict]] = {}
        self.images: dict[str, dict] = {}
        self.parameters: dict[str, str] = {}
        #: Types by requirements.
        self.matching: list[tuple[dict, list[str]]] = []
        #: Zones by type; types that are not here are offered nowhere.
        self.offered: dict[str, list[str]] = {}
        self.nodegroups: dict[tuple[str, str], dict] = {}
        self.failures: dict[str, NodewrightError] = {}
        self.asked: list[tuple[str, dict]] = []
        self.page_size = 200

    @property
    def counts(self) -> Counter:
        return Counter(operation for operation, _ in self.asked)

    def arguments(self, operation: str) -> list[dict]:
        return [arguments for asked, arguments in self.asked if asked == operation]

    def call(self, service: str, operation: str, **arguments) -> dict:
        services = {
            "describe_launch_configurations": "autoscaling",
            "describe_nodegroup": "eks",
            "get_parameters": "ssm",
        }
        assert service == services.get(operation, "ec2")
        self.asked.append((operation, arguments))
        if operation in self.failures:
            raise self.failures[operation]
        return getattr(self, operation)(arguments)

    def pages(self, service: str, operation: str, **arguments) -> Iterator[dict]:
        answer = self.call(service, operation, **arguments)
        ((key, rows),) = answer.items()
        yield {key: rows[: self.page_size]}
        for start in range(self.page_size, len(rows), self.page_size):
            self.asked.append((operation, arguments))
            yield {key: rows[start : start + self.page_size]}

    def describe_launch_configurations(self, asked: dict) -> dict:
        names = asked["LaunchConfigurationNames"]
        assert len(names) <= asked["MaxRecords"] == 50
        return {
            "LaunchConfigurations": [
                {"LaunchConfigurationName": name, **self.configurations[name]}
                for name in names
                if name in self.configurations
            ]
        }

    def describe_launch_template_versions(self, asked: dict) -> dict:
        versions = asked["Versions"]
        name = asked.get("LaunchTemplateId") or f"lt-{asked.get('LaunchTemplateName', '')}"
        if name == "lt-":
            assert set(versions) <= {"$Latest", "$Default"}, "EC2 lists no numbers of all templates"
            names = list(self.templates)
        elif name in self.templates:
            names = [name]
        else:
            raise PermanentError(f"InvalidLaunchTemplateId.NotFound: {name} does not exist")
        return {"LaunchTemplateVersions": [self._version(each, version) for each in names for version in versions]}

    def _version(self, name: str, version: str) -> dict:
        versions = self.templates[name]
        number = {"$Latest": len(versions), "$Default": 1}.get(version) or int(version)
        if number > len(versions):
            raise PermanentError(f"InvalidLaunchTemplateId.VersionNotFound: {name} has no version {number}")
        return {
            "LaunchTemplateId": name,
            "LaunchTemplateName": name.removeprefix("lt-"),
            "VersionNumber": number,
            "DefaultVersion": number == 1,
            "LaunchTemplateData": versions[number - 1],
        }

    def describe_images(self, asked: dict) -> dict:
        (wanted,) = asked["Filters"]
        assert wanted["Name"] == "image-id"
        assert len(wanted["Values"]) <= 200
        return {
            "Images": [{"ImageId": image, **self.images[image]} for image in wanted["Values"] if image in self.images]
        }

    def get_parameters(self, asked: dict) -> dict:
        assert len(asked["Names"]) <= 10
        told = []
        for name in asked["Names"]:
            plain, colon, selector = name.partition(":")
            if plain in self.parameters:
                told.append({"Name": plain, "Selector": colon + selector, "Value": self.parameters[plain]})
        return {"Parameters": told, "InvalidParameters": []}

    def get_instance_types_from_instance_requirements(self, asked: dict) -> dict:
        names = next((types for wishes, types in self.matching if wishes == asked["InstanceRequirements"]), [])
        return {"InstanceTypes": [{"InstanceType": name} for name in names]}

    def describe_instance_type_offerings(self, asked: dict) -> dict:
        assert asked["LocationType"] == "availability-zone"
        (wanted,) = asked["Filters"]
        return {
            "InstanceTypeOfferings": [
                {"InstanceType": name, "LocationType": "availability-zone", "Location": zone}
                for name in wanted["Values"]
                for zone in self.offered.get(name, ())
            ]
        }

    def describe_nodegroup(self, asked: dict) -> dict:
        name = asked["clusterName"], asked["nodegroupName"]
        if name not in self.nodegroups:
            raise PermanentError(f"ResourceNotFoundException: No node group found for name: {name[1]}.")
        return {"nodegroup": self.nodegroups[name]}


def _an_info(name: str, vcpus: int, gib: int, **more) -> InstanceTypeInfo:
    return InstanceTypeInfo(name=name, vcpus=vcpus, memory_mib=gib * 1024, ebs_attachments=27, **more)


class SmallCatalogue:
    """Knows some instance types."""

    def __init__(self) -> None:
        self.asked: list[set[str]] = []
        #: Knows nothing while this is set.
        self.trouble: NodewrightError | None = None
        self.static = False
        self.shapes = {
            info.name: info
            for info in (
                _an_info("m5.large", 2, 8, interfaces=3, addresses_per_interface=10),
                _an_info("m5.xlarge", 4, 16, interfaces=4, addresses_per_interface=15),
                _an_info("c5.xlarge", 4, 8, interfaces=4, addresses_per_interface=15),
                _an_info("m6g.large", 2, 8, interfaces=3, addresses_per_interface=10, arch="arm64"),
                _an_info("g5.xlarge", 4, 16, gpu=Gpu(name="A10G", manufacturer="NVIDIA", count=1)),
                _an_info("mac1.metal", 12, 32, interfaces=8, addresses_per_interface=30, spot=False),
            )
        }

    def refresh(self, names) -> None:
        self.asked.append(set(names))

    def get(self, name: str) -> InstanceTypeInfo | None:
        return None if self.trouble is not None else self.shapes.get(name)


@pytest.fixture
def aws() -> SmallAws:
    return SmallAws()


@pytest.fixture
def catalogue() -> SmallCatalogue:
    return SmallCatalogue()


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def make_templates(aws, catalogue, clock):
    """Makes `Templates` with settings as in YAML."""

    def make(**settings) -> Templates:
        return Templates(aws, catalogue, TemplateSettings.model_validate(settings), clock, aws.region)

    return make


@pytest.fixture
def templates(make_templates) -> Templates:
    return make_templates()


@pytest.fixture
def a_group():
    """Makes the reading of a group: zones by letter, machines as ``a:i-1`` or ``a:i-1:m5.large:Pending``."""

    def make(name: str = "workers", *, zones: str = "a", machines: str = "", tags=None, **body) -> AutoScalingGroup:
        def machine(text: str) -> dict:
            zone, instance, *rest = text.split(":")
            return {
                "InstanceId": instance,
                "AvailabilityZone": f"eu-west-1{zone}",
                "InstanceType": rest[0] if rest else "m5.large",
                "LifecycleState": ":".join(rest[1:]) if len(rest) > 1 else "InService",
            }

        return parse_group(
            {
                "AutoScalingGroupName": name,
                "MinSize": 0,
                "MaxSize": 10,
                "DesiredCapacity": len(machines.split()),
                "AvailabilityZones": [f"eu-west-1{zone}" for zone in zones],
                "Instances": [machine(text) for text in machines.split()],
                "Tags": [{"Key": key, "Value": value} for key, value in (tags or {}).items()],
                **body,
            }
        )

    return make


@pytest.fixture
def mixed():
    """Makes a mixed instances policy of a launch template and overrides: type names, or dictionaries."""

    def make(template: str, *overrides, version: str = "1", **distribution) -> dict:
        return {
            "LaunchTemplate": {
                "LaunchTemplateSpecification": {"LaunchTemplateId": template, "Version": version},
                "Overrides": [each if isinstance(each, dict) else {"InstanceType": each} for each in overrides],
            },
            "InstancesDistribution": distribution,
        }

    return make
