"""Mistakes in scenarios, word for word."""

from textwrap import dedent

import pytest
from nodewright.api import ConfigurationError
from nodewright_fake.scenario import load_scenario, parse_scenario

CLOUD = """\
zones: [eu-a, eu-b]
instanceTypes: {c5.large: {cpu: 2, memory: 4Gi, price: 0.1}}
groups: [{name: web, zone: eu-a, instanceType: c5.large, max: 9}]
workloads: {deployments: [{name: shop}]}
"""
NO_QUANTITY = "is not a quantity: write a number with an optional suffix, such as 500m, 2, 1.5Gi"
NO_TAINT = (
    "is not a taint: write key=value:Effect or key:Effect with the effect NoSchedule, PreferNoSchedule or NoExecute"
)
ACTIONS = (
    "breakBoots, failApi, hang, heal, healApi, healBoots, liftQuota, limitQuota, pause, reclaim, "
    "reclaimEvery, recover, remake, resize, restore, resume, setPrice, slowApi, stockOut, stop, throttle"
)


def mistakes(text):
    with pytest.raises(ConfigurationError) as refused:
        parse_scenario(dedent(text), source="town.yaml")
    return str(refused.value).splitlines()


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines() -> None:
    assert mistakes(
        """\
        clock: {speed: fast}
        zones: []
        instanceTypes:
          c5.large: {cpu: 2, memory: lots, price: -1}
          c5.xlarge:
            cpu: 4
            memory: 8Gi
            reserved: {cpu: 5}
            price: 1
        groups:
          - name: Web
            zone: eu-c
            instanceType: c5.larg
            min: 3
            max: 1
            bootime: 30s
          - {name: api, instanceType: c5.large, max: 2, taints: [dedicated], bootTime: 60s..30s}
        workloads:
          deployments:
            - {name: shop, replicas: many, cpu: [1]}
          budgets:
            - {for: shop}
        story:
          - {at: soon, note: hello}
        """
    ) == [
        "town.yaml:1: clock.speed: must be a number, not 'fast'",
        "town.yaml:2: zones: must not be empty",
        f"town.yaml:4: instanceTypes.c5.large.memory: 'lots' {NO_QUANTITY}",
        "town.yaml:4: instanceTypes.c5.large.price: must be at least 0, not -1",
        "town.yaml:5: instanceTypes.c5.xlarge: more cpu is reserved than the machine has",
        "town.yaml:11: groups[0].name: 'Web' is not a name: use lower-case letters, digits, '-' and '.'",
        "town.yaml:12: groups[0].zone: there is no zone 'eu-c'; there are none",
        "town.yaml:13: groups[0].instanceType: there is no instance type 'c5.larg'; did you mean 'c5.large'?",
        "town.yaml:16: groups[0].bootime: unknown setting; did you mean 'bootTime'?",
        "town.yaml:17: groups[1].zone: is missing",
        f"town.yaml:17: groups[1].taints[0]: 'dedicated' {NO_TAINT}",
        "town.yaml:17: groups[1].bootTime: '60s..30s' ends before it begins: write the shorter duration first",
        f"town.yaml:20: workloads.deployments[0].cpu: [1] {NO_QUANTITY}",
        "town.yaml:20: workloads.deployments[0].replicas: must be a whole number, not 'many'",
        "town.yaml:22: workloads.budgets[0]: write either minAvailable or maxUnavailable",
        "town.yaml:24: story[0].at: 'soon' is not a duration: write a number with a unit, such as 90s, 2m or 1h30m",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "town.yaml: is not a mapping; `nodewright world scenario` prints an example"),
        ("- a", "town.yaml: is not a mapping; `nodewright world scenario` prints an example"),
        ("zones: [eu-a\ngroups: 1", "town.yaml:2: is not YAML: expected ',' or ']', but got ':'"),
        (CLOUD + "zones: [eu-a]\n", "town.yaml:5: zones: is written twice"),
        (CLOUD + "seed: {}\n", "town.yaml:5: seed: must be a whole number, not {}"),
        (CLOUD + "limits: [cpu]\n", "town.yaml:5: limits: must be a mapping, not a list"),
        (CLOUD + "faults: {heal: {}}\n", "town.yaml:5: faults: must be a list, not a mapping"),
        (CLOUD + "name: 7\n", "town.yaml:5: name: must be text, not 7: put it in quotes"),
        (CLOUD + "clock: {speed: 0}\n", "town.yaml:5: clock.speed: must be above 0, not 0"),
        (
            CLOUD + "clock: {start: 2030-01-01T08:00:00}\n",
            "town.yaml:5: clock.start: has no time zone: write one, as in 2030-01-01T08:00:00Z",
        ),
        (
            CLOUD + "objects: [{kind: Pod}]\n",
            "town.yaml:5: objects[0]: is no Kubernetes object: it has no apiVersion",
        ),
        (
            CLOUD + "objects: [{apiVersion: v1, kind: Pod}]\n",
            "town.yaml:5: objects[0]: is no Kubernetes object: the Pod has no metadata.name",
        ),
        (
            CLOUD + "faults: [{stockOut: {pool: eu-b/*}}]\n",
            "town.yaml:5: faults[0].stockOut.pool: no capacity pool matches 'eu-b/*'; there are: eu-a/c5.large",
        ),
        (
            CLOUD + "faults: [{stockOut: {pool: '*', mode: fial}}]\n",
            "town.yaml:5: faults[0].stockOut.mode: 'fial' is not allowed: write 'fail', 'refuse', 'wait' or 'say'",
        ),
        (
            CLOUD + "faults: [{heal: {}, throttle: {}}]\n",
            "town.yaml:5: faults[0]: one action at a time, not throttle and heal: write them as separate items",
        ),
        (
            CLOUD + "story: [{at: 1m}]\n",
            "town.yaml:5: story[0]: nothing happens in this step: write note, apply, scale, delete or cloud",
        ),
        (
            CLOUD + "story: [{at: 1m, scale: {deployment: shopp, replicas: 1}}]\n",
            "town.yaml:5: story[0].scale: there is no deployment 'default/shopp'; did you mean 'default/shop'?",
        ),
        (
            CLOUD + "story: [{at: 1m, cloud: {resize: {group: wbe, max: 2}}}]\n",
            "town.yaml:5: story[0].cloud.resize.group: there is no group 'wbe'; did you mean 'web'?",
        ),
        (
            CLOUD + "story: [{at: 1m, cloud: {explode: {}}}]\n",
            f"town.yaml:5: story[0].cloud.explode: unknown setting; there are: {ACTIONS}",
        ),
        (
            CLOUD.replace("max: 9}", "max: 9, min: 10}"),
            "town.yaml:3: groups[0]: min 10 is above max 9",
        ),
        (
            CLOUD.replace("max: 9}", "max: 9, desired: 10}"),
            "town.yaml:3: groups[0]: desired 10 is not between min 0 and max 9",
        ),
        (
            CLOUD.replace("max: 9}", "max: 9}, {name: web, zone: eu-b, instanceType: c5.large, max: 1}"),
            "town.yaml:3: groups: two groups are named 'web'",
        ),
    ],
)
def test_a_mistake_tells_what_is_wrong_where_and_what_is_allowed(text, message) -> None:
    assert mistakes(text) == [message]


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere.yaml: can't be read: .*No such file"):
        load_scenario(tmp_path / "nowhere.yaml")
