"""Templates of groups: what is in them, and where it comes from."""

import logging
from dataclasses import replace

import pytest
from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    GroupNotFoundError,
    GroupOptions,
    NodeTemplate,
    PermanentError,
    Taint,
    ThrottledError,
)
from nodewright.decision.templates.node_template import fingerprint
from nodewright_aws.config import KubeletSettings, TemplateSettings
from nodewright_aws.instance_types.allocatable import capacity_and_allocatable
from nodewright_aws.instance_types.catalogue import Catalogue
from nodewright_aws.pools import POOLS_ANNOTATION
from nodewright_aws.templates.templates import Templates

GIB = 1024**3
TAG = "k8s.io/cluster-autoscaler/node-template"
ZONE, EBS_ZONE = "topology.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone"
TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"


@pytest.fixture
def template_of(templates):
    def read(group):
        templates.refresh([group])
        return templates.template(group)

    return read


@pytest.fixture
def large(aws):
    """A launch template of m5.large, and a group's mention of it."""
    aws.templates["lt-1"] = [{"InstanceType": "m5.large", "ImageId": "ami-1"}]
    return {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "1", "Version": "1"}


def test_a_launch_template_tells_type_zone_and_system(template_of, a_group, large) -> None:
    template = template_of(a_group(LaunchTemplate=large))
    assert template.labels == {
        ARCH: "amd64",
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/os": "linux",
        TYPE: "m5.large",
        "topology.kubernetes.io/region": "eu-west-1",
        ZONE: "eu-west-1a",
        EBS_ZONE: "eu-west-1a",
    }
    assert template.annotations == {POOLS_ANNOTATION: "eu-west-1a/m5.large"}
    assert template.taints == ()


def test_amounts_are_those_of_the_type_with_the_disk_that_the_image_has(
    aws, template_of, a_group, large, catalogue
) -> None:
    aws.images["ami-1"] = {
        "RootDeviceName": "/dev/xvda",
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/sdb", "Ebs": {"VolumeSize": 500}},
            {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 30}},
        ],
    }
    template = template_of(a_group(LaunchTemplate=large))
    expected = capacity_and_allocatable(catalogue.shapes["m5.large"], KubeletSettings(), root_volume_gib=30)
    assert (template.capacity, template.allocatable) == expected


def test_the_launch_template_may_make_the_disk_larger(aws, template_of, a_group, large, catalogue) -> None:
    aws.images["ami-1"] = {"RootDeviceName": "/dev/xvda", "BlockDeviceMappings": []}
    aws.templates["lt-1"][0]["BlockDeviceMappings"] = [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 80}}]
    template = template_of(a_group(LaunchTemplate=large))
    expected, _ = capacity_and_allocatable(catalogue.shapes["m5.large"], KubeletSettings(), root_volume_gib=80)
    assert template.capacity == expected
    assert "ephemeral-storage" in template.capacity


def test_pods_of_bottlerocket_write_to_its_second_disk(aws, template_of, a_group, large, catalogue) -> None:
    aws.images["ami-1"] = {
        "Name": "bottlerocket-aws-k8s-1.33-x86_64-v1.40.0",
        "RootDeviceName": "/dev/xvda",
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 2}},
            {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 20}},
        ],
    }
    kubelet = KubeletSettings(ami_family="bottlerocket")
    expected, _ = capacity_and_allocatable(catalogue.shapes["m5.large"], kubelet, root_volume_gib=20)
    assert template_of(a_group(LaunchTemplate=large)).capacity == expected


def test_processors_may_be_switched_off(aws, template_of, a_group, large) -> None:
    aws.templates["lt-1"][0]["CpuOptions"] = {"CoreCount": 1, "ThreadsPerCore": 1}
    assert template_of(a_group(LaunchTemplate=large)).capacity["cpu"] == 1000


def test_only_interfaces_that_are_made_as_efa_are_promised(aws, catalogue, template_of, a_group, large) -> None:
    catalogue.shapes["m5.large"] = replace(catalogue.shapes["m5.large"], efa_interfaces=4)
    assert "vpc.amazonaws.com/efa" not in template_of(a_group(LaunchTemplate=large)).capacity
    interfaces = [{"InterfaceType": kind} for kind in ("efa", "efa-only", "interface")]
    aws.templates["lt-1"].append({"InstanceType": "m5.large", "NetworkInterfaces": interfaces})
    template = template_of(a_group(LaunchTemplate=large | {"Version": "2"}))
    assert template.allocatable["vpc.amazonaws.com/efa"] == 2


def test_volumes_that_machines_come_with_are_not_for_pods(aws, template_of, a_group, large) -> None:
    plain = template_of(a_group(LaunchTemplate=large)).csi_drivers["ebs.csi.aws.com"]
    aws.templates["lt-1"].append(
        {
            "InstanceType": "m5.large",
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20}},
                {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 20}},
                {"DeviceName": "/dev/xvdc", "VirtualName": "ephemeral0"},
            ],
        }
    )
    more = template_of(a_group(LaunchTemplate=large | {"Version": "2"})).csi_drivers["ebs.csi.aws.com"]
    assert more == plain - 1


def test_a_launch_configuration_tells_the_same(aws, template_of, a_group) -> None:
    aws.configurations["old"] = {"InstanceType": "m5.xlarge", "ImageId": "ami-1", "SpotPrice": "0.1"}
    template = template_of(a_group(LaunchConfigurationName="old"))
    assert template.labels[TYPE] == "m5.xlarge"
    assert template.annotations == {POOLS_ANNOTATION: "eu-west-1a/m5.xlarge/spot"}


def test_machines_of_windows_are_told_by_their_image(aws, template_of, a_group, large) -> None:
    aws.images["ami-1"] = {"Platform": "windows", "Architecture": "x86_64"}
    assert template_of(a_group(LaunchTemplate=large)).labels["kubernetes.io/os"] == "windows"


def test_tags_add_labels_taints_and_resources(template_of, a_group, large) -> None:
    template = template_of(
        a_group(
            LaunchTemplate=large,
            tags={
                f"{TAG}/label/team": "web",
                f"{TAG}/taint/dedicated": "web:NoSchedule",
                f"{TAG}/resources/example.com/disks": "2",
                f"{TAG}/resources/cpu": "1500m",
            },
        )
    )
    assert template.labels["team"] == "web"
    assert template.taints == (Taint(key="dedicated", value="web", effect="NoSchedule"),)
    assert template.capacity["cpu"] == template.allocatable["cpu"] == 1500
    assert template.capacity["example.com/disks"] == template.allocatable["example.com/disks"] == 2


def test_tags_that_say_nothing_are_warned_of_once(templates, a_group, large, caplog) -> None:
    group = a_group(LaunchTemplate=large, tags={f"{TAG}/taint/gpu": "NoSchedule"})
    for _ in range(3):
        templates.refresh([group])
    (message,) = caplog.messages
    assert message == (
        f"group workers: tag {TAG}/taint/gpu with the value 'NoSchedule' is ignored: write value:effect, such as "
        "true:NoSchedule, with one of NoSchedule, NoExecute, PreferNoSchedule"
    )
    assert templates.template(group).taints == ()


def test_tags_change_options_of_a_group(templates, a_group, large) -> None:
    group = a_group(LaunchTemplate=large, tags={f"{TAG}/autoscaling-options/scaledownutilizationthreshold": "0.3"})
    templates.refresh([group])
    defaults = GroupOptions(scale_down_gpu_utilization_threshold=0.9)
    assert templates.options(group, defaults) == GroupOptions(
        scale_down_utilization_threshold=0.3, scale_down_gpu_utilization_threshold=0.9
    )


def test_a_mixed_group_promises_what_every_type_has(template_of, a_group, mixed, large) -> None:
    template = template_of(a_group(MixedInstancesPolicy=mixed("lt-1", "m5.xlarge", "c5.xlarge", "m5.large")))
    assert template.capacity["cpu"] == 2000
    assert template.allocatable["memory"] <= 8 * GIB
    assert TYPE not in template.labels
    assert template.labels[ARCH] == "amd64"
    assert template.csi_drivers["ebs.csi.aws.com"] > 0


def test_a_mixed_group_promises_no_architecture_that_not_all_have(aws, template_of, a_group, mixed) -> None:
    aws.templates |= {"lt-x86": [{}], "lt-arm": [{}]}
    arm = {"InstanceType": "m6g.large", "LaunchTemplateSpecification": {"LaunchTemplateId": "lt-arm", "Version": "1"}}
    template = template_of(a_group(MixedInstancesPolicy=mixed("lt-x86", "m5.large", arm)))
    assert ARCH not in template.labels
    assert template.capacity["cpu"] == 2000


def test_a_mixed_group_promises_no_device_that_not_all_have(template_of, a_group, mixed, large) -> None:
    mixed_up = template_of(a_group(MixedInstancesPolicy=mixed("lt-1", "g5.xlarge", "m5.xlarge")))
    assert "nvidia.com/gpu" not in mixed_up.capacity | mixed_up.allocatable
    assert template_of(a_group(MixedInstancesPolicy=mixed("lt-1", "g5.xlarge"))).allocatable["nvidia.com/gpu"] == 1


def test_an_override_may_have_a_launch_template_of_its_own(aws, template_of, a_group, mixed, large) -> None:
    aws.templates["lt-2"] = [{"InstanceType": "c5.xlarge", "CpuOptions": {"CoreCount": 1, "ThreadsPerCore": 2}}]
    own = {"LaunchTemplateSpecification": {"LaunchTemplateId": "lt-2", "Version": "1"}}
    template = template_of(a_group(MixedInstancesPolicy=mixed("lt-1", own)))
    assert (template.labels[TYPE], template.capacity["cpu"]) == ("c5.xlarge", 2000)


def test_a_type_that_is_named_twice_is_launched_as_it_is_named_first(aws, template_of, a_group, mixed, large) -> None:
    aws.templates["lt-2"] = [{"CpuOptions": {"CoreCount": 1, "ThreadsPerCore": 1}}]
    again = {
        "InstanceType": "m5.large",
        "LaunchTemplateSpecification": {"LaunchTemplateId": "lt-2", "Version": "1"},
    }
    template = template_of(a_group(MixedInstancesPolicy=mixed("lt-1", "m5.large", again)))
    assert template.capacity["cpu"] == 2000


@pytest.mark.parametrize(("choice", "chosen"), [("first", "c5.xlarge"), ("largest", "m5.xlarge")])
def test_settings_choose_one_type_of_a_mixed_group(make_templates, a_group, mixed, large, choice, chosen) -> None:
    templates = make_templates(mixedInstances=choice)
    group = a_group(MixedInstancesPolicy=mixed("lt-1", "c5.xlarge", "m5.large", "m5.xlarge"))
    templates.refresh([group])
    assert templates.template(group).labels[TYPE] == chosen
    assert len(templates.pools(group)) == 3


def test_a_mixed_group_without_overrides_launches_what_its_template_names(template_of, a_group, mixed, large) -> None:
    assert template_of(a_group(MixedInstancesPolicy=mixed("lt-1"))).labels[TYPE] == "m5.large"


def test_a_group_whose_size_counts_units_is_refused(templates, a_group, mixed, large) -> None:
    heavy = {"InstanceType": "m5.xlarge", "WeightedCapacity": "2"}
    weighted = a_group("weighted", machines="a:i-1", MixedInstancesPolicy=mixed("lt-1", "m5.large", heavy))
    cores = a_group("cores", DesiredCapacityType="vcpu", LaunchTemplate=large)
    light = {"InstanceType": "m5.large", "WeightedCapacity": "1"}
    fine = a_group("fine", MixedInstancesPolicy=mixed("lt-1", light))
    templates.refresh([weighted, cores, fine])
    with pytest.raises(PermanentError, match=r"weighted counts units, not machines.* \(m5\.xlarge: 2\)"):
        templates.template(weighted)
    with pytest.raises(PermanentError, match="cores counts vcpu, not machines"):
        templates.template(cores)
    assert templates.template(fine).labels[TYPE] == "m5.large"


def test_types_that_meet_requirements_are_asked_for_with_the_architecture_of_the_image(
    aws, template_of, a_group, mixed
) -> None:
    wishes = {"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 8192}, "AcceleratorCount": {"Max": 0}}
    aws.templates["lt-1"] = [{"ImageId": "ami-1"}]
    aws.images["ami-1"] = {"Architecture": "x86_64", "VirtualizationType": "hvm"}
    aws.matching.append((wishes, ["m5.large", "m5.xlarge", "c5.xlarge"]))
    template = template_of(a_group(MixedInstancesPolicy=mixed("lt-1", {"InstanceRequirements": wishes})))
    assert aws.arguments("get_instance_types_from_instance_requirements") == [
        {"ArchitectureTypes": ["x86_64"], "VirtualizationTypes": ["hvm"], "InstanceRequirements": wishes}
    ]
    assert template.capacity["cpu"] == 2000
    assert template.annotations[POOLS_ANNOTATION] == "eu-west-1a/m5.large,eu-west-1a/m5.xlarge,eu-west-1a/c5.xlarge"


def test_requirements_of_the_group_go_before_the_type_of_the_launch_template(
    aws, template_of, a_group, mixed, large
) -> None:
    wishes = {"VCpuCount": {"Min": 4}, "MemoryMiB": {"Min": 1}}
    aws.matching.append((wishes, ["c5.xlarge"]))
    template = template_of(a_group(MixedInstancesPolicy=mixed("lt-1", {"InstanceRequirements": wishes})))
    assert template.labels[TYPE] == "c5.xlarge"


def test_a_launch_template_may_have_requirements_too(aws, template_of, a_group, mixed) -> None:
    wishes = {"VCpuCount": {"Min": 4}, "MemoryMiB": {"Min": 1}}
    aws.templates["lt-1"] = [{"InstanceRequirements": wishes}]
    aws.matching.append((wishes, ["m5.xlarge"]))
    assert template_of(a_group(MixedInstancesPolicy=mixed("lt-1"))).labels[TYPE] == "m5.xlarge"


def test_requirements_that_nothing_meets_are_told(aws, template_of, a_group, mixed) -> None:
    aws.templates["lt-1"] = [{"InstanceRequirements": {"VCpuCount": {"Min": 4000}, "MemoryMiB": {"Min": 1}}}]
    with pytest.raises(PermanentError, match=r"no instance type of x86_64 or arm64 meets .*4000"):
        template_of(a_group(MixedInstancesPolicy=mixed("lt-1")))


def test_a_new_type_among_those_that_meet_requirements_is_left_out(aws, templates, a_group, mixed, caplog) -> None:
    wishes = {"VCpuCount": {"Min": 4}, "MemoryMiB": {"Min": 1}}
    aws.templates["lt-1"] = [{"InstanceRequirements": wishes}]
    aws.matching.append((wishes, ["m99.xlarge", "m5.xlarge"]))
    group = a_group(MixedInstancesPolicy=mixed("lt-1"))
    templates.refresh([group])
    assert templates.template(group).labels[TYPE] == "m5.xlarge"
    assert caplog.messages == ["group workers launches unknown instance types: m99.xlarge. They are left out"]


def test_a_type_that_nobody_knows_is_the_trouble_of_its_group_alone(aws, templates, a_group, mixed, large) -> None:
    strange = a_group("strange", MixedInstancesPolicy=mixed("lt-1", "m5.large", "x99.large"))
    other = a_group("other", LaunchTemplate=large)
    templates.refresh([strange, other])
    with pytest.raises(PermanentError, match=r"group strange launches unknown instance types: x99\.large"):
        templates.template(strange)
    assert templates.pools(strange) == ()
    assert templates.template(other).labels[TYPE] == "m5.large"


@pytest.mark.parametrize(
    ("static", "remedy"),
    [
        (False, "see whether the region offers them"),
        (True, r"let the plugin ask AWS for new ones \(staticInstanceList: false\)"),
    ],
)
def test_what_to_do_about_a_type_that_nobody_knows_depends_on_who_was_asked(
    aws, catalogue, template_of, a_group, mixed, static, remedy
) -> None:
    aws.templates["lt-1"] = [{"InstanceType": "m5.large"}]
    catalogue.static = static
    with pytest.raises(PermanentError, match=rf"x99\.large\. Correct them, or {remedy}$"):
        template_of(a_group(MixedInstancesPolicy=mixed("lt-1", "x99.large")))


def test_a_new_type_is_nobody_s_mistake_while_aws_tells_nothing_about_types(aws, clock, a_group, large) -> None:
    catalogue = Catalogue(aws, clock, static=False)
    templates = Templates(aws, catalogue, TemplateSettings(), clock, aws.region)
    aws.failures["describe_instance_types"] = ThrottledError("slow down")
    templates.refresh([a_group(LaunchTemplate=large)])
    aws.templates["lt-1"].append({"InstanceType": "m99.large"})
    changed, new = (a_group(name, LaunchTemplate=large | {"Version": "2"}) for name in ("workers", "new"))
    templates.refresh([changed, new])
    assert templates.template(changed).labels[TYPE] == "m5.large", "as it was known before"
    with pytest.raises(ThrottledError, match="slow down"):
        templates.template(new)


def test_a_launch_template_that_is_gone_is_the_trouble_of_its_group_alone(templates, a_group, large) -> None:
    gone = a_group("gone", LaunchTemplate={"LaunchTemplateId": "lt-9", "Version": "$Latest"})
    other = a_group("other", LaunchTemplate=large)
    templates.refresh([gone, other])
    with pytest.raises(
        PermanentError, match=r"version \$Latest of launch template lt-9 can't be read: .*lt-9 does not"
    ):
        templates.template(gone)
    assert templates.template(other) is not None


def test_nodes_are_the_model_if_nobody_may_read_what_their_group_launches(
    aws, clock, templates, a_group, caplog
) -> None:
    launch = {"LaunchTemplateId": "lt-1", "Version": "1"}
    manned, empty = a_group("manned", machines="a:i-1", LaunchTemplate=launch), a_group(LaunchTemplate=launch)
    for number in range(2):
        aws.failures["describe_launch_template_versions"] = AccessDeniedError(f"not authorized ({number})")
        templates.refresh([manned, empty])
        clock.advance(120)
    assert templates.template(manned) is None
    with pytest.raises(AccessDeniedError, match="not authorized"):
        templates.template(empty)
    assert caplog.messages == [
        "what group manned launches is unknown, so its nodes are the only model of new ones: not authorized (0)"
    ]


def test_a_group_that_launches_nothing_is_told(template_of, a_group) -> None:
    with pytest.raises(PermanentError, match="group workers has neither a launch template nor a launch configuration"):
        template_of(a_group())


def test_a_group_that_names_no_type_is_told(aws, template_of, a_group) -> None:
    aws.templates["lt-1"] = [{"ImageId": "ami-1"}]
    with pytest.raises(PermanentError, match="neither group workers nor what it launches names an instance type"):
        template_of(a_group(LaunchTemplate={"LaunchTemplateId": "lt-1"}))


def test_a_group_that_appeared_after_the_last_refresh_is_unknown(templates, a_group) -> None:
    with pytest.raises(GroupNotFoundError, match="group workers was missing when AWS was last asked"):
        templates.template(a_group())


def test_what_was_known_stays_while_aws_is_away(aws, catalogue, clock, templates, a_group, large) -> None:
    group = a_group(LaunchTemplate=large | {"Version": "$Latest"})
    templates.refresh([group])
    before = templates.template(group)
    aws.failures = dict.fromkeys(
        ("describe_launch_template_versions", "describe_images"), CloudUnavailableError("away")
    )
    catalogue.trouble = CloudUnavailableError("away")
    clock.advance(7200)
    templates.refresh([group])
    assert templates.template(group) == before
    aws.templates["lt-1"].append({"InstanceType": "m5.xlarge"})
    aws.failures.clear()
    catalogue.trouble = None
    clock.advance(120)
    templates.refresh([group])
    assert templates.template(group).labels[TYPE] == "m5.xlarge"


def test_a_change_that_can_t_be_read_for_the_moment_keeps_what_was_known(aws, templates, a_group, large) -> None:
    templates.refresh([a_group(LaunchTemplate=large)])
    aws.failures["describe_launch_template_versions"] = ThrottledError("slow down")
    changed = a_group(LaunchTemplate=large | {"Version": "2"})
    templates.refresh([changed])
    assert templates.template(changed).labels[TYPE] == "m5.large"


def test_a_change_to_something_that_is_not_there_is_told(aws, templates, a_group, large) -> None:
    templates.refresh([a_group(LaunchTemplate=large)])
    changed = a_group(LaunchTemplate=large | {"Version": "2"})
    templates.refresh([changed])
    with pytest.raises(PermanentError, match="version 2 of launch template lt-1 can't be read"):
        templates.template(changed)


def test_a_passing_trouble_is_over_with_the_next_refresh(aws, templates, a_group, large) -> None:
    group = a_group(LaunchTemplate=large)
    aws.failures["describe_launch_template_versions"] = ThrottledError("slow down")
    templates.refresh([group])
    with pytest.raises(ThrottledError):
        templates.template(group)
    aws.failures.clear()
    templates.refresh([group])
    assert templates.template(group) is not None


def test_facts_are_answered_without_any_call(aws, templates, a_group, large) -> None:
    group = a_group(LaunchTemplate=large)
    templates.refresh([group])
    asked = len(aws.asked)
    template = templates.template(group)
    templates.pools(group)
    templates.options(group, GroupOptions())
    templates.complete(group, template)
    assert len(aws.asked) == asked


def test_images_that_nobody_may_read_are_no_harm(aws, templates, a_group, large, caplog) -> None:
    aws.failures["describe_images"] = AccessDeniedError("ec2:DescribeImages is not allowed")
    group = a_group(LaunchTemplate=large)
    templates.refresh([group])
    templates.refresh([group])
    assert templates.template(group).labels[TYPE] == "m5.large"
    assert len([message for message in caplog.messages if "ec2:DescribeImages is not allowed" in message]) == 1


class TestTheNextMachine:
    def test_comes_up_where_the_fewest_machines_are(self, templates, a_group, large) -> None:
        group = a_group(
            zones="abc",
            machines="a:i-1 a:i-5:m5.large:Terminating a:i-8:m5.large:Terminating:Wait a:i-7:m5.large:Warmed:Stopped "
            "b:i-2 b:i-3 c:i-4:m5.large:Pending:Wait c:i-6",
            LaunchTemplate=large,
        )
        templates.refresh([group])
        template = templates.template(group)
        assert (template.labels[ZONE], template.labels[EBS_ZONE]) == ("eu-west-1a", "eu-west-1a")
        assert template.zones == group.zones

    def test_does_not_come_up_where_its_type_is_not_offered(self, aws, templates, a_group, large) -> None:
        aws.offered = {"m5.large": ["eu-west-1b", "eu-west-1c"]}
        group = a_group(zones="abc", machines="b:i-1", LaunchTemplate=large)
        templates.refresh([group])
        assert templates.template(group).labels[ZONE] == "eu-west-1c"
        assert templates.template(group).zones == ("eu-west-1b", "eu-west-1c")

    def test_changes_nothing_but_the_zone_of_what_is_promised(self, templates, a_group, large) -> None:
        promises = []
        for machines in ("a:i-1", "a:i-1 b:i-2 b:i-3"):
            group = a_group(zones="ab", machines=machines, LaunchTemplate=large)
            templates.refresh([group])
            promises.append(templates.template(group))
        assert [promise.labels[ZONE] for promise in promises] == ["eu-west-1b", "eu-west-1a"]
        assert fingerprint(promises[0]) == fingerprint(promises[1])

    def test_of_one_zone_says_nothing_of_others(self, templates, a_group, large) -> None:
        group = a_group(LaunchTemplate=large)
        templates.refresh([group])
        assert templates.template(group).zones == ()

    def test_has_not_the_zone_id_of_a_node_that_is_elsewhere(self, templates, a_group, large) -> None:
        group = a_group(zones="ab", machines="a:i-1", LaunchTemplate=large)
        templates.refresh([group])
        labels = {ZONE: "eu-west-1b", "topology.k8s.aws/zone-id": "euw1-az3", "team": "web"}
        real = NodeTemplate(labels=labels, capacity={}, allocatable={}, zones=group.zones, from_node="node-1")
        completed = templates.complete(group, real)
        assert completed.labels == {ZONE: "eu-west-1b", "team": "web"}
        assert completed.from_node == "node-1"
        alone = replace(real, zones=())
        assert templates.complete(group, alone).labels == labels

    def test_is_like_the_node_that_is_there_if_so_set(self, make_templates, a_group, large) -> None:
        templates = make_templates(zones="first")
        group = a_group(zones="ab", machines="a:i-1", LaunchTemplate=large)
        templates.refresh([group])
        assert templates.template(group).labels[ZONE] == "eu-west-1a"
        assert templates.template(group).zones == ()

    def test_has_the_zone_that_a_tag_says(self, templates, a_group, large) -> None:
        group = a_group(zones="ab", tags={f"{TAG}/label/{ZONE}": "eu-west-1b"}, LaunchTemplate=large)
        templates.refresh([group])
        assert templates.template(group).labels[ZONE] == "eu-west-1b"
        assert templates.template(group).zones == ()

    def test_has_the_resources_of_tags_that_a_real_node_lacks(self, templates, a_group, large) -> None:
        group = a_group(
            tags={f"{TAG}/resources/nvidia.com/gpu": "4", f"{TAG}/resources/cpu": "1"}, LaunchTemplate=large
        )
        templates.refresh([group])
        real = NodeTemplate(labels={TYPE: "m5.large"}, capacity={"cpu": 2000}, allocatable={"cpu": 1930})
        completed = templates.complete(group, real)
        assert completed.capacity == {"cpu": 2000, "nvidia.com/gpu": 4}
        assert completed.allocatable == {"cpu": 1930, "nvidia.com/gpu": 4}
        assert completed.annotations == {POOLS_ANNOTATION: "eu-west-1a/m5.large"}

    def test_may_be_smaller_than_a_real_node_of_a_mixed_group(self, templates, a_group, mixed, large) -> None:
        group = a_group(machines="a:i-1:m5.xlarge", MixedInstancesPolicy=mixed("lt-1", "m5.xlarge", "c5.xlarge"))
        templates.refresh([group])
        real = NodeTemplate(
            labels={TYPE: "m5.xlarge"},
            capacity={"cpu": 4000, "memory": 15 * GIB, "example.com/disks": 1},
            allocatable={"cpu": 3920, "memory": 14 * GIB, "example.com/disks": 1},
        )
        completed = templates.complete(group, real)
        assert completed.capacity["cpu"] == 4000
        assert completed.allocatable["cpu"] == 3920
        assert completed.allocatable["memory"] == templates.template(group).allocatable["memory"] < 8 * GIB
        assert completed.capacity["example.com/disks"] == 1

    def test_has_as_much_as_the_node_that_is_there_where_tags_tell_how_much(
        self, templates, a_group, mixed, large
    ) -> None:
        policy = mixed("lt-1", "m5.xlarge", "m5.large")
        group = a_group(machines="a:i-1", tags={f"{TAG}/resources/cpu": "1"}, MixedInstancesPolicy=policy)
        templates.refresh([group])
        real = NodeTemplate(labels={TYPE: "m5.xlarge"}, capacity={"cpu": 4000}, allocatable={"cpu": 3920})
        assert templates.complete(group, real).allocatable == {"cpu": 3920}

    def test_of_several_zones_is_a_guess_that_is_told_once(self, templates, a_group, large, caplog) -> None:
        group = a_group(zones="ab", LaunchTemplate=large)
        with caplog.at_level(logging.WARNING):
            templates.refresh([group])
            templates.refresh([group])
        (message,) = caplog.messages
        assert message == (
            "group workers has several zones (eu-west-1a, eu-west-1b), so the zone of its next machine is uncertain: "
            "for pods that need a certain zone, such as those with volumes, make a group for each zone"
        )


class TestPools:
    @pytest.mark.parametrize(
        ("distribution", "desired", "expected"),
        [
            ({}, 0, "a/m5.large"),
            ({"OnDemandPercentageAboveBaseCapacity": 0}, 0, "a/m5.large/spot"),
            ({"OnDemandPercentageAboveBaseCapacity": 50}, 0, "a/m5.large,a/m5.large/spot"),
            ({"OnDemandPercentageAboveBaseCapacity": 0, "OnDemandBaseCapacity": 2}, 1, "a/m5.large,a/m5.large/spot"),
            ({"OnDemandPercentageAboveBaseCapacity": 0, "OnDemandBaseCapacity": 2}, 2, "a/m5.large/spot"),
            ({"OnDemandPercentageAboveBaseCapacity": 0, "OnDemandBaseCapacity": 10}, 10, "a/m5.large"),
        ],
    )
    def test_follow_what_is_bought_on_demand_and_what_is_not(
        self, templates, a_group, mixed, large, distribution, desired, expected
    ) -> None:
        group = a_group(DesiredCapacity=desired, MixedInstancesPolicy=mixed("lt-1", "m5.large", **distribution))
        templates.refresh([group])
        assert ",".join(map(str, templates.pools(group))).replace("eu-west-1", "") == expected

    def test_are_all_zones_and_types(self, templates, a_group, mixed, large) -> None:
        group = a_group(zones="ab", MixedInstancesPolicy=mixed("lt-1", "m5.large", "m5.xlarge"))
        templates.refresh([group])
        assert list(map(str, templates.pools(group))) == [
            "eu-west-1a/m5.large",
            "eu-west-1a/m5.xlarge",
            "eu-west-1b/m5.large",
            "eu-west-1b/m5.xlarge",
        ]

    def test_leave_out_zones_that_do_not_have_the_type(self, aws, templates, a_group, mixed, large) -> None:
        aws.offered = {"m5.large": ["eu-west-1a", "eu-west-1b"], "m5.xlarge": ["eu-west-1b"]}
        group = a_group(zones="abc", MixedInstancesPolicy=mixed("lt-1", "m5.large", "m5.xlarge"))
        templates.refresh([group])
        assert list(map(str, templates.pools(group))) == [
            "eu-west-1a/m5.large",
            "eu-west-1b/m5.large",
            "eu-west-1b/m5.xlarge",
        ]
        assert aws.counts["describe_instance_type_offerings"] == 1

    def test_are_in_all_zones_if_nobody_may_read_which_have_the_type(
        self, aws, templates, a_group, large, caplog
    ) -> None:
        aws.failures["describe_instance_type_offerings"] = AccessDeniedError("no")
        group = a_group(LaunchTemplate=large)
        templates.refresh([group])
        templates.refresh([group])
        assert list(map(str, templates.pools(group))) == ["eu-west-1a/m5.large"]
        assert caplog.messages == ["the zones that offer instance types can't be read, so all zones count: no"]

    def test_of_spot_leave_out_types_that_are_not_sold_so(self, templates, a_group, mixed, large) -> None:
        policy = mixed("lt-1", "m5.large", "mac1.metal", OnDemandPercentageAboveBaseCapacity=0)
        group = a_group(MixedInstancesPolicy=policy)
        templates.refresh([group])
        assert list(map(str, templates.pools(group))) == ["eu-west-1a/m5.large/spot"]

    def test_are_those_of_spot_if_the_launch_template_says_so(self, aws, templates, a_group) -> None:
        aws.templates["lt-1"] = [{"InstanceType": "m5.large", "InstanceMarketOptions": {"MarketType": "spot"}}]
        group = a_group(LaunchTemplate={"LaunchTemplateName": "1"})
        templates.refresh([group])
        assert list(map(str, templates.pools(group))) == ["eu-west-1a/m5.large/spot"]
