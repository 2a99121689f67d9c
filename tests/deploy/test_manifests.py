"""``nodewright manifests`` prints what the chart installs."""

import shutil
import subprocess

import pytest
import yaml
from nodewright import __version__
from nodewright.cli.main import main
from nodewright.testing.clock import FastClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.deploy.conftest import CHART, ROOT, container, helm, only
from tests.end_to_end.scenarios import a_group, a_scenario

HEADER = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\n"
PLAIN = HEADER + "providers: [fake] # a world in a box\n"


@pytest.fixture
def printed(tmp_path, capsys):
    """Prints manifests for a configuration."""

    def manifests(config=PLAIN, *words):
        file = tmp_path / "nodewright.yaml"
        file.write_text(config)
        assert main(["manifests", "--config", str(file), *words]) == 0
        return list(yaml.safe_load_all(capsys.readouterr().out))

    return manifests


def comparable(objects):
    """Objects by kind and name, with the configuration as what it says."""
    for each in objects:
        for name, text in each.get("data", {}).items():
            each["data"][name] = yaml.safe_load(text)
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def test_what_is_packaged_is_what_the_chart_renders() -> None:
    rendered = helm(
        *("template", "nodewright", CHART, "--namespace", "kube-system"),
        *("--values", ROOT / "deploy/manifests.values.yaml"),
    )
    packaged = (ROOT / "core/src/nodewright/cli/manifests.yaml").read_text()
    assert packaged == rendered, "run make manifests"


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == chart["version"] == __version__


@pytest.mark.parametrize(
    "settings",
    [
        "",
        "limits: {capacityQuotas: true}",
        "leaderElection: {enabled: false}",
        "leaderElection: {resourceName: mine}\nserver: {address: '127.0.0.1:9000'}",
        "status: {write: false}",
        "status: {name: told}",
    ],
)
def test_they_are_the_objects_of_the_chart_with_the_same_configuration(render, printed, tmp_path, settings) -> None:
    objects = printed(PLAIN + settings)
    assert comparable(objects) == comparable(render("", "--set-file", f"config={tmp_path}/nodewright.yaml"))


def test_what_may_differ_is_the_same_in_the_chart(render, printed) -> None:
    values = {
        "config": yaml.safe_load(PLAIN),
        "image": {"repository": "registry.example/nodewright", "tag": "v9"},
        "replicaCount": 3,
        "serviceMonitor": {"enabled": True, "namespace": "prometheus"},
        "prometheusRule": {"enabled": True, "namespace": "prometheus"},
        "dashboards": {"enabled": True},
    }
    words = ["--namespace", "autoscaling", "--image", "registry.example/nodewright:v9", "--replicas", "3"]
    objects = printed(PLAIN, *words, "--monitoring", "prometheus")
    assert only(objects, "Deployment")["metadata"]["namespace"] == "autoscaling"
    assert container(objects)["args"][-1] == "--namespace=autoscaling"
    assert comparable(objects) == comparable(render(yaml.safe_dump(values), namespace="autoscaling"))


def test_the_file_is_kept_as_it_was_written(printed) -> None:
    assert only(printed(PLAIN), "ConfigMap")["data"]["nodewright.yaml"] == PLAIN


def test_a_configuration_with_mistakes_is_refused(tmp_path, capsys) -> None:
    file = tmp_path / "nodewright.yaml"
    file.write_text(HEADER + "scaleUpp: {}\n")
    assert main(["manifests", "--config", str(file)]) == 2
    assert "did you mean scaleUp" in capsys.readouterr().err


def test_it_runs_where_the_configuration_says(printed) -> None:
    objects = printed(PLAIN + "namespace: autoscaling\n")
    assert {each["metadata"].get("namespace", "autoscaling") for each in objects} == {"autoscaling"}
    assert container(objects)["args"][-1] == "--namespace=autoscaling"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--replicas", "-1"], "write a number of replicas, not '-1'"),
        (["--namespace", "Kube System"], '"Kube System" is not a valid name of a namespace'),
        (["--monitoring", ""], '"" is not a valid name of a namespace'),
        (["--image", "a b"], "write NAME:TAG, not 'a b'"),
    ],
)
def test_words_that_no_cluster_takes_are_refused(tmp_path, capsys, words, told) -> None:
    file = tmp_path / "nodewright.yaml"
    file.write_text(PLAIN)
    with pytest.raises(SystemExit) as ended:
        main(["manifests", "--config", str(file), *words])
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_what_does_not_work_in_the_container_is_told(tmp_path, capsys) -> None:
    file = tmp_path / "nodewright.yaml"
    file.write_text(
        PLAIN + "server: {address: 'localhost:8085'}\nrecord: {path: /records/r}\nkube: {kubeconfig: /root/k}\n"
        "memory: {store: file, path: /memory/m}\n"
    )
    assert main(["manifests", "--config", str(file)]) == 0
    record, memory, address, kubeconfig = capsys.readouterr().err.splitlines()
    assert "record.path: the container can't write to /records/r until you mount" in record
    assert "memory.path: the container can't write to /memory/m" in memory
    assert "server.address: the kubelet's probe and Prometheus can't reach localhost:8085" in address
    assert "kube.kubeconfig: /root/k is not in the container" in kubeconfig


def test_of_a_plain_configuration_nothing_is_told(tmp_path, capsys) -> None:
    file = tmp_path / "nodewright.yaml"
    file.write_text(PLAIN)
    assert main(["manifests", "--config", str(file)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.kubectl
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_an_api_server_takes_them(printed, tmp_path) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(printed(PLAIN)))
    with World(parse_scenario(a_scenario(a_group("pool", max=1))), FastClock()) as world:
        kubectl = ["kubectl", "--kubeconfig", world.kubeconfig, "apply", "--filename", file]
        done = subprocess.run([*kubectl, "--dry-run=server"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("created (server dry run)") == len(printed(PLAIN))
