"""What goes over the wire, read by Google's protobuf with Cluster Autoscaler's field numbers."""

import msgspec
import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from nodewright.api import NodeTemplate, PermanentError, Pod, Taint, parse_resources
from nodewright.testing import a_group, a_pod, an_option, pods_like
from nodewright_grpc import protocol
from nodewright_grpc.protocol import make_question, read_answer

from .schema import EXPANDER, Schema, fields_unknown_in

SCHEMAS = {release: Schema(release) for release in EXPANDER}


def asked(options, *, release, legacy_fields=True):
    """The question as a server made for *release* reads it: nodes by group, and (group, nodes, debug, pods)."""
    schema = SCHEMAS[release]
    request = schema["BestOptionsRequest"].FromString(make_question(options, legacy_fields=legacy_fields))
    if release == "1.33":
        nodes = dict(request.nodeMap)
        read = [(each.nodeGroupId, each.nodeCount, each.debug, list(each.pod)) for each in request.options]
    else:
        nodes = {group: schema["Node"].FromString(node) for group, node in request.nodeBytesMap.items()}
        read = [
            (each.nodeGroupId, each.nodeCount, each.debug, [schema["Pod"].FromString(pod) for pod in each.podBytes])
            for each in request.options
        ]
    for message in (*nodes.values(), *(pod for _, _, _, pods in read for pod in pods)):
        assert list(fields_unknown_in(message)) == []
    return nodes, read


def sent_pod(manifest, release="1.36"):
    """*manifest*, read as Nodewright reads it, sent, and read by a server."""
    pod = msgspec.convert(manifest, Pod)
    _, [(_, _, _, [read])] = asked([an_option(pods=[pods_like(pod, 1)])], release=release)
    return MessageToDict(read, always_print_fields_with_no_presence=False)


@pytest.mark.parametrize("release", EXPANDER)
def test_servers_of_all_generations_read_the_question(release) -> None:
    few, many = pods_like(a_pod("web", namespace="shop"), 2), pods_like(a_pod("db", cpu="2"), 300)
    options = [an_option(a_group("spot", size=1, max_size=9), nodes=2, pods=[few, many]), an_option("solid", nodes=70)]
    nodes, read = asked(options, release=release)
    assert sorted(nodes) == ["solid", "spot"]
    assert [each[:3] for each in read] == [("spot", 2, "spot (0 to 9, now 1)"), ("solid", 70, "solid (0 to 10, now 0)")]
    names = [(pod.metadata.namespace, pod.metadata.name) for pod in read[0][3]]
    assert names == [("shop", "web-0"), ("shop", "web-1"), *(("default", f"db-{number}") for number in range(300))]
    assert {pod.spec.containers[0].resources.requests["cpu"].string for pod in read[0][3][2:]} == {"2"}


def test_without_legacy_fields_there_are_only_the_present_ones() -> None:
    options = [an_option("spot", pods=3)]
    nodes, [(group, count, _, pods)] = asked(options, release="1.33", legacy_fields=False)
    assert (nodes, group, count, pods) == ({}, "spot", 1, [])
    nodes, [(_, _, _, pods)] = asked(options, release="1.36", legacy_fields=False)
    assert (list(nodes), len(pods)) == (["spot"], 3)
    short, long = (len(make_question(options, legacy_fields=legacy)) for legacy in (False, True))
    assert short < 0.55 * long


@pytest.mark.parametrize("release", EXPANDER)
def test_pods_arrive_with_all_that_places_them(release) -> None:
    def selector(app):
        return {
            "matchLabels": {"app": app},
            "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
        }

    def near(app):
        term = {
            "labelSelector": selector(app),
            "namespaces": ["shop"],
            "topologyKey": "zone",
            "namespaceSelector": selector("n"),
            "matchLabelKeys": ["m"],
            "mismatchLabelKeys": ["x"],
        }
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}

    def container(name, **more):
        return {"name": name, "resources": {"requests": {"cpu": "250m"}, "limits": {"nvidia.com/gpu": "1"}}, **more}

    spec = {
        "containers": [
            container("main", ports=[{"hostPort": 8080, "protocol": "UDP", "hostIP": "10.0.0.1"}]),
            container("side"),
        ],
        "initContainers": [container("first", restartPolicy="Always")],
        "resources": {"requests": {"memory": "1Gi"}},
        "overhead": {"cpu": "10m"},
        "nodeSelector": {"disk": "ssd"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["4"]}],
                            "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}],
                        }
                    ]
                }
            },
            "podAffinity": near("cache"),
            "podAntiAffinity": near("web"),
        },
        "tolerations": [
            {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": "30"},
            {"key": "team", "operator": "Equal", "value": "a"},
        ],
        "topologySpreadConstraints": [
            {
                "maxSkew": 2,
                "topologyKey": "zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": selector("web"),
                "minDomains": 3,
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
                "matchLabelKeys": ["m"],
            }
        ],
        "hostNetwork": True,
        "priority": -7,
        "priorityClassName": "low",
        "preemptionPolicy": "Never",
        "schedulerName": "mine",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": "0",
    }
    metadata = {
        "name": "web-0",
        "namespace": "default",
        "labels": {"app": "web", "empty": ""},
        "annotations": {"note": "größer"},
        "ownerReferences": [
            {"kind": "ReplicaSet", "name": "web", "uid": "u", "apiVersion": "apps/v1", "controller": True}
        ],
    }
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    manifest = {
        "metadata": {**metadata, "name": "web"},
        "spec": {
            **spec,
            "tolerations": [{**spec["tolerations"][0], "tolerationSeconds": 30}, spec["tolerations"][1]],
            "terminationGracePeriodSeconds": 0,
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "data-web", "readOnly": True}},
                {"name": "tmp", "emptyDir": {"medium": "Memory"}},
            ],
        },
        "status": {"phase": "Pending", "conditions": conditions},
    }
    read = sent_pod(manifest, release)
    assert _plain(read.pop("metadata")) == metadata
    assert read.pop("status") == {"phase": "Pending", "conditions": conditions}
    assert read["spec"].pop("volumes") == [
        {"name": "data", "volumeSource": {"persistentVolumeClaim": {"claimName": "data-web", "readOnly": True}}},
        {"name": "tmp", "volumeSource": {"emptyDir": {"medium": "Memory"}}},
    ]
    assert _plain(read) == {"spec": spec}


def _plain(read):
    """Quantities as texts, and without what says nothing."""
    if isinstance(read, list):
        return [_plain(each) for each in read]
    if not isinstance(read, dict):
        return read
    if read.keys() == {"string"}:
        return read["string"]
    return {key: _plain(value) for key, value in read.items()}


def test_defaults_of_the_api_server_are_sent_and_a_priority_of_0_is_told_from_none() -> None:
    bare = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"containers": [{"name": "main"}]}}
    spec = sent_pod(bare)["spec"]
    assert (spec["schedulerName"], spec["restartPolicy"], "priority" in spec) == ("default-scheduler", "Always", False)
    assert sent_pod({**bare, "spec": {**bare["spec"], "priority": 0}})["spec"]["priority"] == 0


def test_what_belongs_to_one_pod_alone_is_not_told_of_the_others() -> None:
    read = sent_pod({"metadata": {"name": "web", "namespace": "default", "uid": "u-1", "resourceVersion": "5"}})
    assert read["metadata"] == {"name": "web-0", "namespace": "default"}


@pytest.mark.parametrize("release", EXPANDER)
def test_each_group_comes_with_what_a_new_node_of_it_looks_like(release) -> None:
    template = NodeTemplate(
        labels={"zone": "a"},
        annotations={"who": "me"},
        taints=(Taint(key="spot", value="yes", effect="NoSchedule"), Taint(key="x", effect="NoExecute")),
        capacity=parse_resources({"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "1"}),
        allocatable=parse_resources({"cpu": "3920m", "memory": "15000000001", "pods": "110"}),
        unschedulable=True,
    )
    nodes, _ = asked([an_option(a_group("spot", template=template))], release=release)
    assert _plain(MessageToDict(nodes["spot"])) == {
        "metadata": {
            "name": "template-node-for-spot",
            "labels": {"zone": "a", "kubernetes.io/hostname": "template-node-for-spot"},
            "annotations": {"who": "me"},
        },
        "spec": {
            "unschedulable": True,
            "taints": [{"key": "spot", "value": "yes", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}],
        },
        "status": {
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110", "nvidia.com/gpu": "1"},
            "allocatable": {"cpu": "3920m", "memory": "15000000001", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def test_a_question_that_would_be_too_long_is_not_made(monkeypatch) -> None:
    monkeypatch.setattr(protocol, "LONGEST", 1 << 20)
    options = [an_option(name, pods=3000) for name in ("spot", "solid")]
    with pytest.raises(PermanentError) as refusal:
        make_question(options, legacy_fields=True)
    assert str(refusal.value) == (
        "2 options with 6000 pods in all take more than 1 MiB, which is too much for one request: "
        "let another expander leave fewer options, or lower scaleUp.maxNodesPerScaleUp"
    )


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "nodeGroupId": st.text("spot-ß\0/"),
                "nodeCount": st.integers(-(2**31), 2**31 - 1),
                "debug": st.text("d", max_size=300),
                "podBytes": st.lists(st.binary(max_size=300), max_size=3),
            },
        ),
        max_size=5,
    )
)
def test_any_answer_of_a_server_is_read(options) -> None:
    answer = SCHEMAS["1.36"]["BestOptionsResponse"](options=options).SerializeToString()
    assert read_answer(answer) == [option.get("nodeGroupId", "") for option in options]


def test_fields_of_other_kinds_that_a_server_may_send_are_passed_over() -> None:
    unknown = b"\x4d" + bytes(4) + b"\x51" + bytes(8) + b"\x58\x96\x01"
    assert read_answer(unknown + b"\x0a\x06" + b"\x0a\x04spot" + unknown) == ["spot"]


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (b"\x0a\x09\x0a\x04spot", "it is cut off"),
        (b"\x0a", "it is cut off"),
        (b"\x0b", "the wire type 3 is unknown"),
        (b"\x0a\x03\x0a\x01\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ],
)
def test_an_answer_that_is_none_is_named(answer, mistake) -> None:
    with pytest.raises(ValueError, match="^" + mistake.replace("(", "\\(")):
        read_answer(answer)
