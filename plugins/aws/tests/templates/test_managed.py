"""Managed node groups of EKS."""

from dataclasses import replace

import pytest
from nodewright.api import AccessDeniedError, CloudUnavailableError, GroupOptions, Taint
from nodewright_aws.config import KubeletSettings
from nodewright_aws.instance_types.allocatable import capacity_and_allocatable

TAG = "k8s.io/cluster-autoscaler/node-template"
EKS = {"eks:cluster-name": "prod", "eks:nodegroup-name": "web"}
DESCRIBE = "describe_nodegroup"


@pytest.fixture
def web(aws, a_group, mixed):
    """A managed node group ``web``, and the reading of its Auto Scaling group with further tags."""
    aws.templates["lt-1"] = [{"ImageId": "ami-1"}]
    aws.nodegroups["prod", "web"] = {
        "nodegroupName": "web",
        "clusterName": "prod",
        "version": "1.34",
        "capacityType": "ON_DEMAND",
        "amiType": "AL2023_x86_64_STANDARD",
        "diskSize": 20,
        "labels": {"team": "web"},
        "taints": [{"key": "dedicated", "value": "web", "effect": "NO_SCHEDULE"}],
        "tags": {},
    }

    def make(name: str = "eks-web-1", **tags: str):
        return a_group(name, tags=EKS | tags, MixedInstancesPolicy=mixed("lt-1", "m5.large"))

    return make


@pytest.fixture
def template_of(templates):
    def read(group):
        templates.refresh([group])
        return templates.template(group)

    return read


def test_eks_tells_labels_taints_and_how_machines_are_bought(template_of, web) -> None:
    template = template_of(web())
    own = {key: value for key, value in template.labels.items() if key == "team" or "eks" in key}
    assert own == {
        "team": "web",
        "eks.amazonaws.com/nodegroup": "web",
        "eks.amazonaws.com/capacityType": "ON_DEMAND",
        "eks.amazonaws.com/nodegroup-image": "ami-1",
    }
    assert template.taints == (Taint(key="dedicated", value="web", effect="NoSchedule"),)


def test_a_launch_template_of_the_user_s_own_is_named_on_nodes(aws, template_of, web) -> None:
    aws.nodegroups["prod", "web"]["launchTemplate"] = {"id": "lt-77", "name": "mine", "version": "4"}
    labels = template_of(web()).labels
    assert labels["eks.amazonaws.com/sourceLaunchTemplateId"] == "lt-77"
    assert labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] == "4"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("NO_SCHEDULE", "NoSchedule"), ("NO_EXECUTE", "NoExecute"), ("PREFER_NO_SCHEDULE", "PreferNoSchedule")],
)
def test_taints_need_no_value(aws, template_of, web, theirs, ours) -> None:
    aws.nodegroups["prod", "web"]["taints"] = [{"key": "gpu", "effect": theirs}]
    assert template_of(web()).taints == (Taint(key="gpu", effect=ours),)


def test_eks_knows_better_than_the_tags_of_the_auto_scaling_group(aws, template_of, web) -> None:
    aws.nodegroups["prod", "web"]["tags"] = {f"{TAG}/resources/nvidia.com/gpu": "2"}
    template = template_of(
        web(
            **{
                f"{TAG}/label/team": "mail",
                f"{TAG}/label/extra": "yes",
                f"{TAG}/taint/dedicated": "mail:NoSchedule",
                f"{TAG}/taint/other": ":NoExecute",
                f"{TAG}/resources/nvidia.com/gpu": "1",
            }
        )
    )
    assert (template.labels["team"], template.labels["extra"]) == ("web", "yes")
    assert set(template.taints) == {
        Taint(key="dedicated", value="web", effect="NoSchedule"),
        Taint(key="other", effect="NoExecute"),
    }
    assert template.allocatable["nvidia.com/gpu"] == 2


def test_tags_of_the_managed_group_change_options(aws, templates, web) -> None:
    aws.nodegroups["prod", "web"]["tags"] = {f"{TAG}/autoscaling-options/ignoredaemonsetsutilization": "true"}
    group = web()
    templates.refresh([group])
    assert templates.options(group, GroupOptions()) == GroupOptions(ignore_daemonsets_utilization=True)


def test_disk_and_pods_are_those_that_eks_gives(template_of, web, catalogue) -> None:
    kubelet = KubeletSettings(max_pods="managed", ami_family="al2023")
    expected = capacity_and_allocatable(catalogue.shapes["m5.large"], kubelet, root_volume_gib=20)
    template = template_of(web())
    assert (template.capacity, template.allocatable) == expected


def test_an_image_of_the_user_s_own_lets_in_as_many_pods_as_the_settings_say(
    aws, make_templates, a_group, mixed, web, catalogue
) -> None:
    catalogue.shapes["m5.large"] = replace(catalogue.shapes["m5.large"], interfaces=15, addresses_per_interface=50)
    templates, group = make_templates(), web()
    templates.refresh([group])
    assert templates.template(group).capacity["pods"] == 110
    aws.nodegroups["prod", "web"]["amiType"] = "CUSTOM"
    templates = make_templates()
    templates.refresh([group])
    assert templates.template(group).capacity["pods"] == 15 * 49 + 2


def test_the_kind_of_image_tells_which_disk_is_for_pods(aws, template_of, web, catalogue) -> None:
    aws.nodegroups["prod", "web"]["amiType"] = "BOTTLEROCKET_x86_64"
    aws.templates["lt-1"][0]["BlockDeviceMappings"] = [
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 200}},
        {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 50}},
    ]
    kubelet = KubeletSettings(max_pods="managed", ami_family="bottlerocket")
    expected, _ = capacity_and_allocatable(catalogue.shapes["m5.large"], kubelet, root_volume_gib=50)
    assert template_of(web()).capacity == expected


def test_no_image_is_named_if_there_are_several(aws, template_of, a_group, mixed, web) -> None:
    web()
    aws.templates["lt-2"] = [{"ImageId": "ami-2"}]
    other = {"InstanceType": "m5.xlarge", "LaunchTemplateSpecification": {"LaunchTemplateId": "lt-2", "Version": "1"}}
    template = template_of(a_group(tags=EKS, MixedInstancesPolicy=mixed("lt-1", "m5.large", other)))
    assert "eks.amazonaws.com/nodegroup-image" not in template.labels
    assert template.labels["eks.amazonaws.com/nodegroup"] == "web"


def test_settings_go_before_what_eks_gives(make_templates, web, catalogue) -> None:
    templates, group = make_templates(kubelet={"maxPods": 17}), web()
    templates.refresh([group])
    assert templates.template(group).allocatable["pods"] == 17


def test_windows_is_told_by_the_kind_of_image(aws, template_of, web) -> None:
    aws.nodegroups["prod", "web"]["amiType"] = "WINDOWS_CORE_2022_x86_64"
    assert template_of(web()).labels["kubernetes.io/os"] == "windows"


def test_requirements_are_matched_for_the_kind_of_image_if_nobody_may_read_it(
    aws, templates, a_group, mixed, web
) -> None:
    web()
    aws.failures["describe_images"] = AccessDeniedError("no")
    aws.nodegroups["prod", "web"]["amiType"] = "BOTTLEROCKET_ARM_64"
    wishes = {"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 1}}
    aws.matching.append((wishes, ["m6g.large"]))
    policy = mixed("lt-1", {"InstanceRequirements": wishes})
    templates.refresh([a_group(tags=EKS, MixedInstancesPolicy=policy)])
    (asked,) = aws.arguments("get_instance_types_from_instance_requirements")
    assert asked["ArchitectureTypes"] == ["arm64"]


@pytest.mark.parametrize("error", [AccessDeniedError("not allowed"), CloudUnavailableError("no route to EKS")])
def test_without_eks_templates_go_by_tags(aws, templates, web, caplog, error) -> None:
    aws.failures[DESCRIBE] = error
    groups = [
        web("one", **{f"{TAG}/label/team": "tagged"}),
        web("two", **{"eks:nodegroup-name": "mail", f"{TAG}/label/team": "tagged"}),
    ]
    for _ in range(3):
        templates.refresh(groups)
    assert [templates.template(group).labels["team"] for group in groups] == ["tagged", "tagged"]
    assert aws.counts[DESCRIBE] == 1
    (message,) = caplog.messages
    assert message == (
        "EKS does not describe the nodes of managed node group 'web' of cluster 'prod' and 1 more, so templates use "
        f"the tags of their Auto Scaling groups only: {error}"
    )


def test_what_is_refused_for_one_cluster_may_be_allowed_for_another(aws, templates, web) -> None:
    groups = [web("one", **{"eks:cluster-name": "test"}), web("two")]
    allowed = aws.describe_nodegroup

    def describe(asked):
        if asked["clusterName"] == "test":
            raise AccessDeniedError("not allowed")
        return allowed(asked)

    aws.describe_nodegroup = describe
    templates.refresh(groups)
    assert templates.template(groups[1]).labels["team"] == "web"


def test_a_managed_group_that_is_gone_is_no_harm_to_others(aws, templates, web) -> None:
    groups = [web("gone", **{"eks:nodegroup-name": "gone"}), web("here")]
    templates.refresh(groups)
    assert "team" not in templates.template(groups[0]).labels
    assert templates.template(groups[1]).labels["team"] == "web"


def test_groups_of_one_name_in_two_clusters_are_two(aws, templates, web) -> None:
    aws.nodegroups["test", "web"] = {"nodegroupName": "web", "labels": {"team": "test"}}
    groups = [web("one"), web("two", **{"eks:cluster-name": "test"})]
    templates.refresh(groups)
    assert [templates.template(group).labels["team"] for group in groups] == ["web", "test"]


def test_each_group_is_asked_for_once_in_six_minutes_and_stays_known_after_a_failure(
    aws, clock, templates, web
) -> None:
    group = web()
    templates.refresh([group])
    clock.advance(359)
    templates.refresh([group])
    assert aws.counts[DESCRIBE] == 1
    aws.failures[DESCRIBE] = CloudUnavailableError("away")
    clock.advance(92)
    templates.refresh([group])
    assert aws.counts[DESCRIBE] == 2
    assert templates.template(group).labels["team"] == "web"


def test_many_groups_are_all_read(aws, templates, web) -> None:
    groups = []
    for number in range(40):
        name = f"group-{number}"
        aws.nodegroups["prod", name] = {"nodegroupName": name, "labels": {"number": str(number)}}
        groups.append(web(name, **{"eks:nodegroup-name": name}))
    templates.refresh(groups)
    assert [templates.template(group).labels["number"] for group in groups] == list(map(str, range(40)))
    assert aws.counts[DESCRIBE] == 40
