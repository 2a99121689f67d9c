"""Which groups are similar."""

import pytest
from nodewright.api import GroupOptions
from nodewright.cluster import Cluster
from nodewright.config.model import Balancing
from nodewright.decision.scaleup.balancing import Similarity
from nodewright.testing.builders import a_group, a_template


def alike(one, other, *, ignored=None, **settings):
    similarity = Similarity(Cluster(), Balancing(**settings), {"fake": frozenset(ignored or ())})
    found = bool(similarity.among(one, [other]))
    assert found == bool(similarity.among(other, [one])), "one is like the other, but not the other like the one"
    return found


def group(name, provider="fake", options=None, **template):
    return a_group(name, provider=provider, options=options, template=a_template(**template))


def test_groups_that_differ_in_their_zone_only_are_alike() -> None:
    assert alike(group("a", zone="eu-a"), group("b", zone="eu-b"))


def test_a_group_is_not_like_itself() -> None:
    similarity = Similarity(Cluster(), Balancing(), {})
    assert similarity.among(a_group("a"), [a_group("a")]) == ()


@pytest.mark.parametrize(
    "change",
    [
        {"cpu": "8"},
        {"memory": "17Gi"},
        {"pods": 58},
        {"resources": {"nvidia.com/gpu": "1"}},
        {"labels": {"team": "web"}},
        {"instance_type": "large"},
    ],
    ids=str,
)
def test_any_other_difference_makes_them_different(change) -> None:
    assert not alike(group("a"), group("b", **change))


@pytest.mark.parametrize(("memory", "expected"), [("10000Mi", True), ("9850Mi", True), ("9849Mi", False)])
def test_memory_may_differ_by_a_share_of_the_larger(memory, expected) -> None:
    assert alike(group("a", memory="10000Mi"), group("b", memory=memory)) is expected
    wide = {"memory_difference_ratio": 0.2, "max_allocatable_difference_ratio": 0.2, "max_free_difference_ratio": 0.2}
    assert alike(group("a", memory="10000Mi"), group("b", memory="8000Mi"), **wide)
    assert not alike(group("a", memory="10000Mi"), group("b", memory="7999Mi"), **wide)


def test_what_pods_that_come_along_ask_for_counts(a_daemon_set) -> None:
    cluster = Cluster()
    cluster.daemon_sets["ds"] = a_daemon_set(cpu="500m", node_selector={"topology.kubernetes.io/zone": "eu-a"})
    similarity = Similarity(cluster, Balancing(), {})
    assert similarity.among(group("a", zone="eu-a"), [group("b", zone="eu-b")]) == ()
    generous = Similarity(cluster, Balancing(max_free_difference_ratio=0.125), {})
    assert generous.among(group("a", zone="eu-a"), [group("b", zone="eu-b")]) != ()


def test_labels_that_user_or_provider_ignore_may_differ() -> None:
    one, other = group("a", labels={"pool": "a", "disk": "1"}), group("b", labels={"pool": "b", "disk": "2"})
    assert not alike(one, other)
    assert not alike(one, other, ignored=["pool"])
    assert alike(one, other, ignored=["pool"], ignore_labels=("disk",))


def test_with_balancing_labels_nothing_else_is_compared() -> None:
    one = group("a", cpu="4", labels={"class": "web", "pool": "a"})
    assert alike(one, group("b", cpu="64", labels={"class": "web"}), labels=("class",))
    assert not alike(one, group("b", labels={"class": "db"}), labels=("class",))
    assert not alike(group("a"), group("b"), labels=("class",))


def test_groups_that_are_used_whole_are_like_no_other() -> None:
    assert not alike(group("a"), group("b", options=GroupOptions(zero_or_max_node_scaling=True)))
