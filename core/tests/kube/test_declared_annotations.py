"""Annotations of pods that plugins declare are read, and distinguish pods; others are not."""

import msgspec
import pytest
from nodewright.cluster import Cluster
from nodewright.cluster.annotations import PodAnnotations
from nodewright.kube.pod_reader import PodReader
from nodewright.testing.builders import a_pod

TEAM = "example.com/team"


def rows(pods, *declared):
    cluster, annotations = Cluster(), PodAnnotations(frozenset(declared))
    cluster.pod_classes.tell_by(annotations)
    read = PodReader(annotations)
    for pod in pods:
        read(msgspec.Raw(msgspec.json.encode(pod))).put_into(cluster)
    return [cluster.pods[pod.key] for pod in pods]


def of_teams(node):
    return [
        a_pod(f"p{index}", node=node, annotations={TEAM: team}) for index, team in enumerate(["red", "red", "blue"])
    ]


@pytest.mark.parametrize("node", ["", "n1"], ids=["waiting", "running"])
@pytest.mark.parametrize("declared", [TEAM, "example.com/"], ids=["key", "prefix"])
def test_pods_that_differ_in_a_declared_annotation_are_of_different_classes(node, declared) -> None:
    first, same, other = rows(of_teams(node), declared)
    assert first.pod_class is same.pod_class
    assert first.pod_class is not other.pod_class
    assert [row.pod_class.pod.metadata.annotations for row in (first, other)] == [{TEAM: "red"}, {TEAM: "blue"}]


@pytest.mark.parametrize("declared", ["", "example.com/te", "team", "other.example.com/"])
def test_pods_that_differ_in_other_annotations_are_alike_and_those_are_not_kept(declared) -> None:
    found = rows(of_teams("n1"), declared)
    assert len({row.pod_class.index for row in found}) == 1
    assert found[0].pod_class.pod.metadata.annotations == {}


def test_a_key_with_an_escape_in_it_is_found() -> None:
    text = msgspec.json.encode(a_pod("p", node="n1", annotations={TEAM: "red"})).replace(
        b"example.com/", rb"example.com\/"
    )
    cluster, annotations = Cluster(), PodAnnotations(frozenset([TEAM]))
    cluster.pod_classes.tell_by(annotations)
    PodReader(annotations)(msgspec.Raw(text)).put_into(cluster)
    assert cluster.pods["default/p"].pod_class.pod.metadata.annotations == {TEAM: "red"}
