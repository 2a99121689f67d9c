"""What VolumeBinding and VolumeZone say."""

import pytest

from .objects import (
    BOUND,
    HOSTNAME,
    ZONE,
    claim,
    in_zone,
    line,
    node,
    pod,
    storage_class,
    using,
    volume,
)
from .oracle import Oracle

OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
OPEN = "pod has unbound immediate PersistentVolumeClaims"
NO_ZONE = "node(s) had no available volume zone"

A, B = node("a", labels={ZONE: "za"}), node("b", labels={ZONE: "zb"})
LOCAL = storage_class("local", provisioner="kubernetes.io/no-provisioner")
WAITS = storage_class("waits")


def outcome(pod, running=(), nodes=(A, B), **objects):
    """The reason by node: None where the pod may run."""
    return outcomes(Oracle(nodes, running, **objects), pod, nodes)


def outcomes(oracle, pod, nodes=(A, B)):
    refusals = {each.name: oracle.refusal(pod, each.name) for each in nodes}
    return {name: refusal and " + ".join(refusal.reasons) for name, refusal in refusals.items()}


# claims


def test_a_claim_that_is_not_there_refuses_all_nodes_before_anything_else() -> None:
    refused = 'persistentvolumeclaim "c" not found'
    cordoned = [node("a", unschedulable=True)]
    assert outcome(pod(volumes=using("c")), nodes=cordoned) == {"a": refused}
    assert outcome(pod(volumes=using("c")), nodes=cordoned, claims=[claim("c", namespace="other")]) == {"a": refused}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"phase": "Lost", "volumeName": "v"}, 'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
        (
            {"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}, "storageClassName": "waits"},
            'persistentvolumeclaim "c" is being deleted',
        ),
        ({"volumeName": "v2"}, 'persistentvolume "v2" not found'),
        ({"volumeName": "v", "metadata": {"annotations": {}}}, OPEN),
        ({"storageClassName": "at-once"}, OPEN),
        ({"storageClassName": "unknown"}, OPEN),
        ({"storageClassName": ""}, OPEN),
        ({}, OPEN),
    ],
)
def test_a_claim_that_cannot_be_used_refuses_all_nodes(fields, reason) -> None:
    at_once = storage_class("at-once", waits=False)
    objects = {"claims": [claim("c", **fields)], "volumes": [volume("v")], "storage_classes": [WAITS, at_once]}
    assert outcome(pod(volumes=using("c")), **objects) == {"a": reason, "b": reason}


def test_the_claim_of_an_ephemeral_volume_must_exist_and_belong_to_the_pod() -> None:
    wants = pod(volumes=[{"name": "e", "ephemeral": {}}])
    waiting = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-e"'
    assert outcome(wants) == {"a": waiting, "b": waiting}
    foreign = claim("p-e", storageClassName="waits")
    not_its = "PVC default/p-e was not created for pod default/p (pod is not owner)"
    assert outcome(wants, claims=[foreign], storage_classes=[WAITS]) == {"a": not_its, "b": not_its}
    owner = {"kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    own = claim("p-e", storageClassName="waits", metadata={"ownerReferences": [owner]})
    assert outcome(wants, claims=[own], storage_classes=[WAITS]) == {"a": None, "b": None}
    owned = {"ownerReferences": [owner], "annotations": BOUND}
    orphan = claim("p-e", volumeName="gone", metadata=owned)
    assert outcome(wants, claims=[orphan]) == {"a": GONE, "b": GONE}


def test_a_bound_volume_must_be_reachable_from_the_node() -> None:
    objects = {"claims": [claim("c", volumeName="v")], "volumes": [volume("v", nodeAffinity=in_zone("za"))]}
    assert outcome(pod(volumes=using("c")), **objects) == {"a": None, "b": OUT_OF_REACH}


def test_claims_that_wait_take_the_volumes_of_their_class_that_the_node_can_reach() -> None:
    objects = {
        "claims": [claim("c", storageClassName="local")],
        "volumes": [volume("v", storageClassName="local", nodeAffinity=in_zone("za"))],
        "storage_classes": [LOCAL],
    }
    assert outcome(pod(volumes=using("c")), **objects) == {"a": None, "b": NOTHING_TO_BIND}


@pytest.mark.parametrize(
    "change",
    [
        {"storageClassName": "other"},
        {"capacity": {"storage": "1023Mi"}},
        {"accessModes": ["ReadOnlyMany"]},
        {"volumeMode": "Block"},
        {"volumeAttributesClassName": "gold"},
        {"claimRef": {"namespace": "default", "name": "other"}},
        {"claimRef": {"namespace": "default", "name": "c", "uid": "of an earlier one"}},
        {"phase": "Released"},
        {"labels": {"tier": "slow"}},
    ],
)
def test_a_volume_that_does_not_suit_the_claim_is_not_taken(change) -> None:
    wants = claim("c", storageClassName="local", selector={"matchLabels": {"tier": "fast"}})
    suits = {"storageClassName": "local", "labels": {"tier": "fast"}}
    objects = {"claims": [wants], "storage_classes": [LOCAL]}
    asks = pod(volumes=using("c"))
    assert outcome(asks, volumes=[volume("v", **suits)], **objects) == {"a": None, "b": None}
    refused = {"a": NOTHING_TO_BIND, "b": NOTHING_TO_BIND}
    assert outcome(asks, volumes=[volume("v", **{**suits, **change})], **objects) == refused


def test_a_volume_kept_for_the_claim_is_taken_whatever_else_there_is() -> None:
    kept = {"claimRef": {"namespace": "default", "name": "c"}, "phase": "Bound", "nodeAffinity": in_zone("za")}
    volumes = [volume("free", storageClassName="local"), volume("kept", storageClassName="local", **kept)]
    objects = {"claims": [claim("c", storageClassName="local")], "volumes": volumes, "storage_classes": [LOCAL]}
    assert outcome(pod(volumes=using("c")), **objects) == {"a": None, "b": NOTHING_TO_BIND}


def test_small_claims_take_small_volumes_so_that_large_ones_find_large_ones() -> None:
    claims = [
        claim("large", storageClassName="local", resources={"requests": {"storage": "5Gi"}}),
        claim("small", storageClassName="local"),
    ]
    volumes = [
        volume("big", storageClassName="local", capacity={"storage": "10Gi"}),
        volume("tiny", storageClassName="local", capacity={"storage": "2Gi"}, nodeAffinity=in_zone("za")),
    ]
    objects = {"claims": claims, "volumes": volumes, "storage_classes": [LOCAL]}
    assert outcome(pod(volumes=using("large", "small")), **objects) == {"a": None, "b": NOTHING_TO_BIND}


def test_what_is_not_there_is_made_where_the_class_allows_it() -> None:
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["zb", "zc"]}]}]
    limited = storage_class("limited", allowedTopologies=topologies)
    asks = pod(volumes=using("c"))
    objects = {"storage_classes": [WAITS, limited]}
    assert outcome(asks, claims=[claim("c", storageClassName="waits")], **objects) == {"a": None, "b": None}
    limits = outcome(asks, claims=[claim("c", storageClassName="limited")], **objects)
    assert limits == {"a": NOTHING_TO_BIND, "b": None}


def test_a_claim_whose_node_is_chosen_goes_to_no_other() -> None:
    chosen = {"annotations": {"volume.kubernetes.io/selected-node": "b"}}
    wants = claim("c", storageClassName="waits", metadata=chosen)
    assert outcome(pod(volumes=using("c")), claims=[wants], storage_classes=[WAITS]) == {
        "a": NOTHING_TO_BIND,
        "b": None,
    }


def test_what_is_out_of_reach_and_what_cannot_be_had_are_both_told() -> None:
    objects = {
        "claims": [claim("bound", volumeName="v"), claim("open", storageClassName="local")],
        "volumes": [volume("v", nodeAffinity=in_zone("za"))],
        "storage_classes": [LOCAL],
    }
    refused = {"a": NOTHING_TO_BIND, "b": f"{OUT_OF_REACH} + {NOTHING_TO_BIND}"}
    assert outcome(pod(volumes=using("bound", "open")), **objects) == refused


def test_a_volume_that_one_pod_takes_is_not_there_for_the_next() -> None:
    here = {"required": {"nodeSelectorTerms": [{"matchExpressions": [line(HOSTNAME, "In", "a")]}]}}
    oracle = Oracle(
        [A, B],
        claims=[claim("c0", storageClassName="local"), claim("c1", storageClassName="local")],
        volumes=[volume("v", storageClassName="local", nodeAffinity=here)],
        storage_classes=[LOCAL],
    )
    oracle.bind(pod("first", volumes=using("c0")), "a")
    assert outcomes(oracle, pod(volumes=using("c1"))) == {"a": NOTHING_TO_BIND, "b": NOTHING_TO_BIND}
    assert outcomes(oracle, pod(volumes=using("c0"))) == {"a": None, "b": NOTHING_TO_BIND}


def test_a_volume_that_is_made_for_one_pod_ties_others_with_its_claim_to_that_node() -> None:
    oracle = Oracle([A, B], claims=[claim("c", storageClassName="waits")], storage_classes=[WAITS])
    oracle.bind(pod("first", volumes=using("c")), "b")
    assert outcomes(oracle, pod(volumes=using("c"))) == {"a": NOTHING_TO_BIND, "b": None}


# zones


@pytest.mark.parametrize(
    ("labels", "a", "b"),
    [
        ({ZONE: "za"}, None, NO_ZONE),
        ({ZONE: "za__zc"}, None, NO_ZONE),
        ({ZONE: "za__zb"}, None, None),
        ({ZONE: "zb__"}, None, None),
        ({"failure-domain.beta.kubernetes.io/zone": "za"}, None, NO_ZONE),
        ({"topology.kubernetes.io/region": "eu"}, NO_ZONE, NO_ZONE),
        ({"zone": "za"}, None, None),
    ],
)
def test_a_volume_with_zone_labels_is_used_in_its_zones(labels, a, b) -> None:
    objects = {"claims": [claim("c", volumeName="v")], "volumes": [volume("v", labels=labels)]}
    assert outcome(pod(volumes=using("c")), **objects) == {"a": a, "b": b}


def test_a_node_that_knows_of_no_zones_takes_volumes_of_any() -> None:
    objects = {"claims": [claim("c", volumeName="v")], "volumes": [volume("v", labels={ZONE: "za"})]}
    assert outcome(pod(volumes=using("c")), nodes=[node("bare")], **objects) == {"bare": None}
    old = node("old", labels={"failure-domain.beta.kubernetes.io/zone": "za"})
    assert outcome(pod(volumes=using("c")), nodes=[old], **objects) == {"old": NO_ZONE}
