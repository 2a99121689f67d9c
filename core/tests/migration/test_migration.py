"""What a set-up of Cluster Autoscaler becomes, and what is said about it."""

import json
import re

import pytest
import yaml
from nodewright.api import ConfigurationError
from nodewright.migration.documents import read_documents
from nodewright.migration.note import Matter
from nodewright.migration.setup import migrate

AWS = "--cloud-provider=aws"


def of(text, **words):
    """The migration of a text."""
    return migrate(read_documents(text, "input"), **words)


def deployment(*flags, pod=None, container=None, metadata=None, command=None):
    """A Deployment of Cluster Autoscaler as YAML."""
    process = {
        "name": "ca",
        "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.32.0",
        "command": command or ["./cluster-autoscaler", AWS, *flags],
        **(container or {}),
    }
    return yaml.safe_dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "ca", "namespace": "kube-system", **(metadata or {})},
            "spec": {"template": {"spec": {"containers": [process], "serviceAccountName": "ca", **(pod or {})}}},
        }
    )


def told(migration, matter):
    """What is said, by place."""
    return {each.place: each.text for each in migration.of(matter)}


def test_values_are_known_by_any_shape_that_keeps_them() -> None:
    values = {"autoDiscovery": {"clusterName": "prod"}, "extraArgs": {"v": 2}}
    text, listed = yaml.safe_dump(values), {"values": [values]}
    shapes = {
        "a file": text,
        "helm get values": f"USER-SUPPLIED VALUES:\n{text}",
        "a chart that depends on it": yaml.safe_dump({"cluster-autoscaler": values, "global": {}}),
        "Argo CD": application({"values": text}),
        "Argo CD, an ApplicationSet": yaml.safe_dump(
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "ApplicationSet",
                "spec": {"template": yaml.safe_load(application({"valuesObject": values}))},
            }
        ),
        "K3s": yaml.safe_dump(
            {
                "apiVersion": "helm.cattle.io/v1",
                "kind": "HelmChart",
                "metadata": {"name": "ca", "namespace": "kube-system"},
                "spec": {"chart": "cluster-autoscaler", "valuesContent": text},
            }
        ),
        "K3s, with a HelmChartConfig": yaml.safe_dump_all(
            [
                {
                    "apiVersion": "helm.cattle.io/v1",
                    "kind": "HelmChart",
                    "metadata": {"name": "ca"},
                    "spec": {"chart": "cluster-autoscaler", "valuesContent": "extraArgs: {v: 4}"},
                },
                {
                    "apiVersion": "helm.cattle.io/v1",
                    "kind": "HelmChartConfig",
                    "metadata": {"name": "ca"},
                    "spec": {"valuesContent": text},
                },
            ]
        ),
        "Fleet": yaml.safe_dump({"helm": {"chart": "cluster-autoscaler", "releaseName": "ca", "values": values}}),
        "Helmfile": yaml.safe_dump(
            {"releases": [{"name": "web", "chart": "x/web"}, {"name": "ca", "chart": "x/cluster-autoscaler", **listed}]}
        ),
        "Kustomize": yaml.safe_dump(
            {
                "apiVersion": "kustomize.config.k8s.io/v1beta1",
                "kind": "Kustomization",
                "helmCharts": [{"name": "cluster-autoscaler", "releaseName": "ca", "valuesInline": values}],
            }
        ),
        "Argo CD, with a file of values": f"{application({'valueFiles': ['prod.yaml']})}---\n{text}",
    }
    for shape, written in shapes.items():
        found = of(written).values
        assert (found["autoDiscovery"], found["extraArgs"]) == (values["autoDiscovery"], {"v": 2}), shape


def test_a_file_in_which_no_value_is_known_is_not_taken_for_values() -> None:
    with pytest.raises(ConfigurationError, match="nothing in it runs Cluster Autoscaler"):
        of("stages: [build]\nglobal: {}\n")


def application(helm):
    """An Application of Argo CD as YAML."""
    source = {"chart": "cluster-autoscaler", "helm": helm}
    return yaml.safe_dump(
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Application",
            "metadata": {"name": "ca"},
            "spec": {"destination": {"namespace": "kube-system"}, "sources": [{"ref": "values"}, source]},
        }
    )


def test_files_that_only_the_git_repository_has_are_asked_for() -> None:
    found = of(application({"valueFiles": ["prod.yaml"], "values": "awsRegion: eu-west-1"}))
    assert not found.complete
    assert told(found, Matter.HAND) == {"valueFiles": "prod.yaml is read, too: nodewright migrate takes several files"}


def test_values_of_a_release_are_above_those_of_files_given_beside_it() -> None:
    release = application({"valueFiles": ["prod.yaml"], "values": "awsRegion: eu-west-1"})
    found = of(f"{release}---\nawsRegion: us-east-1\nreplicaCount: 2\n")
    assert found.complete
    assert (found.values["awsRegion"], found.values["replicaCount"]) == ("eu-west-1", 2)
    assert told(found, Matter.CHECK)["valueFiles"] == "prod.yaml is among the values given beside it"


def test_a_release_without_a_name_is_left_to_people() -> None:
    found = of(yaml.safe_dump({"helm": {"chart": "cluster-autoscaler"}}), image="r/n:1")
    assert set(told(found, Matter.HAND)) == {"releaseName"}


def test_terraform_sets_values_as_helm_reads_them() -> None:
    settings = [
        {"name": "autoDiscovery.clusterName", "value": "prod"},
        {"name": "podAnnotations.example\\.com/on", "value": "true", "type": "string"},
        {"name": "tolerations[1].key", "value": "b"},
        {"name": "tolerations[0].key", "value": "a"},
        {"name": "autoDiscovery.tags", "value": "{one,two}"},
        {"name": "extraArgs.max-nodes-total", "value": "40"},
    ]
    lists = {"set_list": [{"name": "extraObjects", "value": ["one"]}]}
    release = {"chart": "cluster-autoscaler", "name": "ca", "namespace": "ns", "values": ["awsRegion: a"]}
    resource = {"type": "helm_release", "address": "helm_release.ca", "values": {**release, "set": settings, **lists}}
    state = {"terraform_version": "1.9", "values": {"root_module": {"resources": [resource]}}}
    found = of(json.dumps(state))
    assert (found.release.name, found.release.namespace) == ("ca", "ns")
    assert (
        found.values.items()
        >= {
            "awsRegion": "a",
            "autoDiscovery": {"clusterName": "prod", "tags": ["one", "two"]},
            "podAnnotations": {"example.com/on": "true"},
            "tolerations": [{"key": "a"}, {"key": "b"}],
            "extraArgs": {"max-nodes-total": 40},
            "extraObjects": ["one"],
        }.items()
    )


@pytest.mark.parametrize(
    ("values", "release", "account"),
    [
        ("awsRegion: a", "ca", "ca-aws-cluster-autoscaler"),
        ("awsRegion: a", "aws-cluster-autoscaler", "aws-cluster-autoscaler"),
        ("cloudProvider: azure", "ca", "ca-azure-cluster-autoscaler"),
        ("nameOverride: scaler", "ca", "ca-scaler"),
        ("fullnameOverride: scaler", "ca", "scaler"),
        ("rbac: {serviceAccount: {name: mine}}", "ca", "mine"),
        ("rbac: {serviceAccount: {create: false}}", "ca", "default"),
    ],
)
def test_the_account_is_called_as_cluster_autoscalers_chart_calls_it(values, release, account) -> None:
    found = of(values, release=release, namespace="kube-system")
    assert found.values["rbac"]["serviceAccount"]["name"] == account


def test_flags_that_would_end_the_process_are_left_out_and_told() -> None:
    values = """
    extraArgs: {node-autoprovisioning-enabled: true, bogus: 1, balancing-ignore-label_1: a, logtostderr: true,
      feature-gates: A=true, enable-provisioning-requests: true, max-nodes-total: lots}
    customArgs: ["--bogus=2", "--v=4"]
    """
    found = of(values)
    assert found.values["extraArgs"] == {"balancing-ignore-label_1": "a", "enable-provisioning-requests": True}
    assert found.values["customArgs"] == ["--v=4"]
    assert told(found, Matter.HAND) == {
        "--bogus": "left out: unknown flag",
        "--max-nodes-total": 'left out: write a whole number, not "lots"',
        "--enable-provisioning-requests": ("accepted, but not in effect in this version: ProvisioningRequest objects"),
    }
    assert "has no effect" in told(found, Matter.DIFFERS)["--feature-gates"]
    assert "leave it out" in told(found, Matter.CHECK)["--node-autoprovisioning-enabled"]


def test_a_flag_without_a_value_does_not_take_the_next_one_for_it() -> None:
    found = of("extraArgs: {expander: null, write-status-configmap: null, v: 2}")
    assert told(found, Matter.HAND) == {"extraArgs.expander": "left out: it has no value"}
    assert found.values["extraArgs"] == {"write-status-configmap": None, "v": 2}
    assert "expanders" not in found.configuration


def test_settings_that_exclude_each_other_are_left_to_people() -> None:
    found = of("extraArgs: {leader-elect-lease-duration: 5s, leader-elect-renew-deadline: 10s, v: 3}")
    assert not found.complete
    assert "logging:\n  verbosity: 3" in found.configuration


def test_a_cloud_without_a_plugin_is_told() -> None:
    for cloud in ("rancher", "azure"):
        found = of(f"cloudProvider: {cloud}")
        assert f"there is no plugin for {cloud} yet" in told(found, Matter.HAND)["--cloud-provider"]


def test_flags_without_a_cloud_are_those_of_google_cloud_as_in_cluster_autoscaler() -> None:
    rule = "mig:namePrefix=k8s,min=0,max=9"
    found = of(deployment(command=["./cluster-autoscaler", f"--node-group-auto-discovery={rule}", "--regional"]))
    assert found.complete
    assert yaml.safe_load(found.configuration)["providers"] == [{"gce": {"regional": True}}]
    assert "none was given" in told(found, Matter.CHECK)["--cloud-provider"]


def test_the_image_is_left_out_unless_one_of_nodewright_is_named() -> None:
    text = "image: {repository: k8s.gcr.io/autoscaling/cluster-autoscaler, tag: v1.20.0, pullSecrets: [mirror]}"
    assert of(text).values["image"] == {"pullSecrets": ["mirror"]}
    for image, named in (
        ("registry.example:5000/nodewright", {"repository": "registry.example:5000/nodewright"}),
        ("registry.example:5000/nodewright:v9", {"repository": "registry.example:5000/nodewright", "tag": "v9"}),
        ("nodewright:v9@sha256:12ab", {"repository": "nodewright", "tag": "v9@sha256:12ab"}),
        ("nodewright@sha256:12ab", {"repository": "nodewright@sha256", "tag": "12ab"}),
    ):
        assert of(text, image=image).values["image"] == {"pullSecrets": ["mirror"], **named}


def test_resources_are_raised_to_what_the_process_needs_and_never_mixed_with_defaults() -> None:
    found = of("resources: {limits: {cpu: 100m, memory: 128Mi}, requests: {memory: 100Mi}}")
    assert found.values["resources"] == {
        "limits": {"cpu": "250m", "memory": "256Mi"},
        "requests": {"cpu": None, "memory": "100Mi"},
    }
    assert set(told(found, Matter.DIFFERS)) == {"resources.limits.cpu", "resources.limits.memory"}
    found = of("resources: {limits: {memory: 2Gi}, requests: {cpu: '2', memory: 2Gi}}")
    assert found.values["resources"]["limits"] == {"memory": "2Gi"}
    assert not told(found, Matter.DIFFERS)


def test_root_stays_root() -> None:
    found = of(
        deployment(pod={"securityContext": {"runAsUser": 0}}, container={"securityContext": {"privileged": True}})
    )
    assert found.values["securityContext"] == {"runAsUser": 0, "runAsGroup": None, "runAsNonRoot": False}
    assert found.values["containerSecurityContext"] == {"privileged": True, "allowPrivilegeEscalation": None}


@pytest.mark.parametrize(
    "command",
    [
        ["./cluster-autoscaler", AWS, "--v=3"],
        ["/usr/local/bin/cluster-autoscaler", "-cloud-provider", "aws", "-v", "3"],
        ["sh", "-c", f"exec ./cluster-autoscaler {AWS} --v=3 >> /log 2>&1"],
        ["/bin/sh", "-ec", f"sleep 1 && ./cluster-autoscaler {AWS} --v=$LEVEL || true"],
        ["./cluster-autoscaler", AWS, "--v=$(LEVEL)"],
    ],
)
def test_a_process_is_understood_however_it_is_started(command) -> None:
    found = of(deployment(command=command, container={"env": [{"name": "LEVEL", "value": "3"}]}))
    assert found.complete
    assert found.values["config"] == {"providers": ["aws"], "logging": {"verbosity": 3}}


def test_a_variable_that_only_the_cluster_knows_is_left_to_people() -> None:
    source = {"configMapKeyRef": {"name": "a", "key": "b"}}
    found = of(deployment("--nodes=$(NODES)", container={"env": [{"name": "NODES", "valueFrom": source}]}))
    assert "--nodes=$(NODES) has a variable that only the cluster knows" in told(found, Matter.HAND)["--nodes"]


def test_a_placeholder_of_an_example_is_left_to_people() -> None:
    tags = "k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/<YOUR CLUSTER NAME>"
    assert not of(deployment(f"--node-group-auto-discovery=asg:tag={tags}")).complete
    assert not of("autoDiscovery: {clusterName: <YOUR CLUSTER NAME>}").complete


def test_what_the_chart_has_no_value_for_is_left_to_people() -> None:
    sidecar = {"name": "proxy", "image": "proxy"}
    text = deployment(pod={"hostAliases": [{"ip": "10.0.0.1"}], "dnsConfig": {}}, container={"lifecycle": {"x": 1}})
    document = yaml.safe_load(text)
    document["spec"]["template"]["spec"]["containers"].append(sidecar)
    document["spec"]["template"]["spec"]["containers"][0]["env"] = [
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    ]
    found = of(yaml.safe_dump(document))
    assert set(told(found, Matter.HAND)) == {"pod.hostAliases", "container.lifecycle", "containers proxy", "env NODE"}


def test_marks_of_other_programs_are_not_put_on_our_objects() -> None:
    labels = {
        "app": "ca",
        "addon.kops.k8s.io/name": "x",
        "objectset.rio.cattle.io/hash": "y",
        "app.kubernetes.io/name": "z",
    }
    document = yaml.safe_load(deployment(metadata={"labels": labels, "name": "ca"}))
    document["spec"]["template"]["metadata"] = {
        "labels": labels,
        "annotations": {"kubectl.kubernetes.io/restartedAt": "now"},
    }
    found = of(yaml.safe_dump(document))
    assert found.values["podLabels"] == {"app": "ca"}
    assert "podAnnotations" not in found.values
    assert {"kOps", "Rancher"} <= set(told(found, Matter.CHECK))


def test_the_lease_stays_where_cluster_autoscaler_has_it() -> None:
    elsewhere = {"namespace": "autoscaling", "name": "ca"}
    assert of(deployment(metadata=elsewhere)).values["clusterAPIConfigMapsNamespace"] == "kube-system"
    named = of(deployment("--namespace=autoscaling", metadata=elsewhere))
    assert "clusterAPIConfigMapsNamespace" not in named.values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing in it runs Cluster Autoscaler"),
        ("kind: Deployment\napiVersion: apps/v1", "nothing in it runs Cluster Autoscaler"),
        ("- a", "expected values or objects"),
        ("a: [", "not valid YAML"),
        ('resource "helm_release" "ca" {\n  chart = "x"\n}', "terraform show -json"),
        ("[" * 5000, "nested too deeply"),
        ('{"a":' * 5000, "nested too deeply"),
        ("a: &a [*a]", "an alias must not be part of"),
        ("rbac: 3", "rbac: must be a mapping"),
        ("tolerations: 3\nautoscalingGroups: {}", "autoscalingGroups: must be a list"),
    ],
)
def test_what_can_not_be_read_is_told_in_words(text, message) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        of(text)


def test_a_bomb_of_aliases_is_not_unfolded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    with pytest.raises(ConfigurationError, match="more than 100,000 values"):
        of("\n".join(lines))
