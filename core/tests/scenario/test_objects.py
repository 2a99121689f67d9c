"""The lists of what is shown of objects know every field that decisions may read."""

from typing import Any

import msgspec
import pytest
from nodewright.objects import (
    CapacityQuota,
    Condition,
    Container,
    CSINode,
    DaemonSet,
    LabelSelector,
    Namespace,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    PodStatus,
    StorageClass,
)
from nodewright.objects.affinity import Affinity, NodeAffinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.capacity_quota import CapacityQuotaSpec
from nodewright.objects.requests import ContainerStatus
from nodewright.objects.volume import ClaimSpec, Volume, VolumeSpec
from nodewright.scenario import objects as shown
from nodewright.scenario.names import CollectedNames, Names, Pseudonyms, Role
from nodewright.scenario.sieve import Record, Scope, annotations, marked

#: Fields that no decision reads of a node, a pod, or what belongs to it.
_UNREAD_OF_META = {"resourceVersion", "deletionGracePeriodSeconds"}


def spec_of(record: Record) -> Any:
    return record.fields["spec"]


def template_spec() -> Any:
    return spec_of(spec_of(shown.DAEMON_SET).fields["template"])


@pytest.mark.parametrize(
    ("struct", "sieve", "unread"),
    [
        (Pod, shown.POD, set()),
        (PodSpec, spec_of(shown.POD), {"hostNetwork", "priorityClassName", "preemptionPolicy"}),
        (PodSpec, template_spec(), {"hostNetwork"}),
        (PodStatus, shown.POD.fields["status"], {"startTime"}),
        (ObjectMeta, shown.POD.fields["metadata"], _UNREAD_OF_META),
        (ObjectMeta, shown.NODE.fields["metadata"], _UNREAD_OF_META | {"namespace", "uid", "ownerReferences"}),
        (ObjectMeta, shown.CLAIM.fields["metadata"], _UNREAD_OF_META | {"labels", "creationTimestamp"}),
        (
            ObjectMeta,
            shown.VOLUME.fields["metadata"],
            _UNREAD_OF_META | {"namespace", "uid", "ownerReferences", "creationTimestamp"},
        ),
        (Container, shown.CONTAINER, set()),
        (ContainerStatus, shown.CONTAINER_STATUS, set()),
        (Condition, shown.CONDITION, set()),
        (Volume, shown.POD_VOLUME, set()),
        (Affinity, spec_of(shown.POD).fields["affinity"], set()),
        (NodeAffinity, spec_of(shown.POD).fields["affinity"].fields["nodeAffinity"], set()),
        (PodAffinity, shown.POD_AFFINITY, set()),
        (PodAffinityTerm, shown.POD_TERM, set()),
        (TopologySpreadConstraint, shown.SPREAD, set()),
        (LabelSelector, shown.SELECTOR, set()),
        (NodeSelector, shown.NODE_SELECTOR, set()),
        (NodeSelectorTerm, shown.NODE_TERM, set()),
        (Node, shown.NODE, set()),
        (NodeSpec, spec_of(shown.NODE), set()),
        (NodeStatus, shown.NODE.fields["status"], set()),
        (DaemonSet, shown.DAEMON_SET, set()),
        (PodDisruptionBudget, shown.BUDGET, set()),
        (CapacityQuota, shown.QUOTA, set()),
        (CapacityQuotaSpec, spec_of(shown.QUOTA), set()),
        (Namespace, shown.NAMESPACE, set()),
        (PersistentVolumeClaim, shown.CLAIM, set()),
        (ClaimSpec, spec_of(shown.CLAIM), set()),
        (PersistentVolume, shown.VOLUME, set()),
        (VolumeSpec, spec_of(shown.VOLUME), set()),
        (StorageClass, shown.STORAGE_CLASS, set()),
        (CSINode, shown.CSI_NODE, set()),
    ],
)
def test_every_field_that_is_read_is_shown_or_known_to_be_left_out(struct, sieve, unread) -> None:
    assert {field.encode_name for field in msgspec.structs.fields(struct)} == sieve.fields.keys() | unread


def test_only_annotations_of_autoscalers_are_shown() -> None:
    sieve = annotations({"a": marked_note}, prefixes=("nodewright.dev/",), present=("mirror",))
    noted = {"nodewright.dev/x": "1m", "a": "b", "mirror": "hash", "other": "secret"}
    assert sieve(noted, Scope(names=Names())) == {"nodewright.dev/x": "1m", "a": "B", "mirror": ""}
    assert sieve({"other": "secret"}, Scope(names=Names())) is None


def marked_note(value: str, scope: Scope) -> str:
    return value.upper()


@pytest.mark.parametrize(
    ("key", "text", "kept"),
    [
        ("nodewright.dev/do-not-disrupt", "2030-01-31T08:30:00.5+01:00", True),
        ("nodewright.dev/do-not-disrupt", "1h30m", True),
        ("nodewright.dev/do-not-disrupt", "until Tom is back", False),
        ("karpenter.sh/do-not-disrupt", "true", True),
    ],
)
def test_how_long_a_node_is_protected_is_shown_where_names_are_hidden(key, text, kept) -> None:
    node = Node(metadata=ObjectMeta(name="n", annotations={key: text}))
    roll = CollectedNames()
    shown.sift(node, shown.NODE, roll)
    found = shown.sift(node, shown.NODE, Pseudonyms(roll))["metadata"]["annotations"]
    assert (found[key] == text) is kept


def test_a_taint_of_the_autoscaler_keeps_the_time_that_it_says() -> None:
    roll = CollectedNames()
    assert marked({"key": "ToBeDeletedByClusterAutoscaler", "value": "1893456000"}, Scope(names=roll)) == {
        "key": "ToBeDeletedByClusterAutoscaler",
        "value": "1893456000",
    }
    assert roll.texts[Role.VALUE] == set()
