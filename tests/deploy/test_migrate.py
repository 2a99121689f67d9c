"""Set-ups of Cluster Autoscaler in the wild become values that the chart takes, with one command."""

import json
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from nodewright.cli.main import main
from nodewright.config.document import load
from nodewright.config.flags import parse_flags

from tests.deploy.conftest import CHART, container, only

SETUPS = Path(__file__).parent / "setups"
MANIFESTS = ("eksctl", "plain", "kops", "kops-gce", "gke", "rancher")
RELEASES = ("terraform", "argocd", "flux")
IMAGE = "registry.example/nodewright:v9"


def path_of(setup):
    """The file of a set-up."""
    (found,) = SETUPS.glob(f"{setup}.*")
    return found


def migrated(setup, capsys, *words):
    """The migration of a set-up, as JSON, and the exit status."""
    status = main(["migrate", str(path_of(setup)), "-o", "json", *words])
    return json.loads(capsys.readouterr().out), status


@pytest.fixture
def install(render, capsys):
    """Renders the chart with the printed values of a set-up, as its steps say."""

    def installed(setup):
        data, status = migrated(setup, capsys)
        assert status == 0, data["notes"]
        assert main(["migrate", str(path_of(setup)), "-o", "values", "--image", IMAGE]) == 0
        return render(capsys.readouterr().out, release=data["release"], namespace=data["namespace"])

    return installed


def settings(objects, folder):
    """What the rendered process is told by its file and its flags."""
    name = only(objects, "Deployment")["metadata"]["name"]
    (file,) = (each for each in objects if each["kind"] == "ConfigMap" and each["metadata"]["name"] == name)
    (folder / "nodewright.yaml").write_text(file["data"]["nodewright.yaml"])
    words = [word.replace("/etc/nodewright", str(folder)) for word in container(objects)["args"]]
    flags = parse_flags(words)
    return load(flags.config, flags=flags).settings


@pytest.mark.parametrize("setup", MANIFESTS + RELEASES)
def test_one_command_carries_a_set_up_over_without_a_hand(setup, install, capsys, tmp_path) -> None:
    objects = install(setup)
    for each in objects:
        if each["kind"] != "ServiceMonitor":
            kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)
    assert container(objects)["image"] == IMAGE
    told = load(migrated(setup, capsys)[0]["configuration"]).settings
    assert settings(objects, tmp_path).model_copy(update={"namespace": told.namespace}) == told


@pytest.mark.parametrize("setup", MANIFESTS)
def test_the_pod_of_manifests_is_the_same_but_for_the_process(setup, install) -> None:
    found = [each for each in yaml.safe_load_all(path_of(setup).read_text()) if each["kind"] == "Deployment"]
    before, after = found[0], only(install(setup), "Deployment")
    was, now = before["spec"]["template"]["spec"], after["spec"]["template"]["spec"]
    assert after["metadata"]["namespace"] == before["metadata"]["namespace"]
    assert after["metadata"]["name"] not in before["metadata"]["name"]
    assert after["spec"]["replicas"] == before["spec"]["replicas"]
    for field in (
        *("serviceAccountName", "hostNetwork", "nodeSelector", "tolerations", "affinity"),
        *("topologySpreadConstraints", "imagePullSecrets"),
    ):
        if field in was:
            assert now[field] == was[field], field
    # What is not said is strict here.
    assert now["securityContext"].items() >= was.get("securityContext", {}).items()
    (old,), (new,) = was["containers"], now["containers"]
    assert by_name(new.get("env", [])) == by_name(old.get("env", []))
    assert new.get("envFrom") == old.get("envFrom")
    assert paths(now, new).items() >= paths(was, old).items()
    assert before["spec"]["template"]["metadata"]["labels"]["app"] == "cluster-autoscaler"
    assert after["spec"]["template"]["metadata"]["labels"]["app"] == "cluster-autoscaler"
    assert new["resources"]["requests"] == old["resources"]["requests"]


def by_name(items):
    """Variables by their names."""
    return {each["name"]: each for each in items}


def paths(pod, process):
    """What is mounted where."""
    volumes = {each["name"]: {key: each[key] for key in each if key != "name"} for each in pod.get("volumes", ())}
    return {
        each["mountPath"]: (volumes[each["name"]], each.get("readOnly")) for each in process.get("volumeMounts", ())
    }


@pytest.mark.parametrize(
    ("setup", "name", "selector"),
    [
        ("terraform", "cluster-autoscaler-aws-cluster-autoscaler", {}),
        ("argocd", "ca-aws-cluster-autoscaler", {"team": "platform"}),
        ("flux", "cluster-autoscaler", {}),
    ],
)
def test_a_release_is_upgraded_in_its_place(setup, name, selector, install, capsys) -> None:
    objects = install(setup)
    deployment = only(objects, "Deployment")
    assert deployment["metadata"]["name"] == name
    assert deployment["spec"]["selector"]["matchLabels"] == {
        "app.kubernetes.io/instance": migrated(setup, capsys)[0]["release"],
        "app.kubernetes.io/name": "aws-cluster-autoscaler",
        **selector,
    }


@pytest.mark.parametrize(
    ("setup", "account", "role"),
    [
        ("terraform", "cluster-autoscaler-sa", "arn:aws:iam::111122223333:role/cluster-autoscaler-20260101"),
        ("argocd", "ca-aws-cluster-autoscaler", "arn:aws:iam::1:role/ca"),
        ("flux", "cluster-autoscaler", None),
    ],
)
def test_a_release_keeps_the_account_that_a_role_trusts(setup, account, role, install) -> None:
    objects = install(setup)
    assert only(objects, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"] == account
    made = {
        each["metadata"]["name"]: each["metadata"]["annotations"]["eks.amazonaws.com/role-arn"]
        for each in objects
        if each["kind"] == "ServiceAccount"
    }
    assert made == ({account: role} if role else {})


@pytest.mark.parametrize("setup", MANIFESTS + RELEASES)
def test_limits_are_never_below_what_the_process_needs(setup, install) -> None:
    limits = container(install(setup))["resources"].get("limits", {})
    assert limits.get("cpu") in (None, "250m")
    assert limits.get("memory") in (None, "200Mi", "256Mi", "300Mi", "600Mi", "1Gi")


def test_no_value_of_the_chart_is_taken_for_unknown() -> None:
    from nodewright.migration.chart_values import KNOWN

    assert {*yaml.safe_load((CHART / "values.yaml").read_text()), "global"} == KNOWN
