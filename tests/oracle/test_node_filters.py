"""What kube-scheduler's filters say that look at one node and the pods on it."""

import pytest

from .objects import asking, line, node, pod
from .oracle import Oracle

CORDONED = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
UNWANTED = "node(s) didn't match Pod's node affinity/selector"
NO_PORTS = "node(s) didn't have free ports for the requested pod ports"


def reasons(pod, node, *running, **objects):
    """Why *pod* may not run on *node*: nothing if it may."""
    refusal = Oracle([node], running, **objects).refusal(pod, node.name)
    return () if refusal is None else refusal.reasons


def port(number, **fields):
    return {"name": "main", "ports": [{"hostPort": number, **fields}]}


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], (CORDONED,)),
        ([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}], ()),
        ([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"}], (CORDONED,)),
        ([{"operator": "Exists"}], ()),
    ],
)
def test_a_cordoned_node_takes_only_pods_that_tolerate_it(tolerations, expected) -> None:
    assert reasons(pod(tolerations=tolerations), node(unschedulable=True)) == expected


def test_a_pod_that_names_its_node_goes_to_no_other() -> None:
    assert reasons(pod(on="n"), node("n")) == ()
    assert reasons(pod(on="other"), node("n")) == ("node(s) didn't match the requested node name",)


@pytest.mark.parametrize(
    ("taint", "toleration", "expected"),
    [
        ({"key": "k", "value": "v"}, {"key": "k", "value": "v"}, ()),
        ({"key": "k", "value": "v"}, {"key": "k", "value": "w"}, (TAINTED,)),
        ({"key": "k", "value": "v"}, {"key": "k", "operator": "Exists"}, ()),
        ({"key": "k", "value": "v"}, {"key": "other", "operator": "Exists"}, (TAINTED,)),
        ({"key": "k", "value": "v"}, {"operator": "Exists"}, ()),
        ({"key": "k", "value": "v"}, {"key": "k", "value": "v", "effect": "NoSchedule"}, ()),
        ({"key": "k", "value": "v"}, {"key": "k", "value": "v", "effect": "NoExecute"}, (TAINTED,)),
        ({"key": "k", "effect": "NoExecute"}, {"key": "k"}, ()),
        ({"key": "k", "effect": "NoExecute"}, {"key": "k", "effect": "NoSchedule"}, (TAINTED,)),
        ({"key": "k", "effect": "PreferNoSchedule"}, {"key": "other"}, ()),
    ],
)
def test_a_hard_taint_must_be_tolerated_by_key_value_and_effect(taint, toleration, expected) -> None:
    tainted = node(taints=[{"effect": "NoSchedule", **taint}])
    assert reasons(pod(tolerations=[toleration]), tainted) == expected


def test_each_of_several_taints_must_be_tolerated() -> None:
    tainted = node(taints=[{"key": "a"}, {"key": "b"}])
    assert reasons(pod(tolerations=[{"key": "a"}]), tainted) == (TAINTED,)
    assert reasons(pod(tolerations=[{"key": "a"}, {"key": "b"}]), tainted) == ()


@pytest.mark.parametrize(
    ("operator", "values", "matches"),
    [
        ("In", ["5", "6"], True),
        ("In", ["6"], False),
        ("NotIn", ["6"], True),
        ("NotIn", ["5"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Gt", ["4"], True),
        ("Gt", ["5"], False),
        ("Gt", ["x"], False),
        ("Lt", ["10"], True),
        ("Lt", ["5"], False),
    ],
)
def test_node_affinity_understands_every_operator(operator, values, matches) -> None:
    wants = affinity({"matchExpressions": [line("gen", operator, *values)]})
    assert reasons(pod(affinity=wants), node(labels={"gen": "5"})) == (() if matches else (UNWANTED,))


@pytest.mark.parametrize(
    ("operator", "values", "matches"),
    [
        ("In", ["5"], False),
        ("NotIn", ["5"], True),
        ("Exists", [], False),
        ("DoesNotExist", [], True),
        ("Gt", ["0"], False),
        ("Lt", ["9"], False),
    ],
)
def test_a_label_that_is_missing_satisfies_only_the_negative_operators(operator, values, matches) -> None:
    wants = affinity({"matchExpressions": [line("gen", operator, *values)]})
    assert reasons(pod(affinity=wants), node()) == (() if matches else (UNWANTED,))


@pytest.mark.parametrize("value", ["1_0", "x", "", " 7"])
def test_what_is_no_integer_is_not_compared(value) -> None:
    wants = affinity({"matchExpressions": [line("gen", "Gt", "1")]})
    assert reasons(pod(affinity=wants), node(labels={"gen": value})) == (UNWANTED,)


def affinity(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([], (UNWANTED,)),
        ([{}], (UNWANTED,)),
        ([{"matchExpressions": [line("a", "Exists"), line("b", "Exists")]}], (UNWANTED,)),
        ([{"matchExpressions": [line("b", "Exists")]}, {"matchExpressions": [line("a", "Exists")]}], ()),
        ([{"matchFields": [line("metadata.name", "In", "n")]}], ()),
        ([{"matchFields": [line("metadata.name", "In", "m")]}], (UNWANTED,)),
        ([{"matchFields": [line("metadata.name", "NotIn", "n")]}], (UNWANTED,)),
        ([{"matchFields": [line("metadata.name", "In", "n")], "matchExpressions": [line("b", "Exists")]}], (UNWANTED,)),
    ],
)
def test_one_term_of_node_affinity_must_hold_in_all_its_lines(terms, expected) -> None:
    assert reasons(pod(affinity=affinity(*terms)), node("n", labels={"a": "1"})) == expected


def test_node_selector_and_node_affinity_must_both_hold() -> None:
    wants = affinity({"matchExpressions": [line("a", "Exists")]})
    both = pod(affinity=wants, nodeSelector={"disk": "ssd"})
    assert reasons(both, node(labels={"a": "1", "disk": "ssd"})) == ()
    assert reasons(both, node(labels={"a": "1", "disk": "hdd"})) == (UNWANTED,)
    assert reasons(both, node(labels={"disk": "ssd"})) == (UNWANTED,)


@pytest.mark.parametrize(
    ("wanted", "taken", "free"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80), port(80, protocol="UDP"), True),
        (port(80, hostIP="10.0.0.1"), port(80, hostIP="10.0.0.1"), False),
        (port(80, hostIP="10.0.0.1"), port(80, hostIP="10.0.0.2"), True),
        (port(80, hostIP="10.0.0.1"), port(80), False),
        (port(80), port(80, hostIP="10.0.0.1"), False),
        (port(80, hostIP="0.0.0.0"), port(80, hostIP="10.0.0.1"), False),
        (port(0), port(0), True),
    ],
)
def test_a_host_port_is_taken_per_protocol_and_address(wanted, taken, free) -> None:
    running = pod("r", on="n", containers=[taken])
    assert reasons(pod(containers=[wanted]), node("n"), running) == (() if free else (NO_PORTS,))


def test_sidecars_hold_their_ports_and_plain_init_containers_do_not() -> None:
    sidecar, init = {**port(80), "restartPolicy": "Always"}, port(80)
    wants = pod(containers=[port(80)])
    assert reasons(wants, node("n"), pod("r", on="n", initContainers=[sidecar])) == (NO_PORTS,)
    assert reasons(wants, node("n"), pod("r", on="n", initContainers=[init])) == ()
    assert reasons(pod(initContainers=[sidecar]), node("n"), pod("r", on="n", containers=[port(80)])) == (NO_PORTS,)


def test_every_resource_that_is_short_is_named_pods_first_and_others_by_name() -> None:
    small = node(allocatable={"cpu": "1", "memory": "1Gi", "pods": 0, "ephemeral-storage": "1Gi", "a.example/x": 1})
    amounts = {"z.example/y": 1, "a.example/x": 2, "ephemeral-storage": "2Gi", "memory": "2Gi", "cpu": "1001m"}
    greedy = pod(containers=asking(**amounts))
    assert reasons(greedy, small) == (
        "Too many pods",
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient ephemeral-storage",
        "Insufficient a.example/x",
        "Insufficient z.example/y",
    )


def test_what_runs_already_counts_and_an_exact_fit_fits() -> None:
    running = pod("r", on="n", containers=asking(cpu="3"))
    assert reasons(pod(containers=asking(cpu="1")), node("n"), running) == ()
    assert reasons(pod(containers=asking(cpu="1001m")), node("n"), running) == ("Insufficient cpu",)


def test_an_overdrawn_resource_matters_only_to_pods_that_ask_for_it() -> None:
    running = pod("r", on="n", containers=asking(cpu="9"))
    assert reasons(pod(containers=asking(memory="1Gi", cpu="0")), node("n"), running) == ()
    assert reasons(pod(containers=asking(cpu="1m")), node("n"), running) == ("Insufficient cpu",)


def test_a_pod_that_is_ending_holds_its_room_and_one_that_has_ended_does_not() -> None:
    full = node("n", allocatable={"pods": 1})
    ending = pod("r", on="n", metadata={"deletionTimestamp": "2030-01-01T00:00:00Z"})
    assert reasons(pod(), full, ending) == ("Too many pods",)
    assert reasons(pod(), full, pod("r", on="n", phase="Succeeded")) == ()
    assert reasons(pod(), full, pod("r", on="n", phase="Failed")) == ()
