"""What the filters say that count who else uses a pod's volumes: VolumeRestrictions and NodeVolumeLimits."""

import pytest

from .objects import ZONE, claim, csi_node, node, pod, storage_class, using, volume
from .oracle import Oracle

NO_DISK = "node(s) had no available disk"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
TOO_MANY = "node(s) exceed max volume count"

A, B = node("a", labels={ZONE: "za"}), node("b", labels={ZONE: "zb"})
WAITS = storage_class("waits")
DRIVER = "disk.example.com"


def outcome(pod, running=(), **objects):
    """The reason by node: None where the pod may run."""
    oracle = Oracle([A, B], running, **objects)
    refusals = {name: oracle.refusal(pod, name) for name in ("a", "b")}
    return {name: refusal and " + ".join(refusal.reasons) for name, refusal in refusals.items()}


# disks named in pods


def gce(**fields):
    return {"gcePersistentDisk": {"pdName": "one", **fields}}


def iscsi(**fields):
    return {"iscsi": {"iqn": "iqn-1", "lun": 0, **fields}}


def rbd(**fields):
    return {"rbd": {"monitors": ["m1", "m2"], "pool": "rbd", "image": "i", **fields}}


def ebs(**fields):
    return {"awsElasticBlockStore": {"volumeID": "vol-1", **fields}}


READ_ONLY = {"readOnly": True}


@pytest.mark.parametrize(
    ("wanted", "there", "clash"),
    [
        (gce(), gce(), True),
        (gce(), gce(pdName="two"), False),
        (gce(**READ_ONLY), gce(), True),
        (gce(**READ_ONLY), gce(**READ_ONLY), False),
        (ebs(), ebs(), True),
        (ebs(**READ_ONLY), ebs(**READ_ONLY), True),
        (ebs(), ebs(volumeID="vol-2"), False),
        (iscsi(), iscsi(lun=1), True),
        (iscsi(), iscsi(iqn="iqn-2"), False),
        (iscsi(**READ_ONLY), iscsi(**READ_ONLY), False),
        (rbd(), rbd(monitors=["m2", "m3"]), True),
        (rbd(), rbd(monitors=["m3"]), False),
        (rbd(), rbd(pool="other"), False),
        (rbd(), rbd(image="j"), False),
        (rbd(**READ_ONLY), rbd(**READ_ONLY), False),
        (gce(), ebs(), False),
    ],
)
def test_a_disk_is_shared_on_a_node_only_where_nobody_writes_and_ebs_never(wanted, there, clash) -> None:
    running = pod("r", on="a", volumes=[{"name": "d", **there}])
    refused = {"a": NO_DISK if clash else None, "b": None}
    assert outcome(pod(volumes=[{"name": "d", **wanted}]), [running]) == refused


def test_a_claim_for_one_pod_keeps_others_off_every_node() -> None:
    one = claim("c", volumeName="v", accessModes=["ReadWriteOncePod"])
    running = pod("r", on="a", volumes=using("c"))
    objects = {"claims": [one], "volumes": [volume("v")]}
    assert outcome(pod(volumes=using("c")), [running], **objects) == {"a": IN_USE, "b": IN_USE}
    assert outcome(pod(volumes=using("c")), **objects) == {"a": None, "b": None}
    elsewhere = pod("r", on="a", namespace="other", volumes=using("c"))
    assert outcome(pod(volumes=using("c")), [elsewhere], **objects) == {"a": None, "b": None}


# limits


def attached(number, driver=DRIVER, handle=None):
    """A bound claim and its volume."""
    source = {"driver": driver, "volumeHandle": handle or f"h{number}"}
    return claim(f"c{number}", volumeName=f"v{number}"), volume(f"v{number}", csi=source)


def storage(*pairs, **limits):
    claims, volumes = zip(*pairs, strict=True)
    return {"claims": claims, "volumes": volumes, "csi_nodes": [csi_node("a", **{DRIVER: 1, **limits})]}


def test_a_node_takes_as_many_volumes_of_a_driver_as_it_says() -> None:
    objects = storage(attached(0), attached(1))
    running = pod("r", on="a", volumes=using("c0"))
    assert outcome(pod(volumes=using("c1")), [running], **objects) == {"a": TOO_MANY, "b": None}
    assert outcome(pod(volumes=using("c1")), **objects) == {"a": None, "b": None}
    assert outcome(pod(volumes=using("c0", "c1")), **objects) == {"a": TOO_MANY, "b": None}


def test_a_volume_that_several_pods_use_counts_once() -> None:
    objects = storage(attached(0), attached(1, handle="h0"))
    running = pod("r", on="a", volumes=using("c0"))
    assert outcome(pod(volumes=using("c0")), [running], **objects) == {"a": None, "b": None}
    assert outcome(pod(volumes=using("c1")), [running], **objects) == {"a": None, "b": None}


def test_volumes_of_other_drivers_and_without_any_do_not_count() -> None:
    objects = storage(attached(0), attached(1, driver="other"))
    running = pod("r", on="a", volumes=using("c0"))
    assert outcome(pod(volumes=using("c1")), [running], **objects)["a"] is None
    assert outcome(pod(volumes=[{"name": "e", "emptyDir": {}}]), [running], **objects)["a"] is None


def test_a_driver_without_a_number_sets_no_limit() -> None:
    objects = storage(attached(0), attached(1), **{DRIVER: None})
    running = pod("r", on="a", volumes=using("c0"))
    assert outcome(pod(volumes=using("c1")), [running], **objects)["a"] is None


def test_an_open_claim_counts_for_the_driver_that_will_make_its_volume() -> None:
    objects = {"claims": [claim("c0", storageClassName="waits"), claim("c1", storageClassName="waits")]}
    objects |= {"storage_classes": [WAITS], "csi_nodes": [csi_node("a", **{DRIVER: 1})]}
    running = pod("r", on="a", volumes=using("c0"))
    assert outcome(pod(volumes=using("c1")), [running], **objects) == {"a": TOO_MANY, "b": None}
    assert outcome(pod(volumes=using("c0")), [running], **objects) == {"a": None, "b": None}
