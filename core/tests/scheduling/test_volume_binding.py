"""Filter VolumeBinding."""

import pytest
from msgspec.structs import replace
from nodewright.objects import LabelSelector
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.objects.volume import Volume
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.storage import BY_HAND, a_claim, a_storage_class, a_volume, with_claims, with_volumes

NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind"
OUT_OF_REACH = "node(s) didn't match PersistentVolume's node affinity"
POD = with_claims(a_pod(), "data")
EPHEMERAL = with_volumes(a_pod(), Volume(name="scratch", ephemeral={}))
LOCAL = a_storage_class("local", provisioner=BY_HAND)


def local_claim(name="data", **fields):
    return a_claim(name, storage_class="local", **fields)


def local_volume(name="volume", node="", **fields):
    return a_volume(name, storage_class="local", only={HOSTNAME: node} if node else None, **fields)


def hosts(*names):
    return [a_node(name, labels={HOSTNAME: name}) for name in names]


def deleted(claim):
    return replace(claim, metadata=replace(claim.metadata, deletion_timestamp=EPOCH))


@pytest.mark.parametrize(
    ("pod", "objects", "reason"),
    [
        (POD, [], 'persistentvolumeclaim "data" not found'),
        (POD, [a_claim(namespace="other")], 'persistentvolumeclaim "data" not found'),
        (
            POD,
            [a_claim(volume="gone", phase="Lost")],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "gone"',
        ),
        (POD, [deleted(a_claim(volume="volume"))], 'persistentvolumeclaim "data" is being deleted'),
        (
            POD,
            [a_claim(), a_storage_class(waits=False)],
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (POD, [a_claim(storage_class="")], "pod has unbound immediate PersistentVolumeClaims"),
        (POD, [a_claim(storage_class="unheard-of")], "pod has unbound immediate PersistentVolumeClaims"),
        (POD, [a_claim(volume="gone")], 'persistentvolume "gone" not found'),
        (
            EPHEMERAL,
            [],
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-scratch"',
        ),
        (
            EPHEMERAL,
            [a_claim("web-scratch", made_for=a_pod("old-web"))],
            "PVC default/web-scratch was not created for pod default/web (pod is not owner)",
        ),
    ],
)
def test_a_claim_that_can_not_be_used_is_told_of_before_anything_about_the_node(schedule, pod, objects, reason) -> None:
    assert schedule(a_node(unschedulable=True), *objects).refuses(pod) == (reason,)


def test_a_claim_that_names_its_volume_but_is_not_bound_has_to_be_bound_first(schedule) -> None:
    claim = a_claim(volume="volume")
    prebound = replace(claim, metadata=replace(claim.metadata, annotations={}))
    scheduler = schedule(a_node(), prebound, a_volume(), a_storage_class())
    assert scheduler.refuses(POD) == ("pod has unbound immediate PersistentVolumeClaims",)


def test_an_ephemeral_claim_made_for_the_pod_will_do(schedule) -> None:
    claim = a_claim("web-scratch", made_for=EPHEMERAL)
    assert schedule(a_node(), claim, a_storage_class()).refuses(EPHEMERAL) == ()


def test_a_pod_of_the_same_name_as_one_before_does_not_own_its_claim(schedule) -> None:
    scheduler = schedule(a_node(), a_claim("web-scratch", made_for=EPHEMERAL), a_storage_class())
    assert scheduler.refuses(EPHEMERAL) == ()
    again = replace(EPHEMERAL, metadata=replace(EPHEMERAL.metadata, uid="another"))
    assert "pod is not owner" in scheduler.refuses(again)[0]


def test_a_bound_volume_has_to_be_within_reach(schedule) -> None:
    nodes = [a_node("a", zone="zone-a"), a_node("b", zone="zone-b"), a_node("nowhere")]
    scheduler = schedule(*nodes, a_claim(volume="volume"), a_volume(claim="data", only={ZONE: "zone-b"}))
    assert scheduler.refuses(POD, "a") == (OUT_OF_REACH,)
    assert scheduler.refuses(POD, "nowhere") == (OUT_OF_REACH,)
    assert scheduler.refuses(POD, "b") == ()
    assert scheduler.homes(POD, 3) == ["b", "b", "b"]


def test_an_ephemeral_claim_bound_to_a_volume_that_is_gone_can_be_used_nowhere(schedule) -> None:
    claim = a_claim("web-scratch", volume="gone", made_for=EPHEMERAL)
    reason = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    assert schedule(a_node(), claim).refuses(EPHEMERAL) == (reason,)


def test_both_a_bound_volume_out_of_reach_and_an_open_claim_are_told_of(schedule) -> None:
    bound = [a_claim("far", volume="far"), a_volume("far", claim="far", only={ZONE: "zone-b"})]
    scheduler = schedule(a_node(zone="zone-a"), LOCAL, *bound, local_claim())
    assert scheduler.refuses(with_claims(a_pod(), "far", "data")) == (OUT_OF_REACH, NOTHING_TO_BIND)


def test_a_volume_is_made_wherever_its_class_allows_it(schedule) -> None:
    nodes = [a_node("a", zone="zone-a"), a_node("b", zone="zone-b")]
    scheduler = schedule(*nodes, a_claim(), a_storage_class(zones=["zone-b", "zone-c"]))
    assert scheduler.refuses(POD, "a") == (NOTHING_TO_BIND,)
    assert scheduler.refuses(POD, "b") == ()


def test_a_node_that_does_not_exist_so_far_is_judged_by_its_labels(schedule) -> None:
    scheduler = schedule(a_claim(), a_storage_class(zones=["zone-b"]))
    group = a_group(template=a_template(zone="zone-b"))
    with scheduler.simulation.fork():
        (name,) = scheduler.simulation.add_nodes(group, 1)
        assert scheduler.refuses(POD, name) == ()


def test_a_volume_that_is_being_made_for_a_node_ties_its_claim_to_it(schedule) -> None:
    claim = a_claim(annotations={"volume.kubernetes.io/selected-node": "n1"})
    scheduler = schedule(*hosts("n0", "n1"), claim, a_storage_class())
    assert scheduler.refuses(POD, "n0") == (NOTHING_TO_BIND,)
    assert scheduler.refuses(POD, "n1") == ()


@pytest.mark.parametrize(
    ("volume", "reasons"),
    [
        (local_volume(), ()),
        (local_volume(node="node-1"), ()),
        (local_volume(size="2Gi"), ()),
        (local_volume(modes=["ReadWriteOnce", "ReadOnlyMany"]), ()),
        (local_volume(node="node-2"), (NOTHING_TO_BIND,)),
        (local_volume(size="1023Mi"), (NOTHING_TO_BIND,)),
        (local_volume(modes=["ReadOnlyMany"]), (NOTHING_TO_BIND,)),
        (local_volume(mode="Block"), (NOTHING_TO_BIND,)),
        (local_volume(labels={"disk": "hdd"}), (NOTHING_TO_BIND,)),
        (local_volume(phase="Released"), (NOTHING_TO_BIND,)),
        (local_volume(claim="other"), (NOTHING_TO_BIND,)),
        (local_volume(claim="data", phase="Available"), ()),
        (a_volume(storage_class="waits"), (NOTHING_TO_BIND,)),
    ],
)
def test_a_claim_without_provisioner_takes_only_a_free_volume_that_suits(schedule, volume, reasons) -> None:
    if volume.metadata.labels:
        claim = local_claim(selector=LabelSelector(match_labels={"disk": "ssd"}))
    else:
        claim = local_claim()
    assert schedule(*hosts("node-1"), LOCAL, claim, volume).refuses(POD) == reasons


def test_a_volume_kept_for_a_claim_is_the_only_one_that_it_takes(schedule) -> None:
    volumes = [local_volume("kept", "n0", claim="data", phase="Available"), local_volume("free", "n1")]
    scheduler = schedule(*hosts("n0", "n1"), LOCAL, local_claim(), *volumes)
    assert scheduler.refuses(POD, "n1") == (NOTHING_TO_BIND,)
    assert scheduler.refuses(POD, "n0") == ()


def test_two_claims_of_a_pod_take_two_volumes_and_the_smaller_claim_the_smaller_one(schedule) -> None:
    claims = [local_claim("large", size="5Gi"), local_claim("small", size="1Gi")]
    scheduler = schedule(*hosts("node-1"), LOCAL, *claims, local_volume("v5", "node-1", size="5Gi"))
    pod = with_claims(a_pod(), "large", "small")
    assert scheduler.refuses(pod) == (NOTHING_TO_BIND,)
    scheduler.put(local_volume("v1", size="1Gi"))
    assert scheduler.refuses(pod) == ()


def test_a_volume_that_comes_or_goes_changes_the_verdict(schedule) -> None:
    scheduler = schedule(*hosts("node-1"), LOCAL, local_claim())
    assert scheduler.refuses(POD) == (NOTHING_TO_BIND,)
    scheduler.put(local_volume())
    assert scheduler.refuses(POD) == ()
    scheduler.put(local_volume(claim="other"))
    assert scheduler.refuses(POD) == (NOTHING_TO_BIND,)
    scheduler.put(local_volume())
    scheduler.cluster.drop_volume("volume")
    assert scheduler.refuses(POD) == (NOTHING_TO_BIND,)


def test_pods_do_not_take_one_anothers_volumes(schedule) -> None:
    volumes = [local_volume("v0", "n0"), local_volume("v1", "n1")]
    scheduler = schedule(*hosts("n0", "n1"), LOCAL, *volumes, *(local_claim(name) for name in "abc"))
    with scheduler.simulation.fork():
        homes = [scheduler.homes(with_claims(a_pod(f"web-{name}"), name)) for name in "abc"]
        assert homes == [["n0"], ["n1"], []]
    assert scheduler.homes(with_claims(a_pod(), "c")) == ["n0"]


def test_pods_with_one_open_claim_stay_together(schedule) -> None:
    scheduler = schedule(a_node("n0", cpu="2"), a_node("n1", cpu="2"), a_claim(), a_storage_class())
    assert scheduler.homes(with_claims(a_pod(cpu="1"), "data"), 4) == ["n0", "n0"]


def test_a_pod_whose_node_is_taken_away_gets_its_volumes_elsewhere(schedule) -> None:
    volumes = [local_volume("v0", "n0"), local_volume("v1", "n1")]
    scheduler = schedule(*hosts("n0", "n1"), LOCAL, a_storage_class(), *volumes, local_claim("own"), a_claim())
    pod = with_claims(a_pod(), "own", "data")
    with scheduler.simulation.fork():
        assert scheduler.homes(pod) == ["n0"]
        with scheduler.simulation.fork():
            scheduler.simulation.remove_nodes(["n0"])
            assert scheduler.homes(pod) == ["n1"]
            assert scheduler.homes(with_claims(a_pod("other"), "own")) == ["n1"]
        assert scheduler.refuses(with_claims(a_pod("other"), "data"), "n1") == (NOTHING_TO_BIND,)
