"""The chart renders, whatever values are given, and takes those of Cluster Autoscaler's chart."""

import json
import re

import kubernetes_validate
import pytest
import yaml
from nodewright.config.document import load
from nodewright.config.flags import parse_flags
from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.deploy.conftest import CHART, container, helm, only
from tests.end_to_end.scenarios import a_group, a_scenario

FOR_CLUSTER_AUTOSCALER = """
autoDiscovery: {clusterName: prod}
awsRegion: eu-west-1
kubeTargetVersionOverride: "1.30"
civoRegion: lon1
extraArgs:
  logtostderr: true
  stderrthreshold: info
  v: 4
  expander: priority,least-waste
  balancing-ignore-label_1: one
  balancing-ignore-label_2: two
  max-nodes-total: 1000000
  skip-nodes-with-local-storage: false
expanderPriorities: |-
  10: [".*"]
  50: ["spot-.*"]
extraEnv: {HTTPS_PROXY: "http://proxy:3128"}
extraEnvSecrets: {TOKEN: {name: tokens, key: token}}
extraVolumeSecrets: {ca-bundle: {mountPath: /bundle}}
nodeSelector: {node-role.kubernetes.io/control-plane: ""}
tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]
podDisruptionBudget: {minAvailable: 1}
priorityConfigMapAnnotations: {kept-by: platform}
rbac:
  serviceAccount: {name: cluster-autoscaler, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/ca"}}
  additionalRules: [{apiGroups: [example.com], resources: [things], verbs: [list]}]
replicaCount: 2
serviceMonitor: {enabled: true}
prometheusRule: {enabled: true, rules: [{alert: Own, expr: "up == 0"}]}
vpa: {enabled: true}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-own"}}]
"""
EVERYTHING = """
config:
  providers: [fake]
  limits: {capacityQuotas: true}
serviceMonitor: {enabled: true}
prometheusRule: {enabled: true}
dashboards: {enabled: true}
replicaCount: 3
image: {pullSecrets: [registry]}
hostNetwork: true
networkPolicy: {enabled: true, from: [{namespaceSelector: {}}]}
"""
AZURE = """
cloudProvider: azure
autoDiscovery: {clusterName: prod}
azureSubscriptionID: subscription
azureClientID: client
azureClientSecret: secret
"""
CLUSTER_API = """
cloudProvider: clusterapi
autoDiscovery: {clusterName: prod, namespace: infra, labels: [{color: green}, {shape: circle}]}
clusterAPIMode: kubeconfig-kubeconfig
clusterAPIKubeconfigSecret: workload
clusterAPIConfigMapsNamespace: elsewhere
"""
GCE = """
cloudProvider: gce
autoscalingGroupsnamePrefix: [{name: ig, minSize: 0, maxSize: 10}]
cloudConfigPath: /etc/gce.conf
"""
VALUES = {
    "nothing": "cloudProvider: fake",
    "cluster-autoscaler": FOR_CLUSTER_AUTOSCALER,
    "everything": EVERYTHING,
    "azure": AZURE,
    "clusterapi": CLUSTER_API,
    "gce": GCE,
}
#: Kinds of the Prometheus Operator and the Vertical Pod Autoscaler have no schema in Kubernetes.
CUSTOM = {"ServiceMonitor", "PrometheusRule", "VerticalPodAutoscaler"}
#: The oldest that the chart allows, and the newest that there is a schema for.
VERSIONS = ("1.25", kubernetes_validate.latest_version())


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_every_object_is_valid_for_kubernetes(render, values) -> None:
    objects = render(values)
    assert {each["kind"] for each in objects} >= {"Deployment", "ClusterRole", "Role", "ServiceAccount", "ConfigMap"}
    for each in objects:
        for version in VERSIONS if each["kind"] not in CUSTOM else ():
            kubernetes_validate.validate(each, version, strict=True)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_helm_finds_nothing_wrong_with_the_chart(render, values) -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", CHART, "--values", render.values(values))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_process_takes_the_flags_and_the_file_that_it_is_given(render, values, tmp_path) -> None:
    objects = render(values)
    file = tmp_path / "nodewright.yaml"
    file.write_text(only(objects, "ConfigMap", "nodewright")["data"]["nodewright.yaml"])
    words = [word.replace("/etc/nodewright", str(tmp_path)) for word in container(objects)["args"]]
    flags = parse_flags(words)
    assert load(flags.config, flags=flags).settings.providers


def test_values_for_cluster_autoscaler_say_the_same_here(render) -> None:
    objects = render(FOR_CLUSTER_AUTOSCALER, release="ca")
    assert container(objects)["args"] == [
        "--config=/etc/nodewright/nodewright.yaml",
        "--namespace=kube-system",
        "--cloud-provider=aws",
        "--node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/enabled,k8s.io/cluster-autoscaler/prod",
        "--balancing-ignore-label=one",
        "--balancing-ignore-label=two",
        "--expander=priority,least-waste",
        "--logtostderr=true",
        "--max-nodes-total=1000000",
        "--skip-nodes-with-local-storage=false",
        "--stderrthreshold=info",
        "--v=4",
    ]
    environment = {each["name"]: each.get("value") for each in container(objects)["env"]}
    assert environment == {"AWS_REGION": "eu-west-1", "HTTPS_PROXY": "http://proxy:3128", "TOKEN": None}
    account = only(objects, "ServiceAccount")
    assert account["metadata"]["name"] == "cluster-autoscaler"
    assert account["metadata"]["annotations"] == {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/ca"}
    priorities = only(objects, "ConfigMap", "cluster-autoscaler-priority-expander")
    assert yaml.safe_load(priorities["data"]["priorities"]) == {10: [".*"], 50: ["spot-.*"]}
    assert priorities["metadata"]["annotations"] == {"kept-by": "platform"}
    assert only(objects, "PodDisruptionBudget")["spec"]["minAvailable"] == 1
    assert "maxUnavailable" not in only(objects, "PodDisruptionBudget")["spec"]
    assert only(objects, "ClusterRole")["rules"][-1]["resources"] == ["things"]
    assert only(objects, "ServiceMonitor")["metadata"]["labels"]["release"] == "prometheus-operator"
    assert only(objects, "PrometheusRule")["spec"]["groups"][-1]["rules"] == [{"alert": "Own", "expr": "up == 0"}]
    assert only(objects, "ConfigMap", "ca-own")


def test_what_has_no_effect_is_told_after_the_installation(render) -> None:
    with World(parse_scenario(a_scenario(a_group("pool", max=1))), FastClock()) as world:
        told = helm(
            *("install", "ca", CHART, "--namespace", "kube-system", "--kubeconfig", world.kubeconfig),
            *("--values", render.values(FOR_CLUSTER_AUTOSCALER + "replicaCont: 3")),
            *("--set", "serviceMonitor.enabled=false,prometheusRule.enabled=false,vpa.enabled=false"),
        )
        (deployment,) = (each for each in world.store.list("deployments.apps") if "ca" in each["metadata"]["name"])
    assert deployment["spec"]["replicas"] == 2
    assert told.partition("Values that have no effect:\n")[2].splitlines() == [
        "- civoRegion: there is no plugin for Civo",
        "- kubeTargetVersionOverride: all API versions in use are served since Kubernetes 1.25",
        "- replicaCont: this chart has no such value; is it misspelt?",
    ]


def test_limits_that_are_too_small_to_live_are_told_after_the_installation(render) -> None:
    cases = {
        "{cpu: 100m, memory: 300Mi}": ["cpu: 100m is little: a start takes a second of CPU, so it lasts 10 seconds"],
        "{cpu: 0.2, memory: 128Mi}": ["cpu: 0.2 is little", "memory: 128Mi is too little"],
        "{memory: 150000000}": ["memory: 1.5e+08 is too little"],
        "{memory: 190000k}": ["memory: 190000k is too little"],
        "{memory: 196608Ki}": [],
        "{cpu: 1, memory: 600M}": [],
        "{cpu: 250m, memory: 1Gi}": [],
        "null": [],
    }
    with World(parse_scenario(a_scenario(a_group("pool", max=1))), FastClock()) as world:
        for number, (limits, told) in enumerate(cases.items()):
            notes = helm(
                *("install", f"ca-{number}", CHART, "--namespace", "kube-system", "--kubeconfig", world.kubeconfig),
                *("--values", render.values(f"cloudProvider: fake\nresources: {{limits: {limits}}}")),
            )
            lines = [line for line in notes.splitlines() if line.startswith("resources.limits.")]
            assert len(lines) == len(told), limits
            assert all(text in line for line, text in zip(lines, told, strict=True))


def test_a_slow_start_is_no_reason_to_be_killed(render) -> None:
    found = container(render())
    startup = found["startupProbe"]
    assert startup["httpGet"] == found["livenessProbe"]["httpGet"]
    # A second of CPU, at a twentieth of a core.
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 20


def test_no_value_of_the_chart_counts_as_unknown() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    listed = re.search(r"\$known := list (.*) -}}", (CHART / "templates/_ignored.tpl").read_text())[1]
    assert set(json.loads(f"[{listed.replace(' ', ', ')}]")) == {*values, "global"}


def test_groups_of_each_cloud_are_told_as_its_plugin_reads_them(render) -> None:
    def found(values):
        return [word for word in container(render(values))["args"] if "discovery" in word or "config=" in word][1:]

    assert found(AZURE) == [
        "--node-group-auto-discovery=label:cluster-autoscaler-enabled=true,cluster-autoscaler-name=prod"
    ]
    assert found(CLUSTER_API) == [
        "--node-group-auto-discovery=clusterapi:clusterName=prod,namespace=infra,color=green,shape=circle",
        "--cloud-config=/etc/kubernetes/mgmt-kubeconfig",
        "--kubeconfig=/etc/kubernetes/value",
    ]
    assert found(GCE) == [
        "--node-group-auto-discovery=mig:namePrefix=ig,min=0,max=10",
        "--cloud-config=/etc/gce.conf",
    ]


@pytest.mark.parametrize(
    "volumes",
    [
        "extraVolumeSecrets: {gce: {mountPath: /etc/gce}}",
        "extraVolumes: [{name: gce, configMap: {name: gce}}]\nextraVolumeMounts: [{name: gce, mountPath: /etc/gce}]",
    ],
)
def test_gce_conf_comes_from_the_host_unless_a_volume_has_it(render, volumes) -> None:
    def mounts(values):
        objects = render(f"cloudProvider: gce\ncloudConfigPath: /etc/gce/gce.conf\n{values}")
        named = {each["name"]: each for each in only(objects, "Deployment")["spec"]["template"]["spec"]["volumes"]}
        return {each["mountPath"]: named[each["name"]] for each in container(objects)["volumeMounts"][1:]}

    on_host = {"name": "cloudconfig", "hostPath": {"path": "/etc/gce/gce.conf"}}
    assert mounts("") == {"/etc/gce/gce.conf": on_host}
    (path,) = mounts(volumes)
    assert path == "/etc/gce"
    assert mounts(volumes.replace("/etc/gce", "/etc/gc"))["/etc/gce/gce.conf"] == on_host


def test_critical_pods_have_a_quota_where_gke_refuses_them_without_one(render) -> None:
    def quotas(values="", namespace="scaling", version="1.31.5-gke.1023000"):
        found = render(f"cloudProvider: gce\n{values}", "--kube-version", version, namespace=namespace)
        return [each for each in found if each["kind"] == "ResourceQuota"]

    (quota,) = quotas()
    kubernetes_validate.validate(quota, VERSIONS[-1], strict=True)
    assert quota["metadata"]["namespace"] == "scaling"
    assert quota["spec"] == {
        "hard": {"pods": "5"},
        "scopeSelector": {
            "matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["system-cluster-critical"]}
            ]
        },
    }
    assert quotas(namespace="kube-system") == []
    assert quotas(version="1.31.5") == []
    assert quotas("priorityClassName: important") == []
    assert quotas("priorityQuota: {create: false}") == []
    assert len(quotas("priorityQuota: {create: true}", version="1.31.5")) == 1


def test_keys_of_a_cloud_are_nowhere_but_in_the_secret(render) -> None:
    objects = render(AZURE)
    assert only(objects, "Secret")["stringData"]["ClientSecret"] == "secret"
    environment = {each["name"]: each["valueFrom"]["secretKeyRef"] for each in container(objects)["env"]}
    assert environment["ARM_CLIENT_SECRET"] == {"name": "nodewright", "key": "ClientSecret"}
    objects = render(AZURE + "secretKeyRefNameOverride: mine")
    assert "Secret" not in {each["kind"] for each in objects}
    assert {each["valueFrom"]["secretKeyRef"]["name"] for each in container(objects)["env"]} == {"mine"}


def test_without_a_cloud_nothing_is_installed(render) -> None:
    assert "name the cloud that has the nodes: set config.providers" in render.refused("replicaCount: 1")


def test_values_of_the_wrong_shape_are_refused(render) -> None:
    assert "replicaCount: Invalid type. Expected: integer" in render.refused("replicaCount: two")
    assert "maxSize is required" in render.refused("autoscalingGroups: [{name: a, minSize: 1}]")
    assert "config is not valid YAML" in render.refused("config: 'a: ['")
    assert ":http is no address to listen on" in render.refused(
        "config: {providers: [fake], server: {address: ':http'}}"
    )


def test_rules_have_an_interval_only_if_one_is_given(render) -> None:
    given = "cloudProvider: fake\nprometheusRule: {enabled: true"
    for values, intervals in ((given + "}", {"none"}), (given + ", interval: 7s}", {"7s"})):
        groups = only(render(values), "PrometheusRule")["spec"]["groups"]
        assert {group.get("interval", "none") for group in groups} == intervals


def test_a_file_that_no_volume_is_there_for_is_told_after_the_installation(render) -> None:
    with World(parse_scenario(a_scenario(a_group("pool", max=1))), FastClock()) as world:
        told = helm(
            *("install", "ca", CHART, "--namespace", "kube-system", "--kubeconfig", world.kubeconfig),
            *("--values", render.values("config: {providers: [fake], record: {path: /records/r}}")),
        )
    assert "record.path: /records/r can't be written until extraVolumes and extraVolumeMounts mount" in told
    assert "memory.path" not in told


def test_a_configuration_given_as_text_stays_as_it_is(render) -> None:
    text = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake] # ours\nserver: {address: ':9000'}\n"
    (render.folder / "file.yaml").write_text(text)
    objects = render("", "--set-file", f"config={render.folder}/file.yaml")
    assert only(objects, "ConfigMap", "nodewright")["data"]["nodewright.yaml"] == text
    assert container(objects)["livenessProbe"]["httpGet"]["port"] == 9000
    assert container(objects)["ports"][0]["containerPort"] == 9000


def test_it_runs_as_nobody_on_a_file_system_that_can_not_be_written(render) -> None:
    objects = render()
    pod = only(objects, "Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 65532
    assert container(objects)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert not any("emptyDir" in volume for volume in pod["volumes"])


def rights(objects):
    """All verbs on all resources, with the names that they are limited to."""
    return {
        (resource, verb, name)
        for each in objects
        if each["kind"] in ("ClusterRole", "Role")
        for rule in each["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames", [""])
    }


def test_who_only_watches_has_no_right_to_write(render) -> None:
    for values in ("config: {dryRun: true, providers: [fake]}", "cloudProvider: fake\nextraArgs: {dry-run: true}"):
        assert {verb for _, verb, _ in rights(render(values))} == {"list", "watch"}


@pytest.mark.parametrize(
    ("values", "without"),
    [
        ("extraArgs: {leader-elect: false}", "leases"),
        ("customArgs: ['--leader-elect=false']", "leases"),
        ("config: {leaderElection: {enabled: false}}", "leases"),
        ("extraArgs: {capacity-quotas-enabled: false}", "capacityquotas"),
    ],
)
def test_what_is_switched_off_needs_no_rights(render, values, without) -> None:
    assert without not in {resource for resource, _, _ in rights(render("cloudProvider: fake\n" + values))}


def test_rights_follow_the_names_that_are_set(render) -> None:
    values = "config: {providers: [fake], status: {name: told}}\nextraArgs: {leader-elect-resource-name: mine}"
    granted = rights(render(values))
    assert {("leases", "update", "mine"), ("configmaps", "delete", "told")} <= granted
    assert not {name for _, _, name in granted} & {"cluster-autoscaler", "cluster-autoscaler-status"}


def test_without_cluster_scope_only_the_rights_in_its_namespace_are_granted(render) -> None:
    kinds = {each["kind"] for each in render("cloudProvider: fake\nrbac: {clusterScoped: false}")}
    assert "Role" in kinds
    assert "ClusterRole" not in kinds


@pytest.mark.parametrize(
    ("image", "told"),
    [
        ("{repository: registry.k8s.io/autoscaling/cluster-autoscaler}", "is Cluster Autoscaler's image"),
        ("{repository: k8s.gcr.io/autoscaling/cluster-autoscaler-arm64, tag: v1}", "is Cluster Autoscaler's image"),
        ("{repository: 'registry.example:5000/mirror/cluster-autoscaler'}", "is Cluster Autoscaler's image"),
        ("{repository: cluster-autoscaler}", "is Cluster Autoscaler's image"),
        ("{tag: v1.30.2}", "image.tag: v1.30.2 is a version of Cluster Autoscaler"),
        ("{repository: registry.example/nodewright, tag: v1.30.2}", "is a version of Cluster Autoscaler"),
        ("{repository: 'registry.example:5000/nodewright:0.1.0'}", "has a tag or a digest: give it as image.tag"),
        ("{repository: 'nodewright@sha256:12ab'}", "has a tag or a digest: give it as image.tag"),
    ],
)
def test_an_image_that_can_not_be_meant_is_refused(render, image, told) -> None:
    assert told in render.refused(f"cloudProvider: fake\nimage: {image}")


def test_an_image_of_ones_own_may_be_anywhere(render) -> None:
    for repository, tag in (
        ("registry.example:5000/cluster-autoscaler/nodewright", "v1.2.3"),
        ("nodewright", "1.30.2"),
        ("nodewright", "0.1.0@sha256:12ab"),
        ("nodewright@sha256", "12ab"),
    ):
        values = f"cloudProvider: fake\nimage: {{repository: '{repository}', tag: '{tag}'}}"
        assert container(render(values))["image"] == f"{repository}:{tag}"


SELECTED = """
cloudProvider: fake
selectorLabels: {app: cluster-autoscaler}
podLabels: {app: other, team: platform}
additionalLabels: {team: other, app.kubernetes.io/name: other}
networkPolicy: {enabled: true}
"""


def test_pods_are_found_by_the_selector_whatever_labels_are_given(render) -> None:
    objects = render(SELECTED)
    selector = {"app": "cluster-autoscaler"}
    assert only(objects, "Deployment")["spec"]["selector"]["matchLabels"] == selector
    assert only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"] == {
        "app": "cluster-autoscaler",
        "team": "platform",
        "app.kubernetes.io/name": "other",
    }
    assert only(objects, "Service")["spec"]["selector"] == selector
    assert only(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == selector
    assert only(objects, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == selector


@pytest.fixture
def world():
    with World(parse_scenario(a_scenario(a_group("pool", max=1))), FastClock()) as running:
        yield running


def test_a_deployment_with_another_selector_is_not_run_into(render, world) -> None:
    there = ("ca", CHART, "--namespace", "kube-system", "--kubeconfig", world.kubeconfig, "--values")
    helm("install", *there, render.values("cloudProvider: fake\nselectorLabels: {app: cluster-autoscaler}"))
    told = helm("upgrade", *there, render.values("cloudProvider: fake"), status=1)
    assert "the Deployment kube-system/ca-nodewright is there already, and its selector can't be changed" in told
    assert 'set selectorLabels: {"app":"cluster-autoscaler"}' in told
    helm("upgrade", *there, render.values("cloudProvider: fake\nselectorLabels: {app: cluster-autoscaler}"))


def test_who_must_trust_which_account_is_told_after_the_installation(render, world) -> None:
    role = "rbac: {serviceAccount: {annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::1:role/ca'}"
    to = (CHART, "--namespace", "kube-system", "--kubeconfig", world.kubeconfig, "--values")
    told = helm("install", "one", *to, render.values(f"cloudProvider: fake\n{role}}}}}"))
    assert "arn:aws:iam::1:role/ca must trust system:serviceaccount:kube-system:one-nodewright. This name is" in told
    told = helm("install", "two", *to, render.values(f"cloudProvider: fake\n{role}, name: cluster-autoscaler}}}}"))
    assert "must trust system:serviceaccount:kube-system:cluster-autoscaler.\n" in told
    account = "rbac: {serviceAccount: {annotations: {iam.gke.io/gcp-service-account: ca@p.iam.gserviceaccount.com}}}"
    told = helm("install", "three", *to, render.values(f"cloudProvider: gce\n{account}"))
    assert "must let serviceAccount:PROJECT.svc.id.goog[kube-system/three-nodewright] act as it (roles/iam.w" in told


def test_a_network_policy_lets_through_what_the_process_needs(render) -> None:
    values = """
    config: {providers: [fake], server: {address: ":9000"}}
    networkPolicy: {enabled: true, from: [{namespaceSelector: {}}], egress: [{ports: [{port: 3128}]}]}
    """
    spec = only(render(values), "NetworkPolicy")["spec"]
    assert spec["ingress"] == [{"ports": [{"port": 9000}], "from": [{"namespaceSelector": {}}]}]
    ports = {port["port"] for rule in spec["egress"] for port in rule["ports"]}
    assert ports == {53, 80, 443, 988, 6443, 3128}
    assert "NetworkPolicy" not in {each["kind"] for each in render()}
