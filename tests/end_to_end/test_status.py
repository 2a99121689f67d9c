"""The status ConfigMap through a cluster's life, and what kubectl shows."""

import os
import shutil
import subprocess

import pytest
import yaml
from nodewright.api import ApiServerError
from nodewright.decision.memory import Memory
from nodewright.runtime.session import Session

from tests.end_to_end.scenarios import a_group, a_scenario

NAME = "cluster-autoscaler-status"
KUBECTL = shutil.which("kubectl")
NO_SCALE_DOWN = "scaleDown: {enabled: false}"


def config_map(life):
    return life.world.store.find("configmaps", NAME, "kube-system")


def told(life, part="status"):
    return yaml.safe_load(config_map(life)["data"][part])


def scale_up(life):
    (group,) = told(life)["nodeGroups"]
    return group["scaleUp"]


def test_it_follows_a_scale_up_and_is_deleted_at_a_clean_end(begin) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=4))
    assert config_map(life) is None
    life.go_on(10)
    status, began = told(life), scale_up(life)
    assert status["autoscalerStatus"] == "Running"
    assert status["clusterWide"]["scaleUp"]["status"] == began["status"] == "InProgress"
    assert config_map(life)["metadata"]["annotations"] == {
        "cluster-autoscaler.kubernetes.io/last-updated": status["time"]
    }
    life.go_on(10)
    assert scale_up(life)["lastTransitionTime"] == began["lastTransitionTime"]
    assert scale_up(life)["lastProbeTime"] > began["lastProbeTime"]
    life.until(lambda: len(life.pods("Running")) == 4)
    life.go_on(10)
    (group,) = told(life)["nodeGroups"]
    assert (group["scaleUp"]["status"], group["health"]["nodeCounts"]["registered"]["ready"]) == ("NoActivity", 1)
    assert told(life, "nodes")["total"] == 1
    life.end()
    assert config_map(life) is None


def test_the_next_life_begins_with_it_and_knows_since_when_conditions_hold(begin) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=0), NO_SCALE_DOWN)
    life.go_on(10)
    since = told(life)["clusterWide"]["health"]["lastTransitionTime"]
    seen = []

    def note(change):
        if change.object["metadata"]["name"] == NAME:
            seen.append(yaml.safe_load(change.object["data"]["status"])["autoscalerStatus"])

    life.world.store.subscribe(note)
    # The life before is cut short: nothing is deleted.
    life.start_again(Memory.from_json(life.autoscaler.memory.to_json()))
    life.go_on(10)
    assert seen[-1] == "Running"
    assert told(life)["clusterWide"]["health"]["lastTransitionTime"] == since


def test_until_the_first_loop_has_ended_it_is_initializing(begin, monkeypatch) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=0))
    decide = Session.decide
    seen = []

    def look_and_decide(*arguments):
        life.autoscaler.deliver_events()
        seen.append(told(life)["autoscalerStatus"])
        return decide(*arguments)

    monkeypatch.setattr(Session, "decide", look_and_decide)
    life.go_on(20)
    assert seen == ["Initializing", "Running"]


def test_a_loop_that_fails_does_not_freshen_it(begin, monkeypatch) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=0))
    life.go_on(10)
    before = config_map(life)["metadata"]["annotations"]

    def fail(*_):
        raise ApiServerError("the columns are gone")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "observe", fail)
        with pytest.raises(ApiServerError):
            life.go_on(10)
    life.autoscaler.deliver_events()
    assert config_map(life)["metadata"]["annotations"] == before
    life.go_on(10)
    assert config_map(life)["metadata"]["annotations"] != before


def test_where_loops_follow_one_another_at_once_only_a_change_is_written_at_once(begin) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=0))
    life.go_on(10)
    versions = []
    life.checks.append(lambda: versions.append(config_map(life)["metadata"]["resourceVersion"]))
    life.go_on(4, every=1)
    assert len(set(versions)) == 1
    life.scale("web", 4)
    life.go_on(4, every=1)
    assert scale_up(life)["status"] == "InProgress"
    assert len(set(versions)) <= 4


def test_without_the_right_to_write_it_everything_else_goes_on(begin, caplog) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=4))
    life.world.api_server.authorize = lambda request: "no" if "configmaps/" in request.path else None
    life.until(lambda: len(life.pods("Running")) == 4)
    assert config_map(life) is None
    (line,) = [line for line in caplog.messages if "cluster-autoscaler-status" in line]
    assert line.startswith("may not get configmaps: give the service account")


def test_it_is_not_written_if_nobody_wants_it(begin) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=0), "status: {write: false}")
    life.go_on(20)
    assert config_map(life) is None


def test_a_changed_name_moves_it(begin) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=0))
    life.go_on(10)
    # The manifests allow one of the usual name.
    life.world.api_server.authorize = None
    life.configure("status: {name: other}")
    life.go_on(20)
    life.autoscaler.deliver_events()
    names = {each["metadata"]["name"] for each in life.world.store.list("configmaps", "kube-system")}
    assert names & {NAME, "other"} == {"other"}


@pytest.mark.kubectl
@pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed (Debian: kubernetes-client)")
class TestKubectl:
    def describe(self, life, *what):
        environment = {**os.environ, "KUBECONFIG": str(life.world.kubeconfig)}
        done = subprocess.run(
            [KUBECTL, "describe", *what], env=environment, capture_output=True, text=True, timeout=30, check=True
        )
        return " ".join(done.stdout.split())

    def test_describe_shows_what_happened_to_pods_nodes_and_the_autoscaler(self, begin) -> None:
        life = begin(a_scenario(a_group("pool"), replicas=4), "scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}")
        # People may look at more than the autoscaler may.
        life.world.api_server.authorize = None
        life.go_on(10)
        pod = life.pods()[0]["metadata"]["name"]
        assert (
            "Normal TriggeredScaleUp 0s cluster-autoscaler pod triggered scale-up: [{pool 0->1 (max: 20)}]"
            in self.describe(life, "pod", pod).replace("<invalid>", "0s")
        )
        told = self.describe(life, "configmap", NAME, "-n", "kube-system")
        assert "autoscalerStatus: Running" in told
        assert "cluster-autoscaler Scale-up: setting group pool size to 1 instead of 0 (max: 20)" in told
        assert "cluster-autoscaler Scale-up: group pool size set to 1 instead of 0 (max: 20)" in told
        life.until(lambda: len(life.pods("Running")) == 4)
        life.scale("web", 0)
        life.until(lambda: life.marked)
        node = self.describe(life, "node", "pool-1")
        assert "ScaleDown" in node
        assert "cluster-autoscaler marked the node as toBeDeleted/unschedulable" in node
