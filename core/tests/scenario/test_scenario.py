"""Scenarios are read into worlds that can be decided on; what is wrong in one is named."""

from datetime import UTC, datetime, timedelta

import pytest
from nodewright.api import ConfigurationError, Decision, Reason
from nodewright.api.decision import Grow, Shrink
from nodewright.api.verdict import Verdict
from nodewright.decision.decide import decide
from nodewright.decision.memory import ScaleUpRequest
from nodewright.scenario.rehearsal import carry_out
from nodewright.scenario.scenario import read_scenario
from nodewright.testing.worlds import a_policy

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def a_node_object(name="n1", **spec):
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"},
            "capacity": {"cpu": "2", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2029-12-31T00:00:00Z"}],
        },
    }


def a_pod_object(name="web-1", cpu="1"):
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
    }


def a_document(**changes):
    document = {
        "now": "2030-01-01T00:00:00Z",
        "nodeGroups": [{"id": "a", "minSize": 0, "maxSize": 5, "template": a_node_object("template")}],
        "nodes": [a_node_object()],
        "nodeToGroup": {"n1": "a"},
        "pods": [a_pod_object()],
    }
    return document | changes


def problem_of(document):
    with pytest.raises(ConfigurationError) as caught:
        read_scenario(document).world()
    return str(caught.value)


def test_a_scenario_can_be_decided_on() -> None:
    scenario = read_scenario(a_document(pods=[a_pod_object(f"web-{n}", "1500m") for n in range(3)]))
    decision, _, _ = decide(scenario.world(), scenario.memory, a_policy(scenario.settings), scenario.time_of(0))
    assert decision.pods["shop/web-0"].reason is Reason.FITS
    assert (decision.grow[0].group, decision.grow[0].count) == ("a", 2)


def test_controllers_that_a_scenario_does_not_list_are_unknown() -> None:
    named = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 2}}
    controllers = read_scenario(a_document(replicaSets=[named], jobs=[])).world().cluster.controllers
    assert controllers.seen == {"ReplicaSet", "Job"}
    web = controllers.find("ReplicaSet", "shop/web")
    assert web is not None
    assert web.spec.replicas == 2
    assert controllers.find("Job", "shop/web") is None


def test_the_target_is_the_number_of_nodes_unless_it_is_given() -> None:
    (group,) = read_scenario(a_document()).groups
    assert (group.min_size, group.max_size, group.target_size) == (0, 5, 1)
    groups = [{"id": "a", "maxSize": 5, "targetSize": 4}]
    assert read_scenario(a_document(nodeGroups=groups)).groups[0].target_size == 4


def test_every_node_of_a_group_is_one_of_its_machines_even_if_it_does_not_say_which() -> None:
    scenario = read_scenario(a_document())
    assert [node.spec.provider_id for node in scenario.nodes] == [each.id for each in scenario.groups[0].instances]
    scenario = read_scenario(a_document(nodes=[a_node_object(providerID="aws:///i-1")]))
    assert [each.id for each in scenario.groups[0].instances] == ["aws:///i-1"]


def test_keys_that_only_earlier_versions_wrote_are_passed_over() -> None:
    machine = {"id": "aws:///i-1", "createdAt": "2030-01-01T00:00:00Z"}
    group = {"id": "a", "maxSize": 5, "exists": True, "autoprovisioned": False, "instances": [machine]}
    (read,) = read_scenario(a_document(nodeGroups=[group])).groups
    assert [each.id for each in read.instances] == ["aws:///i-1"]


def test_options_are_cluster_autoscalers_flags_in_camel_case() -> None:
    options = {
        "expander": "most-pods,least-waste",
        "scaleDownUnneededTime": "7m",
        "coresTotal": [4, 64],
        "memoryTotalGiB": [1, 2],
        "gpuTotal": [{"type": "t4", "min": 0, "max": 3}],
        "scaleDownEnabled": False,
        "startupTaints": ["a", "b"],
        "skipNodesWithLocalStorage": False,
    }
    settings = read_scenario(a_document(options=options)).settings
    assert [each.name for each in settings.scale_up.expanders] == ["most-pods", "least-waste"]
    assert settings.scale_down.unneeded_time == timedelta(minutes=7)
    assert (settings.limits.cpu.min, settings.limits.cpu.max) == (4000, 64000)
    assert settings.limits.memory.max == 2 * 1024**3
    assert [(each.type, each.max) for each in settings.limits.gpus] == [("t4", 3)]
    assert not settings.scale_down.enabled
    assert settings.templates.startup_taints == ("a", "b")
    assert not settings.scale_down.skip_local_storage


def test_a_groups_own_options_lie_over_those_of_all_groups() -> None:
    groups = [
        {"id": "a", "maxSize": 5, "options": {"scaleDownUnneededTime": "1h", "zeroOrMaxNodeScaling": True}},
        {"id": "b", "maxSize": 5},
    ]
    scenario = read_scenario(a_document(nodeGroups=groups, options={"scaleDownUtilizationThreshold": 0.7}))
    a, b = (group.options for group in scenario.groups)
    assert (a.scale_down_unneeded_time, a.zero_or_max_node_scaling) == (timedelta(hours=1), True)
    assert (b.scale_down_unneeded_time, b.zero_or_max_node_scaling) == (timedelta(minutes=10), False)
    assert a.scale_down_utilization_threshold == b.scale_down_utilization_threshold == 0.7


def test_orders_that_are_under_way_are_remembered() -> None:
    requests = [
        {"group": "a", "increase": 2, "time": "2029-12-31T23:50:00Z"},
        {"group": "a", "increase": 1, "time": "2029-12-31T23:55:00Z"},
    ]
    memory = read_scenario(a_document(scaleUpRequests=requests)).memory
    assert memory.orders.requests == {"a": ScaleUpRequest(at=NOW - timedelta(minutes=5), count=3)}


def test_options_lie_over_settings_and_overrides_over_both() -> None:
    document = a_document(
        settings={"scaleUp": {"optionsPerLoop": 1}, "scaleDown": {"unneededTime": "1m", "utilizationThreshold": 0.1}},
        options={"scaleDownUnneededTime": "2m", "scaleDownUtilizationThreshold": 0.2},
    )
    overrides = {("scaleDown", "utilizationThreshold"): 0.3}
    settings = read_scenario(document, overrides).settings
    assert settings.scale_up.options_per_loop == 1
    assert settings.scale_down.unneeded_time == timedelta(minutes=2)
    assert settings.scale_down.utilization_threshold == 0.3


def test_pods_have_the_prices_that_are_listed_for_what_they_ask() -> None:
    listed = [{"requests": {"cpu": "1"}, "hourlyPrice": 0.5}]
    scenario = read_scenario(a_document(pricing={"cloud": {"currency": "EUR", "pods": listed}}))
    prices, (pod,) = scenario.world().pricing["cloud"], scenario.objects["pods"]
    assert prices.currency == "EUR"
    assert prices.pod_price(pod, NOW, NOW + timedelta(hours=2)) == 1
    (other,) = read_scenario(a_document(pods=[a_pod_object(cpu="2")])).objects["pods"]
    assert prices.pod_price(other, NOW, NOW + timedelta(hours=1)) is None


def test_iterations_are_as_far_apart_as_the_scenario_says() -> None:
    scenario = read_scenario(a_document(iterations=3, advance="4m"))
    assert [scenario.time_of(n) for n in range(scenario.iterations)] == [
        NOW,
        NOW + timedelta(minutes=4),
        NOW + timedelta(minutes=8),
    ]


def test_a_node_with_the_gpu_label_is_judged_by_its_gpus() -> None:
    node = a_node_object()
    node["metadata"]["labels"]["gpu"] = "t4"
    node["status"]["allocatable"]["nvidia.com/gpu"] = "4"
    scenario = read_scenario(a_document(nodes=[node], gpuLabel="gpu"))
    _, _, findings = decide(scenario.world(), scenario.memory, a_policy(scenario.settings), NOW, in_depth=True)
    assert scenario.world().gpus["n1"].type == "t4"
    assert findings.utilization["n1"].gpu == 0


def test_sizes_change_when_a_decision_is_carried_out() -> None:
    world = read_scenario(a_document()).world()
    chosen = Verdict(reason=Reason.CHOSEN)
    decision = Decision(
        at=NOW,
        grow=(Grow(group="a", count=3, from_size=1, verdict=chosen),),
        shrink=(Shrink(group="a", count=1, verdict=chosen),),
    )
    assert carry_out(decision, world).groups[0].target_size == 3


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (a_document(now="2030-01-01T00:00:00"), "scenario: now: Expected `datetime` with a timezone component"),
        (a_document(podz=[]), "scenario: podz: unknown key; did you mean pods?"),
        (
            a_document(options={"scaleDownUneededTime": "1m"}),
            "scenario: options.scaleDownUneededTime: unknown option; did you mean scaleDownUnneededTime?",
        ),
        (
            a_document(options={"scaleDownUnneededTime": "soon"}),
            (
                "scenario: options.scaleDownUnneededTime: write a duration such as 10m or 1h30m (units: h, m, s, ms), "
                'not "soon"'
            ),
        ),
        (
            a_document(nodeGroups=[{"id": "a", "maxSize": 5, "options": {"scaleDownUnreadyTime": 1}}]),
            (
                "scenario: nodeGroups.a.options.scaleDownUnreadyTime: write a duration such as 10m or 1h30m "
                '(units: h, m, s, ms), not "1"'
            ),
        ),
        (
            a_document(nodeGroups=[{"id": "a"}]),
            "scenario: nodeGroups[0] (a).maxSize: Expected `int`, got `null`",
        ),
        (
            a_document(nodes=[{"metadata": {"name": "n1", "labels": {"a": 1}}}]),
            "scenario: nodes[0] (n1): Expected `str`, got `int` - at `$.metadata.labels[...]`",
        ),
        (
            a_document(pods=[a_pod_object(cpu="one")]),
            (
                "scenario: pods (shop/web-1): cpu: 'one' is not a quantity: write a number with an optional suffix, "
                "such as 500m, 2, 1.5Gi"
            ),
        ),
        (
            a_document(nodeToGroup={"n1": "b"}),
            "scenario: nodeToGroup.n1: there is no node group 'b'; allowed: a",
        ),
        (a_document(scaleUpRequests=[1]), "scenario: scaleUpRequests[0]: write a mapping, not int"),
        (a_document(iterations=0), "scenario: iterations: write a number from 1 on, not 0"),
        (a_document(now=None), "scenario: now: Expected `datetime`, got `null`"),
        (a_document(pods={}), "scenario: pods: write a list, not dict"),
        (
            a_document(settings={"scaleUp": {"optionsPerLop": 1}}),
            "scenario: settings.scaleUp.optionsPerLop: unknown setting; did you mean optionsPerLoop?",
        ),
        (
            a_document(nodeGroups=[{"id": "a", "maxSize": 5, "instances": [{"id": "i", "state": "Lost"}]}]),
            "scenario: nodeGroups[0] (a).instances[0].state: Invalid enum value 'Lost'",
        ),
        (
            a_document(nodeGroups=[{"id": "a", "maxSize": 5, "hourlyPrize": 1}]),
            "scenario: nodeGroups[0] (a).hourlyPrize: unknown key; did you mean hourlyPrice?",
        ),
        (a_document(gpus={"n1": "t4"}), "scenario: gpus.n1: write a mapping, not str"),
        (
            a_document(pricing={"cloud": {"pods": [{"requests": {"cpu": "much"}, "hourlyPrice": 1}]}}),
            (
                "scenario: pricing.cloud.pods[0].requests: cpu: 'much' is not a quantity: write a number with an "
                "optional suffix, such as 500m, 2, 1.5Gi"
            ),
        ),
        (
            a_document(memory={"last_scale_up": "yesterday"}),
            "scenario: memory: Invalid RFC3339 encoded datetime - at `$.cooldown.cluster.grown`",
        ),
        (a_document(priorityConfig={"10": ["a"]}), "scenario: priorityConfig: Expected `str`, got `object`"),
    ],
)
def test_what_is_wrong_is_named(document, problem) -> None:
    assert problem_of(document) == problem


def test_an_option_that_is_null_is_not_set() -> None:
    scenario = read_scenario(a_document(options={"startupTaints": None, "maxNodesTotal": None}))
    assert scenario.settings == read_scenario(a_document(options={})).settings


def test_no_time_may_pass_between_iterations() -> None:
    assert read_scenario(a_document(advance=0)).advance == timedelta(0)
