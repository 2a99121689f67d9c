"""Each filter of the embedded scheduler, by the verdict on every node of a small scene."""

import pytest
from nodewright_fake.controllers.scheduling.cache import Placement, SchedulerCache
from nodewright_fake.controllers.scheduling.filters import InterPodAffinity, TopologySpread, refusals
from nodewright_fake.controllers.scheduling.pod_shape import PodShapes

UNSELECTED = ("node(s) didn't match Pod's node affinity/selector",)
TAINTED = ("node(s) had untolerated taint(s)",)
NO_PORT = ("node(s) didn't have free ports for the requested pod ports",)
UNEVEN = ("node(s) didn't match pod topology spread constraints",)
UNLABELLED = ("node(s) didn't match pod topology spread constraints (missing required label)",)
NOT_NEAR = ("node(s) didn't match pod affinity rules",)
TOO_NEAR = ("node(s) didn't match pod anti-affinity rules",)
UNWELCOME = ("node(s) didn't satisfy existing pods anti-affinity rules",)


def node(name, *, taints=(), unschedulable=False, allocatable=None, **labels):
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {"taints": list(taints), "unschedulable": unschedulable},
        "status": {"allocatable": allocatable or {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }


def pod(*, labels=None, namespace="default", requests=None, containers=None, leaving=False, **spec):
    containers = containers or [{"resources": {"requests": requests or {}}}]
    metadata = {"name": "p", "namespace": namespace, "uid": "u", "labels": labels or {}}
    if leaving:
        metadata["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


def verdicts(nodes, candidate, on=(), namespaces=None):
    """The refusals of each node for *candidate*, with pods already *on* nodes as (node name, pod)."""
    cluster, shapes = SchedulerCache(), PodShapes()
    for each in nodes:
        cluster.set_node(each)
    for name, labels in (namespaces or {}).items():
        cluster.set_namespace(name, labels)
    for number, (name, each) in enumerate(on):
        leaving = "deletionTimestamp" in each["metadata"]
        cluster.place(("", str(number), ""), Placement(name, shapes.of(each), leaving))
    shape = shapes.of(candidate)
    spread, neighbours = TopologySpread(shape, cluster), InterPodAffinity(shape, cluster)
    return {
        name: refusals(shape.needs, state) or spread.refusals(state) or neighbours.refusals(state)
        for name, state in cluster.nodes.items()
    }


def test_a_node_that_offers_the_same_as_before_is_no_change() -> None:
    cluster = SchedulerCache()
    assert cluster.set_node(node("n"))
    assert not cluster.set_node({**node("n"), "status": {**node("n")["status"], "conditions": []}})
    assert cluster.set_node(node("n", zone="a"))


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


@pytest.mark.parametrize(
    ("tolerations", "admitted"),
    [
        ([], set()),
        ([{"key": "gpu", "operator": "Exists"}], {"exists"}),
        ([{"key": "gpu", "operator": "Equal", "value": "a100"}], {"exists"}),
        ([{"key": "gpu", "value": "a100", "effect": "NoSchedule"}], {"exists"}),
        ([{"key": "gpu", "value": "h100"}], set()),
        ([{"key": "gpu", "value": "a100", "effect": "NoExecute"}], set()),
        ([{"operator": "Exists"}], {"exists", "execute"}),
        ([{"operator": "Exists", "effect": "NoExecute"}], {"execute"}),
    ],
)
def test_taints_keep_off_the_pods_that_do_not_tolerate_them(tolerations, admitted) -> None:
    nodes = [
        node("exists", taints=[taint("gpu", "a100")]),
        node("execute", taints=[taint("down", effect="NoExecute")]),
        node("soft", taints=[taint("old", effect="PreferNoSchedule")]),
    ]
    found = verdicts(nodes, pod(tolerations=tolerations))
    assert {name for name, refused in found.items() if not refused} == admitted | {"soft"}
    assert all(refused in ((), TAINTED) for refused in found.values())


def test_a_cordoned_node_takes_only_pods_that_tolerate_being_unschedulable() -> None:
    nodes = [node("n", unschedulable=True)]
    tolerant = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    assert verdicts(nodes, pod()) == {"n": ("node(s) were unschedulable",)}
    assert verdicts(nodes, pod(tolerations=[tolerant])) == {"n": ()}


@pytest.mark.parametrize(
    ("expression", "admitted"),
    [
        (("disk", "In", ["ssd", "nvme"]), {"a"}),
        (("disk", "NotIn", ["ssd"]), {"b", "c"}),
        (("disk", "Exists", []), {"a", "b"}),
        (("disk", "DoesNotExist", []), {"c"}),
        (("gen", "Gt", ["2"]), {"b"}),
        (("gen", "Lt", ["3"]), {"a"}),
        (("disk", "Gt", ["1"]), set()),
        (("disk", "Near", ["ssd"]), set()),
    ],
)
def test_required_node_affinity_knows_all_operators(expression, admitted) -> None:
    nodes = [node("a", disk="ssd", gen="2"), node("b", disk="hdd", gen="10"), node("c")]
    key, operator, values = expression
    line = {"key": key, "operator": operator, "values": values}
    found = verdicts(nodes, pod(affinity=node_affinity({"matchExpressions": [line]})))
    assert {name for name, refused in found.items() if not refused} == admitted
    assert all(refused in ((), UNSELECTED) for refused in found.values())


def node_affinity(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


@pytest.mark.parametrize(
    ("terms", "selector", "admitted"),
    [
        ([in_a := {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}], {}, {"1", "2"}),
        ([in_a, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["3"]}]}], {}, {"1", "2", "3"}),
        ([{**in_a, "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["1"]}]}], {}, {"2"}),
        ([{**in_a, "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["3"]}]}], {}, set()),
        ([in_a], {"big": "yes"}, {"2"}),
        ([{}], {}, set()),
        ([], {}, set()),
        (None, {"big": "yes"}, {"2"}),
    ],
    ids=["one", "any term", "fields and labels", "contradiction", "with selector", "empty term", "no term", "selector"],
)
def test_any_term_of_node_affinity_and_every_line_of_the_selector_has_to_match(terms, selector, admitted) -> None:
    nodes = [node("1", zone="a"), node("2", zone="a", big="yes"), node("3", zone="b")]
    affinity = {} if terms is None else node_affinity(*terms)
    found = verdicts(nodes, pod(affinity=affinity, nodeSelector=selector))
    assert {name for name, refused in found.items() if not refused} == admitted


def ports(*stated, **spec):
    return pod(containers=[{"ports": list(stated)}], **spec)


@pytest.mark.parametrize(
    ("taken", "wanted", "free"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, False),
        ({"hostPort": 80}, {"hostPort": 81}, True),
        ({"hostPort": 80}, {"containerPort": 80}, True),
        ({"hostPort": 80, "protocol": "UDP"}, {"hostPort": 80}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80, "hostIP": "10.0.0.2"}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80, "hostIP": "10.0.0.1"}, False),
        ({"hostPort": 80, "hostIP": "10.0.0.1"}, {"hostPort": 80}, False),
        ({"hostPort": 80}, {"hostPort": 80, "hostIP": "10.0.0.1"}, False),
        ({"hostPort": 80, "hostIP": "0.0.0.0"}, {"hostPort": 80, "hostIP": ""}, False),
    ],
)
def test_a_host_port_is_given_once_per_address_and_protocol(taken, wanted, free) -> None:
    found = verdicts([node("n")], ports(wanted), on=[("n", ports(taken))])
    assert found == {"n": () if free else NO_PORT}


def test_the_ports_of_the_host_network_and_of_sidecars_are_host_ports() -> None:
    by_network = ports({"containerPort": 80}, hostNetwork=True)
    sidecar = {"restartPolicy": "Always", "ports": [{"hostPort": 80}]}
    assert verdicts([node("n")], ports({"hostPort": 80}), on=[("n", by_network)]) == {"n": NO_PORT}
    assert verdicts([node("n")], ports({"hostPort": 80}), on=[("n", pod(initContainers=[sidecar]))]) == {"n": NO_PORT}
    once = {"ports": [{"hostPort": 80}]}
    assert verdicts([node("n")], ports({"hostPort": 80}), on=[("n", pod(initContainers=[once]))]) == {"n": ()}


def asks(restart=None, **requests):
    return {"resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [asks(cpu="1"), asks(cpu="500m")]}, 1500),
        ({"containers": [asks(cpu="1")], "initContainers": [asks(cpu="3")]}, 3000),
        ({"containers": [asks(cpu="2")], "initContainers": [asks(cpu="1"), asks(cpu="1")]}, 2000),
        ({"containers": [asks(cpu="1")], "initContainers": [asks("Always", cpu="1")]}, 2000),
        ({"containers": [asks(cpu="1")], "initContainers": [asks("Always", cpu="1"), asks(cpu="2")]}, 3000),
        ({"containers": [asks(cpu="1")], "initContainers": [asks(cpu="2"), asks("Always", cpu="1")]}, 2000),
        ({"containers": [asks(cpu="1")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [asks(cpu="1")], "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "1"}}, 4000),
    ],
    ids=["sum", "init peak", "init below", "sidecar", "init beside sidecar", "init before", "overhead", "whole pod"],
)
def test_a_pod_asks_for_the_peak_of_its_life(spec, cpu) -> None:
    assert PodShapes().of(pod(**spec)).needs.requests == {"cpu": cpu}


@pytest.mark.parametrize(
    ("requests", "refused"),
    [
        ({"cpu": "1", "memory": "1Gi"}, ()),
        ({"cpu": "1001m"}, ("Insufficient cpu",)),
        ({"cpu": "2", "memory": "5Gi"}, ("Insufficient cpu", "Insufficient memory")),
        ({"example.com/gpu": 1}, ("Insufficient example.com/gpu",)),
        ({"example.com/gpu": 0}, ()),
        ({"ephemeral-storage": "10Gi"}, ()),
        ({"ephemeral-storage": "11Gi"}, ("Insufficient ephemeral-storage",)),
    ],
)
def test_what_is_free_has_to_suffice_in_every_resource(requests, refused) -> None:
    room = {"cpu": "4", "memory": "8Gi", "pods": "10", "ephemeral-storage": "10Gi"}
    running = pod(requests={"cpu": "3", "memory": "4Gi"})
    assert verdicts([node("n", allocatable=room)], pod(requests=requests), on=[("n", running)]) == {"n": refused}


def test_a_node_takes_only_so_many_pods() -> None:
    small = node("n", allocatable={"cpu": "4", "pods": "2"})
    assert verdicts([small], pod(), on=[("n", pod())]) == {"n": ()}
    assert verdicts([small], pod(), on=[("n", pod()), ("n", pod())]) == {"n": ("Too many pods",)}
    assert verdicts([small], pod(requests={"cpu": "8"}), on=[("n", pod()), ("n", pod())]) == {
        "n": ("Too many pods", "Insufficient cpu")
    }


WEB = {"app": "web"}
BY_WEB = {"matchLabels": WEB}


def spread(key="zone", skew=1, **more):
    constraint = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": BY_WEB}
    return {"topologySpreadConstraints": [{**constraint, **more}]}


ZONES = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("c1", zone="c")]


def web(**more):
    return pod(labels=WEB, **more)


@pytest.mark.parametrize(
    ("constraint", "on", "refused"),
    [
        (spread(), [], set()),
        (spread(), ["a1"], {"a1", "a2"}),
        (spread(), ["a1", "b1"], {"a1", "a2", "b1"}),
        (spread(), ["a1", "b1", "c1"], set()),
        (spread(skew=2), ["a1", "a2"], {"a1", "a2"}),
        (spread(skew=2), ["a1"], set()),
        (spread(whenUnsatisfiable="ScheduleAnyway"), ["a1"], set()),
        (spread("kubernetes.io/hostname"), ["a1"], {"a1"}),
        (spread(minDomains=3), ["a1", "b1", "c1"], set()),
        (spread(minDomains=4), ["a1", "b1", "c1"], {"a1", "a2", "b1", "c1"}),
        (spread(minDomains=4), [], set()),
        (spread(labelSelector=None), ["a1"], set()),
        (spread(labelSelector={}), ["a1"], set()),
        (spread(labelSelector={"matchLabels": {"app": "db"}}), ["a1"], set()),
    ],
)
def test_spread_lets_no_domain_get_ahead_of_the_emptiest_by_more_than_the_skew(constraint, on, refused) -> None:
    found = verdicts(ZONES, web(**constraint), on=[(name, web()) for name in on])
    assert {name for name, why in found.items() if why == UNEVEN} == refused
    assert all(why in ((), UNEVEN) for why in found.values())


def test_spread_counts_only_staying_pods_of_the_same_namespace() -> None:
    on = [("a1", web(leaving=True)), ("a2", web(namespace="other")), ("b1", pod())]
    assert set(verdicts(ZONES, web(**spread()), on=on).values()) == {()}


def test_spread_refuses_nodes_without_the_topology_and_leaves_out_their_pods() -> None:
    nodes = [node("bare"), node("a1", zone="a"), node("b1", zone="b")]
    on = [("bare", web()), ("bare", web()), ("a1", web())]
    assert verdicts(nodes, web(**spread()), on=on) == {"bare": UNLABELLED, "a1": UNEVEN, "b1": ()}


def test_two_spread_constraints_both_have_to_hold() -> None:
    both = {
        "topologySpreadConstraints": [
            *spread()["topologySpreadConstraints"],
            *spread("kubernetes.io/hostname")["topologySpreadConstraints"],
        ]
    }
    on = [(name, web()) for name in ("a1", "b1", "c1")]
    assert verdicts(ZONES, web(**both), on=on) == {"a1": UNEVEN, "a2": (), "b1": UNEVEN, "c1": UNEVEN}


@pytest.mark.parametrize(
    ("policy", "refused"),
    [({}, set()), ({"nodeAffinityPolicy": "Honor"}, set()), ({"nodeAffinityPolicy": "Ignore"}, {"a1", "b1"})],
)
def test_zones_that_the_pod_cannot_go_to_count_in_its_spread_only_if_affinity_is_ignored(policy, refused) -> None:
    nodes = [node("a1", zone="a", pool="x"), node("b1", zone="b", pool="x"), node("c1", zone="c")]
    on = [("a1", web()), ("b1", web())]
    found = verdicts(nodes, web(nodeSelector={"pool": "x"}, **spread(**policy)), on=on)
    assert {name for name, why in found.items() if why == UNEVEN} == refused
    assert found["c1"] == UNSELECTED


@pytest.mark.parametrize(
    ("policy", "refused"),
    [({}, {"a1", "b1"}), ({"nodeTaintsPolicy": "Ignore"}, {"a1", "b1"}), ({"nodeTaintsPolicy": "Honor"}, set())],
)
def test_tainted_zones_count_in_the_spread_unless_taints_are_honoured(policy, refused) -> None:
    nodes = [node("a1", zone="a"), node("b1", zone="b"), node("c1", zone="c", taints=[taint("own")])]
    on = [("a1", web()), ("b1", web())]
    found = verdicts(nodes, web(**spread(**policy)), on=on)
    assert {name for name, why in found.items() if why == UNEVEN} == refused
    assert found["c1"] == TAINTED


def test_match_label_keys_spread_each_revision_by_itself() -> None:
    old, new = {**WEB, "rev": "1"}, {**WEB, "rev": "2"}
    on = [("a1", pod(labels=old)), ("a2", pod(labels=old)), ("b1", pod(labels=new))]
    found = verdicts(ZONES, pod(labels=new, **spread(matchLabelKeys=["rev", "absent"])), on=on)
    assert found == {"a1": (), "a2": (), "b1": UNEVEN, "c1": ()}


def near(key="zone", selector=BY_WEB, **more):
    return {"affinity": {"podAffinity": required({"topologyKey": key, "labelSelector": selector, **more})}}


def far(key="zone", selector=BY_WEB, **more):
    return {"affinity": {"podAntiAffinity": required({"topologyKey": key, "labelSelector": selector, **more})}}


def required(*terms):
    return {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}


DB = {"matchLabels": {"app": "db"}}


@pytest.mark.parametrize(
    ("terms", "on", "admitted"),
    [
        (near(), ["a1"], {"a1", "a2"}),
        (near("kubernetes.io/hostname"), ["a1"], {"a1"}),
        (near(), [], {"a1", "a2", "b1", "c1"}),
        (near(selector=DB), [], set()),
        (near(selector=None), [], set()),
        (near(selector={}), [], {"a1", "a2", "b1", "c1"}),
        (near("rack"), [], set()),
    ],
    ids=["zone", "host", "first of its kind", "nobody there", "no selector", "empty selector", "no such topology"],
)
def test_affinity_admits_the_domains_of_matching_pods_and_the_first_of_a_group_anywhere(terms, on, admitted) -> None:
    found = verdicts(ZONES, web(**terms), on=[(name, web()) for name in on])
    assert {name for name, why in found.items() if not why} == admitted
    assert all(why in ((), NOT_NEAR) for why in found.values())


def test_affinity_looks_for_pods_that_match_all_terms_at_once() -> None:
    terms = {
        "affinity": {
            "podAffinity": required(
                {"topologyKey": "zone", "labelSelector": BY_WEB},
                {"topologyKey": "zone", "labelSelector": {"matchLabels": {"tier": "front"}}},
            )
        }
    }
    on = [("a1", web()), ("a1", pod(labels={"tier": "front"})), ("b1", pod(labels={**WEB, "tier": "front"}))]
    found = verdicts(ZONES, pod(**terms), on=on)
    assert {name for name, why in found.items() if not why} == {"b1"}


def test_a_leaving_pod_still_attracts_and_repels() -> None:
    assert verdicts(ZONES, pod(**near()), on=[("b1", web(leaving=True))])["b1"] == ()
    assert verdicts(ZONES, pod(**far()), on=[("b1", web(leaving=True))])["b1"] == TOO_NEAR


@pytest.mark.parametrize(
    ("terms", "refused"),
    [
        (far(), {"a1", "a2"}),
        (far("kubernetes.io/hostname"), {"a1"}),
        (far("rack"), set()),
        (far(selector=DB), set()),
        (far(namespaces=["other"]), set()),
        (far(namespaces=["default", "other"]), {"a1", "a2"}),
        (far(namespaceSelector={}), {"a1", "a2"}),
        (far(namespaceSelector={"matchLabels": {"team": "x"}}), {"a1", "a2"}),
        (far(namespaceSelector={"matchLabels": {"team": "y"}}), set()),
        (far(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "default"}}), {"a1", "a2"}),
        (far(matchLabelKeys=["rev"]), set()),
        (far(mismatchLabelKeys=["rev"]), {"a1", "a2"}),
    ],
)
def test_anti_affinity_refuses_the_domains_of_matching_pods(terms, refused) -> None:
    on = [("a1", pod(labels={**WEB, "rev": "1"}))]
    candidate = pod(labels={**WEB, "rev": "2"}, **terms)
    found = verdicts(ZONES, candidate, on=on, namespaces={"default": {"team": "x"}})
    assert {name for name, why in found.items() if why == TOO_NEAR} == refused
    assert all(why in ((), TOO_NEAR) for why in found.values())


def test_a_pod_without_terms_is_kept_off_by_the_anti_affinity_of_others() -> None:
    on = [("a1", pod(labels={"app": "db"}, **far()))]
    assert verdicts(ZONES, web(), on=on) == {"a1": UNWELCOME, "a2": UNWELCOME, "b1": (), "c1": ()}
    assert set(verdicts(ZONES, pod(labels={"app": "db"}), on=on).values()) == {()}


def test_the_anti_affinity_of_others_means_their_namespaces_not_the_pods_own() -> None:
    on = [("a1", pod(namespace="other", **far())), ("b1", pod(namespace="other", **far(namespaces=["default"])))]
    assert verdicts(ZONES, web(), on=on) == {"a1": (), "a2": (), "b1": UNWELCOME, "c1": ()}
