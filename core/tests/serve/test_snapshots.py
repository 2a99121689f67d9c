"""The content of a loop's snapshot."""

import json

import msgspec
from nodewright.api import Decision, Reason, Verdict
from nodewright.objects.volume import Volume
from nodewright.serve.snapshots import snapshot
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_world


def taken(world, decision=None):
    return json.loads(msgspec.json.encode(snapshot(world, decision or Decision(at=EPOCH), EPOCH)))


def names(things):
    return [each["metadata"]["name"] for each in things]


def test_nodes_are_there_with_their_pods_each_under_its_own_name() -> None:
    pods = [a_pod("web-1", node="n"), a_pod("web-2", node="n"), a_pod("elsewhere", node="m"), a_pod("waiting")]
    found = taken(a_world(nodes={"": [a_node("n"), a_node("m"), a_node("empty")]}, pods=pods))
    placed = {each["Node"]["metadata"]["name"]: names(each["Pods"]) for each in found["NodeList"]}
    assert placed == {"n": ["web-1", "web-2"], "m": ["elsewhere"], "empty": []}
    first = found["NodeList"][0]["Pods"][1]
    assert first["spec"]["nodeName"] == "n"
    assert first["metadata"]["uid"] == "uid-of-default/web-2"
    assert first["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "100m"


def test_templates_are_there_by_group() -> None:
    found = taken(a_world(groups=[a_group("a", zone="eu-a")]))
    template = found["TemplateNodes"]["a"]["Node"]
    assert template["metadata"]["name"] == "template-node-for-a"
    assert template["metadata"]["labels"] == {"topology.kubernetes.io/zone": "eu-a"}
    assert template["status"]["allocatable"] == {"cpu": "4", "memory": "16Gi", "pods": "110"}


def test_pods_that_found_room_are_listed_with_the_time_of_the_loop() -> None:
    fits = {"default/fits": Verdict(reason=Reason.FITS), "default/not": Verdict(reason=Reason.NO_GROUP_FITS)}
    found = taken(a_world(pods=[a_pod("fits"), a_pod("not")]), Decision(at=EPOCH, pods=fits))
    assert names(found["UnscheduledPodsCanBeScheduled"]) == ["fits"]
    assert found["StartTimestamp"] == found["EndTimestamp"] == EPOCH.isoformat().replace("+00:00", "Z")
    assert found["Error"] == ""


def test_what_people_keep_in_annotations_and_volumes_is_left_out() -> None:
    kept = "cluster-autoscaler.kubernetes.io/safe-to-evict"
    notes = {"kubectl.kubernetes.io/last-applied-configuration": "hunter2", kept: "true"}
    pod = a_pod("web", node="n", annotations=notes)
    volume = Volume(name="data", csi={"driver": "d", "volumeAttributes": {"password": "hunter2"}})
    pod = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, volumes=(volume,)))
    found = taken(a_world(nodes={"": [a_node("n", annotations=notes)]}, pods=[pod]))
    assert "hunter2" not in json.dumps(found)
    (shown,) = found["NodeList"][0]["Pods"]
    assert shown["metadata"]["annotations"] == {kept: "true"}
    assert shown["spec"]["volumes"] == [{"name": "data", "csi": {}}]
