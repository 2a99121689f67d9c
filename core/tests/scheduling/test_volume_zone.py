"""Filter VolumeZone."""

import pytest
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.storage import a_claim, a_storage_class, a_volume, with_claims

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
ELSEWHERE = ("node(s) had no available volume zone",)


@pytest.mark.parametrize(
    ("volume", "node", "reasons"),
    [
        ({ZONE: "a"}, {ZONE: "a"}, ()),
        ({ZONE: "a"}, {ZONE: "b"}, ELSEWHERE),
        ({ZONE: "a__b"}, {ZONE: "b"}, ()),
        ({ZONE: "a__"}, {ZONE: "b"}, ()),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, ELSEWHERE),
        ({OLD_ZONE: "a"}, {ZONE: "a"}, ()),
        ({OLD_ZONE: "a"}, {ZONE: "b"}, ELSEWHERE),
        ({ZONE: "a"}, {OLD_ZONE: "a"}, ELSEWHERE),
        ({ZONE: "a"}, {REGION: "r"}, ELSEWHERE),
        ({ZONE: "a"}, {}, ()),
        ({}, {ZONE: "a"}, ()),
    ],
)
def test_a_volume_with_places_is_used_there(schedule, volume, node, reasons) -> None:
    claim = a_claim(volume="volume")
    scheduler = schedule(a_node(labels=node), claim, a_volume(claim="data", labels=volume))
    assert scheduler.refuses(with_claims(a_pod(), "data")) == reasons


def test_a_claim_without_volume_says_nothing_about_places(schedule) -> None:
    scheduler = schedule(a_node(zone="a"), a_claim(), a_storage_class())
    assert scheduler.refuses(with_claims(a_pod(), "data")) == ()


def test_a_node_out_of_reach_is_told_of_before_its_zone(schedule) -> None:
    volume = a_volume(claim="data", labels={ZONE: "a"}, only={ZONE: "a"})
    scheduler = schedule(a_node(zone="b"), a_claim(volume="volume"), volume)
    assert scheduler.refuses(with_claims(a_pod(), "data")) == ("node(s) didn't match PersistentVolume's node affinity",)
