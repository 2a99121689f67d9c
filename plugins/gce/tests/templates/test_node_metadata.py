"""Metadata of our own."""

from datetime import timedelta

import pytest
from nodewright.api import Taint
from nodewright_gce.templates.node_metadata import NodeMetadata, read_node_metadata


def test_metadata_says_what_nodes_have_and_how_many_there_may_be() -> None:
    assert read_node_metadata(
        {
            "nodewright-labels": "pool=batch, tier=",
            "nodewright-taints": "dedicated=batch:NoSchedule",
            "nodewright-capacity": "example.com/card=2,ephemeral-storage=80Gi",
            "nodewright-reserved": "cpu=200m,memory=1Gi",
            "nodewright-max-pods": "64",
            "nodewright-options": "scaledownunneededtime=3m",
            "nodewright-min-size": "0",
            "nodewright-max-size": "12",
            "startup-script": "#!/bin/sh",
        }
    ) == NodeMetadata(
        labels={"pool": "batch", "tier": ""},
        taints=(Taint(key="dedicated", value="batch", effect="NoSchedule"),),
        capacity={"example.com/card": 2, "ephemeral-storage": 80 * 1024**3},
        reserved={"cpu": 200, "memory": 1024**3},
        max_pods=64,
        options={"scale_down_unneeded_time": timedelta(minutes=3)},
        min_size=0,
        max_size=12,
    )


def test_other_metadata_says_nothing() -> None:
    assert read_node_metadata({"kube-env": "A: b", "cluster-name": "c"}) == NodeMetadata()


@pytest.mark.parametrize(
    ("key", "value", "mistake"),
    [
        ("nodewright-labels", "a", "metadata nodewright-labels: 'a' is ignored: write key=value"),
        ("nodewright-labels", "a=b c", "metadata nodewright-labels: 'a=b c' is ignored: this is no value of a label"),
        ("nodewright-capacity", "cpu=-1", "an amount can't be negative"),
        ("nodewright-capacity", "cpu=many", "is not a quantity"),
        (
            "nodewright-max-pods",
            "0",
            "metadata nodewright-max-pods: '0' is ignored: write a whole number of at least 1",
        ),
        ("nodewright-min-size", "-1", "write a whole number of at least 0"),
        ("nodewright-max-size", "", "write a whole number of at least 1"),
        ("nodewright-label", "a=b", "there is no such key: write nodewright-labels"),
        ("nodewright-zzz", "a=b", "write nodewright-labels, nodewright-taints, nodewright-capacity"),
        ("nodewright-options", "scaledowngpuutilizationthreshold=7", "write a number from 0 to 1"),
        ("nodewright-options", "ignoredaemonsetsutilization=maybe", "write true or false"),
        ("nodewright-options", "scaledownunneededtime=-1m", "a time can't be negative"),
    ],
)
def test_a_mistake_is_named_by_its_key_and_changes_nothing_else(key, value, mistake) -> None:
    found = read_node_metadata({key: value, "nodewright-taints": "a=b:NoSchedule"})
    assert len(found.mistakes) == 1
    assert mistake in found.mistakes[0]
    assert key in found.mistakes[0]
    assert found.taints


def test_limits_that_contradict_each_other_are_ignored_and_told() -> None:
    found = read_node_metadata({"nodewright-min-size": "5", "nodewright-max-size": "3"})
    assert (found.min_size, found.max_size) == (None, None)
    assert found.mistakes == (
        "metadata nodewright-min-size and nodewright-max-size: they are ignored, as 5 is more than 3",
    )
