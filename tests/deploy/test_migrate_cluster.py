"""``nodewright migrate --from-cluster`` reads what runs."""

import json
import shutil
import subprocess

import pytest
import yaml
from nodewright.cli.main import main
from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.deploy.conftest import CHART, container, helm, only
from tests.deploy.test_migrate import path_of
from tests.end_to_end.scenarios import a_group, a_scenario

pytestmark = [
    pytest.mark.kubectl,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed"),
]
BY_HELM = {
    "labels": {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/name": "aws-cluster-autoscaler"},
    "annotations": {"meta.helm.sh/release-name": "ca", "meta.helm.sh/release-namespace": "autoscaling"},
}


#: What stands for Cluster Autoscaler's chart: its names, its labels, its selector.
STAND_IN = """
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}-aws-cluster-autoscaler
  labels: &labels
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/name: aws-cluster-autoscaler
    app.kubernetes.io/managed-by: Helm
  annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/ca"}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-aws-cluster-autoscaler
  labels:
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/name: aws-cluster-autoscaler
    app.kubernetes.io/managed-by: Helm
spec:
  selector:
    matchLabels: &selector
      app.kubernetes.io/instance: {{ .Release.Name }}
      app.kubernetes.io/name: aws-cluster-autoscaler
      {{- toYaml .Values.podLabels | nindent 6 }}
  template:
    metadata: {labels: *selector}
    spec:
      serviceAccountName: {{ .Release.Name }}-aws-cluster-autoscaler
      containers:
        - name: aws-cluster-autoscaler
          image: registry.k8s.io/autoscaling/cluster-autoscaler:v1.32.1
          command:
            - ./cluster-autoscaler
            - --cloud-provider=aws
            - --namespace={{ .Release.Namespace }}
            - --node-group-auto-discovery=asg:tag=k8s.io/cluster-autoscaler/{{ .Values.autoDiscovery.clusterName }}
"""
GIVEN = "autoDiscovery: {clusterName: prod}\npodLabels: {team: platform}\n"


@pytest.fixture
def world():
    with World(parse_scenario(a_scenario(a_group("pool", max=1))), FastClock()) as running:
        yield running


@pytest.fixture
def apply(world):
    """Makes objects in the world, with the namespaces that they are in."""

    def made(*objects):
        homes = {each["metadata"].get("namespace") for each in objects} - {None, "kube-system"}
        spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": home}} for home in homes]
        for each in (*spaces, *objects):
            subprocess.run(
                ["kubectl", "--kubeconfig", world.kubeconfig, "apply", "--filename", "-"],
                input=json.dumps(each),
                text=True,
                check=True,
                capture_output=True,
            )

    return made


@pytest.fixture
def migrate(world, capsys):
    """The migration of what runs in the world, as JSON."""

    def migrated(*words):
        assert main(["migrate", "--from-cluster", "--kubeconfig", str(world.kubeconfig), "-o", "json", *words]) == 0
        return json.loads(capsys.readouterr().out)

    return migrated


def objects_of(setup):
    return list(yaml.safe_load_all(path_of(setup).read_text()))


def test_what_runs_gives_the_values_of_its_manifests(apply, migrate, capsys) -> None:
    apply(*objects_of("plain"))
    found = migrate()
    assert main(["migrate", str(path_of("plain")), "-o", "json"]) == 0
    written = json.loads(capsys.readouterr().out)
    # The API server fills in defaults.
    assert found["values"].pop("dnsPolicy", "ClusterFirst") == "ClusterFirst"
    assert found["values"]["extraVolumes"][0]["configMap"].pop("defaultMode", 420) == 420
    assert found == written


def test_a_release_of_helm_is_upgraded_in_its_place(apply, migrate, render) -> None:
    objects = {each["kind"]: each for each in objects_of("plain")}
    for kind in ("ServiceAccount", "Deployment", "ConfigMap"):
        objects[kind]["metadata"] |= BY_HELM
        objects[kind]["metadata"]["namespace"] = "autoscaling"
    apply(*objects.values())
    found = migrate("--namespace", "autoscaling")
    assert (found["release"], found["namespace"]) == ("ca", "autoscaling")
    rendered = render(yaml.safe_dump(found["values"]), release="ca", namespace="autoscaling")
    deployment = only(rendered, "Deployment")
    assert deployment["metadata"]["name"] == "cluster-autoscaler"
    assert deployment["spec"]["selector"]["matchLabels"] == {"app": "cluster-autoscaler"}
    # Helm deletes what the release had and has no more.
    assert only(rendered, "ServiceAccount")["metadata"]["name"] == "cluster-autoscaler"
    assert yaml.safe_load(only(rendered, "ConfigMap", "priority-expander")["data"]["priorities"])[50] == ["spot"]
    assert container(rendered)["name"] == "aws-cluster-autoscaler"


def test_several_are_asked_for_one_at_a_time(apply, world, capsys) -> None:
    apply(*objects_of("plain"), *objects_of("rancher"))
    words = ["migrate", "--from-cluster", "--kubeconfig", str(world.kubeconfig)]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "the Deployment autoscaling/cluster-autoscaler, the Deployment kube-system/cluster-autoscaler" in told
    assert main([*words, "--namespace", "kube-system"]) == 0


def test_a_cluster_without_cluster_autoscaler_is_told(world, capsys) -> None:
    assert main(["migrate", "--from-cluster", "--kubeconfig", str(world.kubeconfig)]) == 2
    assert "nothing in it runs Cluster Autoscaler" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["--from-cluster", "values"])
def test_an_upgrade_changes_objects_in_their_place_and_a_rollback_brings_them_back(
    world, tmp_path, capsys, source
) -> None:
    chart = tmp_path / "cluster-autoscaler"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: cluster-autoscaler\nversion: 9.46.3\n")
    (chart / "templates/all.yaml").write_text(STAND_IN)
    given, values = tmp_path / "given.yaml", tmp_path / "values.yaml"
    given.write_text(GIVEN)
    to = ("--namespace", "kube-system", "--kubeconfig", world.kubeconfig)

    def uids():
        return {
            (each["metadata"]["name"], each["metadata"]["uid"])
            for kind in ("deployments.apps", "serviceaccounts")
            for each in world.store.list(kind)
            if "autoscaler" in each["metadata"]["name"] or "nodewright" in each["metadata"]["name"]
        }

    def image():
        (found,) = (each for each in world.store.list("deployments.apps") if "autoscaler" in each["metadata"]["name"])
        return found["spec"]["template"]["spec"]["containers"][0]["image"]

    helm("install", "ca", chart, "--values", given, *to)
    before = uids()
    words = ["--from-cluster", "--kubeconfig", str(world.kubeconfig), "--namespace", "kube-system"]
    if source == "values":
        words = [str(given), "--release", "ca", "--namespace", "kube-system"]
    assert main(["migrate", *words, "-o", "values", "--image", "registry.example/nodewright:v9"]) == 0
    values.write_text(capsys.readouterr().out)
    helm("upgrade", "ca", CHART, "--values", values, *to)
    assert (uids(), image()) == (before, "registry.example/nodewright:v9")
    helm("rollback", "ca", "1", *to)
    assert (uids(), image()) == (before, "registry.k8s.io/autoscaling/cluster-autoscaler:v1.32.1")
