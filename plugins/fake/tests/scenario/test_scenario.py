"""What scenarios say."""

from datetime import UTC, datetime
from importlib import resources

import pytest
from nodewright_fake.duration import Span, parse_duration, parse_span
from nodewright_fake.scenario import parse_scenario

CLOUD = """\
zones: [eu-a]
instanceTypes: {c5.large: {cpu: 2, memory: 4Gi, reserved: {cpu: 100m, memory: 1Gi}, price: 0.1}}
"""


def only(items):
    [item] = items
    return item


def test_the_example_is_right() -> None:
    text = (resources.files("nodewright_fake.scenario") / "example.yaml").read_text()
    assert len(parse_scenario(text).groups) == 5


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("2m", 120), ("1h30m", 5400), ("1d", 86400), ("1.5h", 5400), ("250ms", 0.25), (7, 7), (0.5, 0.5)],
)
def test_durations(text, seconds) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "5 m", "-5s", "m", "5s junk", -1, True, None, float("inf")])
def test_what_is_no_duration(text) -> None:
    with pytest.raises(ValueError, match="is not a duration: write a number with a unit"):
        parse_duration(text)


def test_spans() -> None:
    assert parse_span("30s..1m") == Span(shortest=30, longest=60)
    assert parse_span("30s") == Span(shortest=30, longest=30)


def test_what_is_reserved_is_not_allocatable() -> None:
    shape = parse_scenario(CLOUD).instance_types["c5.large"]
    assert shape.capacity["cpu"] == 2000
    assert shape.allocatable["cpu"] == 1900
    assert shape.allocatable["memory"] == 3 * 1024**3


def test_the_start_may_be_in_any_time_zone() -> None:
    scenario = parse_scenario(CLOUD + "clock: {start: 2030-01-01T08:00:00+02:00, speed: 60}\n")
    assert scenario.clock.start == datetime(2030, 1, 1, 6, tzinfo=UTC)
    assert scenario.clock.make().speed == 60
    assert scenario.clock.make(5).speed == 5


def test_a_deployment_in_short_form() -> None:
    scenario = parse_scenario(
        CLOUD
        + """
workloads:
  deployments:
    - name: shop
      replicas: 3
      cpu: 250m
      requests: {nvidia.com/gpu: 1}
      labels: {tier: front}
      nodeSelector: {disk: ssd}
      tolerations: [{key: spot, operator: Exists}]
      priorityClassName: high
      podSpec: {terminationGracePeriodSeconds: 5}
"""
    )
    assert only(scenario.manifests) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop", "namespace": "default", "labels": {"app": "shop"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "shop"}},
            "template": {
                "metadata": {"labels": {"app": "shop", "tier": "front"}, "annotations": {}},
                "spec": {
                    "restartPolicy": "Always",
                    "containers": [
                        {
                            "name": "main",
                            "image": "example/shop",
                            "resources": {"requests": {"cpu": "250m", "memory": "128Mi", "nvidia.com/gpu": "1"}},
                        }
                    ],
                    "nodeSelector": {"disk": "ssd"},
                    "tolerations": [{"key": "spot", "operator": "Exists"}],
                    "priorityClassName": "high",
                    "terminationGracePeriodSeconds": 5,
                },
            },
        },
    }


def test_daemon_sets_are_critical_and_belong_to_the_system() -> None:
    manifest = only(parse_scenario(CLOUD + "workloads: {daemonSets: [{name: agent}]}\n").manifests)
    assert manifest["metadata"]["namespace"] == "kube-system"
    assert manifest["spec"]["template"]["spec"]["priorityClassName"] == "system-node-critical"


def test_the_pods_of_a_job_end_by_themselves() -> None:
    manifest = only(
        parse_scenario(
            CLOUD + "workloads: {jobs: [{name: report, completions: 4, parallelism: 2, run: 90s}]}\n"
        ).manifests
    )
    assert manifest["spec"]["completions"] == 4
    assert manifest["spec"]["parallelism"] == 2
    assert "selector" not in manifest["spec"]
    template = manifest["spec"]["template"]
    assert template["metadata"]["annotations"] == {"fake.nodewright.dev/run-seconds": "90"}
    assert template["spec"]["restartPolicy"] == "Never"


def test_a_budget_covers_the_pods_of_its_workload() -> None:
    text = CLOUD + "workloads: {budgets: [{for: shop, maxUnavailable: 50%}, {for: api, minAvailable: 2}]}\n"
    first, second = parse_scenario(text).manifests
    assert first["spec"] == {"selector": {"matchLabels": {"app": "shop"}}, "maxUnavailable": "50%"}
    assert second["spec"] == {"selector": {"matchLabels": {"app": "api"}}, "minAvailable": 2}


def test_references_may_mean_what_the_story_applies_later() -> None:
    scenario = parse_scenario(
        CLOUD
        + """
story:
  - at: 1m
    apply: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: late, namespace: team}, spec: {}}]
  - {at: 2m, scale: {deployment: late, namespace: team, replicas: 3}}
"""
    )
    assert [step.at for step in scenario.story] == [60, 120]
