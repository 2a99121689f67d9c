"""Filter VolumeRestrictions."""

import pytest
from nodewright.objects.volume import Volume
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.storage import a_claim, a_volume, with_claims, with_volumes

NO_DISK = ("node(s) had no available disk",)
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


def ebs(**disk):
    return Volume(name="disk", aws_elastic_block_store=disk)


def gce(**disk):
    return Volume(name="disk", gce_persistent_disk=disk)


def iscsi(**disk):
    return Volume(name="disk", iscsi=disk)


def rbd(*monitors, image="i", read_only=False):
    return Volume(name="disk", rbd={"monitors": monitors, "pool": "p", "image": image, "readOnly": read_only})


@pytest.mark.parametrize(
    ("there", "wanted", "reasons"),
    [
        (ebs(volumeID="a"), ebs(volumeID="a"), NO_DISK),
        (ebs(volumeID="a", readOnly=True), ebs(volumeID="a", readOnly=True), NO_DISK),
        (ebs(volumeID="a"), ebs(volumeID="b"), ()),
        (gce(pdName="a"), gce(pdName="a", readOnly=True), NO_DISK),
        (gce(pdName="a", readOnly=True), gce(pdName="a", readOnly=True), ()),
        (iscsi(iqn="a"), iscsi(iqn="a"), NO_DISK),
        (iscsi(iqn="a", readOnly=True), iscsi(iqn="a", readOnly=True), ()),
        (rbd("m1", "m2"), rbd("m2", "m3"), NO_DISK),
        (rbd("m1"), rbd("m2"), ()),
        (rbd("m1"), rbd("m1", image="j"), ()),
        (rbd("m1", read_only=True), rbd("m1", read_only=True), ()),
    ],
)
def test_pods_of_a_node_share_a_disk_only_where_its_kind_allows_it(schedule, there, wanted, reasons) -> None:
    scheduler = schedule(a_node(), a_pod("other", node="node-1"), with_volumes(a_pod("holder", node="node-1"), there))
    assert scheduler.refuses(with_volumes(a_pod(), wanted)) == reasons


def test_of_pods_with_one_disk_each_node_takes_one(schedule) -> None:
    scheduler = schedule(a_node("n0"), a_node("n1"))
    assert scheduler.homes(with_volumes(a_pod(), ebs(volumeID="a")), 3) == ["n0", "n1"]


def test_a_claim_for_one_pod_keeps_all_others_off_every_node(schedule) -> None:
    scheduler = schedule(
        a_node("node-1"),
        a_node("node-2"),
        a_claim(volume="volume", modes=["ReadWriteOncePod"]),
        a_volume(claim="data"),
        with_claims(a_pod("holder", node="node-2"), "data"),
    )
    assert scheduler.refuses(with_claims(a_pod(), "data"), "node-1") == IN_USE
    scheduler.cluster.drop_pod("default/holder")
    assert scheduler.refuses(with_claims(a_pod(), "data"), "node-1") == ()


def test_only_the_first_of_pods_with_a_claim_for_one_pod_is_placed(schedule) -> None:
    claim = a_claim(volume="volume", modes=["ReadWriteOncePod"])
    scheduler = schedule(a_node("n0"), a_node("n1"), claim, a_volume(claim="data"))
    assert scheduler.homes(with_claims(a_pod(), "data"), 2) == ["n0"]


def test_a_claim_of_the_same_name_in_another_namespace_is_another_claim(schedule) -> None:
    claims = [a_claim(volume=f"v-{name}", namespace=name, modes=["ReadWriteOncePod"]) for name in ("default", "other")]
    holder = with_claims(a_pod("holder", namespace="other", node="node-1"), "data")
    scheduler = schedule(a_node(), *claims, a_volume("v-default"), a_volume("v-other"), holder)
    assert scheduler.refuses(with_claims(a_pod(), "data")) == ()


def test_moving_the_holder_frees_its_claim(schedule) -> None:
    holder = with_claims(a_pod("holder", node="n0"), "data")
    claim = a_claim(volume="volume", modes=["ReadWriteOncePod"])
    scheduler = schedule(a_node("n0"), a_node("n1"), claim, a_volume(claim="data"), holder)
    with scheduler.simulation.fork():
        scheduler.simulation.remove_nodes(["n0"])
        assert scheduler.homes(with_claims(a_pod("holder"), "data")) == ["n1"]
    assert scheduler.homes(with_claims(a_pod("holder"), "data")) == []
