"""Which groups of AWS are alike."""

import pytest
from nodewright.cluster import Cluster
from nodewright.config.model import Balancing
from nodewright.decision.scaleup.balancing import Similarity
from nodewright.testing.builders import a_group, a_template
from nodewright_aws.provider import AwsProvider


def alike(label: str) -> bool:
    """Tell whether two groups are alike that differ in the value of a *label*."""
    one, other = (
        a_group(name, provider="aws", template=a_template(labels={label: f"of-{name}"})) for name in ("a", "b")
    )
    similarity = Similarity(Cluster(), Balancing(), {"aws": AwsProvider.balancing_ignored_labels})
    return bool(similarity.among(one, [other]))


@pytest.mark.parametrize(
    "label",
    [
        "eks.amazonaws.com/nodegroup",
        # eksctl makes a launch template for each managed group.
        "eks.amazonaws.com/sourceLaunchTemplateId",
        "eks.amazonaws.com/sourceLaunchTemplateVersion",
        "topology.k8s.aws/zone-id",
        # On nodes of P4d, P5 and their like: where in the network this one machine is.
        "topology.k8s.aws/network-node-layer-1",
        "topology.k8s.aws/network-node-layer-3",
    ],
)
def test_what_tells_one_group_or_machine_from_the_next_makes_no_difference(label) -> None:
    assert alike(label)


def test_how_machines_are_bought_makes_a_difference() -> None:
    assert not alike("eks.amazonaws.com/capacityType")
