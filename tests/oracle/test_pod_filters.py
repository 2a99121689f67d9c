"""What PodTopologySpread and InterPodAffinity say."""

import pytest

from .objects import HOSTNAME, ZONE, line, namespace, node, pod
from .oracle import Oracle

SKEWED = "node(s) didn't match pod topology spread constraints"
UNLABELLED = f"{SKEWED} (missing required label)"
LONELY = "node(s) didn't match pod affinity rules"
DISLIKED = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"

A, B = node("a", labels={ZONE: "za"}), node("b", labels={ZONE: "zb"})
WEB = {"matchLabels": {"app": "web"}}
GONE = {"deletionTimestamp": "2030-01-01T00:00:00Z"}


def web(name="p", **fields):
    return pod(name, **{"labels": {"app": "web"}, **fields})


def webs(*names_of_nodes):
    return [web(f"r{number}", on=name) for number, name in enumerate(names_of_nodes)]


def outcome(pod, nodes, running=(), namespaces=()):
    """The reason by node: None where the pod may run."""
    oracle = Oracle(nodes, running, namespaces=namespaces)
    refusals = {each.name: oracle.refusal(pod, each.name) for each in nodes}
    return {name: refusal and " + ".join(refusal.reasons) for name, refusal in refusals.items()}


def spreading(*, key=ZONE, skew=1, selector=WEB, **fields):
    return {
        "topologySpreadConstraints": [
            {
                "topologyKey": key,
                "maxSkew": skew,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector,
                **fields,
            }
        ]
    }


def term(*, key=ZONE, selector=WEB, **fields):
    return {"topologyKey": key, "labelSelector": selector, **fields}


def near(*terms):
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def far(*terms):
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


# spread


@pytest.mark.parametrize(
    ("running", "skew", "a", "b"),
    [
        ("", 1, None, None),
        ("a", 1, SKEWED, None),
        ("aa", 2, SKEWED, None),
        ("a", 2, None, None),
        ("aab", 2, None, None),
        ("aaab", 2, SKEWED, None),
    ],
)
def test_a_domain_may_be_ahead_of_the_emptiest_by_the_skew(running, skew, a, b) -> None:
    assert outcome(web(**spreading(skew=skew)), [A, B], webs(*running)) == {"a": a, "b": b}


def test_a_pod_that_its_own_constraint_does_not_select_adds_nothing() -> None:
    other = pod(labels={"app": "db"}, **spreading())
    assert outcome(other, [A, B], webs("a")) == {"a": None, "b": None}
    assert outcome(other, [A, B], webs("a", "a")) == {"a": SKEWED, "b": None}


def test_soft_constraints_refuse_nothing() -> None:
    soft = web(**spreading(whenUnsatisfiable="ScheduleAnyway"))
    assert outcome(soft, [A, B], webs("a", "a")) == {"a": None, "b": None}


def test_pods_that_are_ending_or_live_in_another_namespace_do_not_count() -> None:
    others = [web("r0", on="a", metadata=GONE), web("r1", on="a", namespace="other")]
    assert outcome(web(**spreading()), [A, B], others) == {"a": None, "b": None}


def test_with_fewer_domains_than_wanted_the_emptiest_counts_as_empty() -> None:
    wants = web(**spreading(minDomains=3))
    assert outcome(wants, [A, B], webs("a", "b")) == {"a": SKEWED, "b": SKEWED}
    assert outcome(wants, [A, B, node("c", labels={ZONE: "zc"})], webs("a", "b", "c"))["a"] is None


def test_a_node_without_the_key_takes_no_pod_and_makes_no_domain() -> None:
    bare = node("bare")
    assert outcome(web(**spreading()), [A, bare], webs("bare", "a")) == {"a": None, "bare": UNLABELLED}


def test_nodes_count_only_if_they_have_the_keys_of_all_constraints() -> None:
    constraints = spreading()["topologySpreadConstraints"] + spreading(key="rack")["topologySpreadConstraints"]
    racked = node("racked", labels={ZONE: "za", "rack": "1"})
    wants = web(topologySpreadConstraints=constraints)
    # In zone za there is a web pod, but its node has no rack; zone zb has no node that counts.
    assert outcome(wants, [A, B, racked], webs("a")) == {"a": UNLABELLED, "b": UNLABELLED, "racked": None}


def test_nodes_that_the_pod_does_not_want_make_no_domain_unless_told() -> None:
    only_a = {"nodeSelector": {ZONE: "za"}}
    assert outcome(web(**only_a, **spreading()), [A, B], webs("a"))["a"] is None
    assert outcome(web(**only_a, **spreading(nodeAffinityPolicy="Ignore")), [A, B], webs("a"))["a"] == SKEWED


def test_tainted_nodes_make_a_domain_unless_told() -> None:
    tainted = node("b", labels={ZONE: "zb"}, taints=[{"key": "k"}])
    assert outcome(web(**spreading()), [A, tainted], webs("a"))["a"] == SKEWED
    assert outcome(web(**spreading(nodeTaintsPolicy="Honor")), [A, tainted], webs("a"))["a"] is None
    tolerant = web(tolerations=[{"key": "k"}], **spreading(nodeTaintsPolicy="Honor"))
    assert outcome(tolerant, [A, tainted], webs("a"))["a"] == SKEWED


def test_match_label_keys_narrow_the_selector_to_pods_like_this_one() -> None:
    wants = {"labels": {"app": "web", "version": "2"}, **spreading(matchLabelKeys=["version", "absent"])}
    old, new = {"app": "web", "version": "1"}, {"app": "web", "version": "2"}
    assert outcome(web(**wants), [A, B], [web("r", on="a", labels=old)])["a"] is None
    assert outcome(web(**wants), [A, B], [web("r", on="a", labels=new)])["a"] == SKEWED


def test_no_selector_and_one_that_selects_everything_both_count_nothing() -> None:
    assert outcome(web(**spreading(selector=None)), [A, B], webs("a", "a"))["a"] is None
    assert outcome(web(**spreading(selector={})), [A, B], webs("a", "a"))["a"] is None


def test_the_first_constraint_that_fails_names_the_reason() -> None:
    constraints = spreading()["topologySpreadConstraints"] + spreading(key="rack")["topologySpreadConstraints"]
    racked = [node("a", labels={ZONE: "za", "rack": "1"}), node("b", labels={ZONE: "zb", "rack": "2"}), node("bare")]
    wants = web(topologySpreadConstraints=constraints)
    assert outcome(wants, racked, webs("a")) == {"a": SKEWED, "b": None, "bare": UNLABELLED}


# affinity


def test_affinity_wants_a_matching_pod_in_the_same_domain() -> None:
    neighbour = node("a2", labels={ZONE: "za"})
    wants = pod(**near(term()))
    assert outcome(wants, [A, B, neighbour], webs("a")) == {"a": None, "b": LONELY, "a2": None}


def test_affinity_needs_the_topology_label_on_the_node() -> None:
    assert outcome(web(**near(term())), [node("bare")]) == {"bare": LONELY}


def test_the_first_pod_of_a_kind_may_start_wherever_there_is_a_domain() -> None:
    assert outcome(web(**near(term())), [A, B]) == {"a": None, "b": None}
    assert outcome(pod(**near(term())), [A, B]) == {"a": LONELY, "b": LONELY}


def test_it_may_not_start_anew_while_its_kind_is_somewhere() -> None:
    assert outcome(web(**near(term())), [A, B], webs("b")) == {"a": LONELY, "b": None}


def test_its_kind_on_a_node_without_the_topology_label_is_nowhere() -> None:
    assert outcome(web(**near(term())), [A, node("bare")], webs("bare"))["a"] is None


def test_only_pods_that_match_all_terms_are_company() -> None:
    both = near(term(), term(key=HOSTNAME, selector={"matchLabels": {"tier": "front"}}))
    plain, front = web("r0", on="a"), web("r1", on="b", labels={"app": "web", "tier": "front"})
    assert outcome(pod(**both), [A, B], [plain, front]) == {"a": LONELY, "b": None}
    assert outcome(pod(**both), [A, B], [plain]) == {"a": LONELY, "b": LONELY}


def test_each_term_may_find_another_pod() -> None:
    both = near(term(), term(key=HOSTNAME))
    neighbour = node("a2", labels={ZONE: "za"})
    assert outcome(pod(**both), [A, neighbour], webs("a")) == {"a": None, "a2": LONELY}


def test_pods_that_are_ending_are_still_company() -> None:
    assert outcome(pod(**near(term())), [A], [web("r", on="a", metadata=GONE)]) == {"a": None}


# anti-affinity


def test_anti_affinity_keeps_a_pod_out_of_the_domain_of_what_it_dislikes() -> None:
    neighbour = node("a2", labels={ZONE: "za"})
    wants = pod(**far(term()))
    assert outcome(wants, [A, B, neighbour], webs("a")) == {"a": DISLIKED, "b": None, "a2": DISLIKED}


def test_a_node_without_the_topology_label_is_in_no_domain() -> None:
    assert outcome(pod(**far(term())), [node("bare")], webs("bare")) == {"bare": None}
    running = pod("r", on="bare", **far(term()))
    assert outcome(web(), [node("bare")], [running]) == {"bare": None}


def test_pods_that_run_keep_out_what_they_dislike() -> None:
    neighbour = node("a2", labels={ZONE: "za"})
    running = pod("r", on="a", **far(term()))
    assert outcome(web(), [A, B, neighbour], [running]) == {"a": UNWELCOME, "b": None, "a2": UNWELCOME}
    assert outcome(pod(), [A], [running]) == {"a": None}


def test_affinity_is_told_before_anti_affinity_and_that_before_what_others_dislike() -> None:
    dislikes = far(term())["affinity"]
    selfish = web("r", on="a", affinity=dislikes)
    assert outcome(web(affinity=dislikes), [A], [selfish]) == {"a": DISLIKED}
    lonely = near(term(selector={"matchLabels": {"app": "db"}}))["affinity"]
    assert outcome(web(affinity={**dislikes, **lonely}), [A], [selfish]) == {"a": LONELY}


def test_one_disliked_pod_is_enough_for_any_of_several_terms() -> None:
    wants = pod(**far(term(selector={"matchLabels": {"app": "db"}}), term()))
    assert outcome(wants, [A, B], webs("a")) == {"a": DISLIKED, "b": None}


# whom terms mean


@pytest.mark.parametrize(
    ("fields", "means"),
    [
        ({}, False),
        ({"namespaces": ["other"]}, True),
        ({"namespaces": ["default"]}, False),
        ({"namespaceSelector": {}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, False),
        ({"namespaces": ["default"], "namespaceSelector": {"matchLabels": {"team": "x"}}}, True),
    ],
)
def test_a_term_means_pods_of_its_own_namespace_unless_it_names_or_selects_others(fields, means) -> None:
    namespaces = [namespace("default"), namespace("other", team="x")]
    running = web("r", on="a", namespace="other")
    refused = {"a": DISLIKED if means else None}
    assert outcome(pod(**far(term(**fields))), [A], [running], namespaces) == refused


def test_the_namespaces_of_a_term_do_not_include_its_own_unless_named() -> None:
    wants = pod(**far(term(namespaces=["other"])))
    assert outcome(wants, [A], webs("a")) == {"a": None}


def test_terms_of_running_pods_see_the_namespace_of_the_newcomer() -> None:
    namespaces = [namespace("default"), namespace("other", team="x")]
    running = pod("r", on="a", **far(term(namespaceSelector={"matchLabels": {"team": "x"}})))
    assert outcome(web(namespace="other"), [A], [running], namespaces) == {"a": UNWELCOME}
    assert outcome(web(), [A], [running], namespaces) == {"a": None}


@pytest.mark.parametrize(
    ("fields", "version", "means"),
    [
        ({"matchLabelKeys": ["version"]}, "1", True),
        ({"matchLabelKeys": ["version"]}, "2", False),
        ({"mismatchLabelKeys": ["version"]}, "1", False),
        ({"mismatchLabelKeys": ["version"]}, "2", True),
        ({"matchLabelKeys": ["absent"]}, "2", True),
        ({"mismatchLabelKeys": ["absent"]}, "1", True),
    ],
)
def test_label_keys_narrow_a_term_to_pods_that_are_alike_or_differ(fields, version, means) -> None:
    running = web("r", on="a", labels={"app": "web", "version": version})
    wants = pod(labels={"version": "1"}, **far(term(**fields)))
    assert outcome(wants, [A], [running]) == {"a": DISLIKED if means else None}


@pytest.mark.parametrize(
    ("selector", "means"),
    [
        (None, False),
        ({}, True),
        ({"matchExpressions": [line("app", "In", "web", "db")]}, True),
        ({"matchExpressions": [line("app", "NotIn", "db")]}, True),
        ({"matchExpressions": [line("version", "NotIn", "1")]}, True),
        ({"matchExpressions": [line("version", "Exists")]}, False),
        ({"matchExpressions": [line("version", "DoesNotExist")]}, True),
        ({"matchLabels": {"app": "web"}, "matchExpressions": [line("app", "NotIn", "web")]}, False),
    ],
)
def test_no_selector_means_no_pod_and_an_empty_one_every_pod(selector, means) -> None:
    assert outcome(pod(**far(term(selector=selector))), [A], webs("a")) == {"a": DISLIKED if means else None}
