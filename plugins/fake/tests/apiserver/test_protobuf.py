import pytest
from nodewright_fake.apiserver.protobuf import MEDIA_TYPE, parsed_protobuf
from nodewright_fake.apiserver.status import StatusError


def field(number: int, content: int | str | bytes) -> bytes:
    """One field of a message, of less than 128 bytes."""
    if isinstance(content, int):
        return bytes((number << 3, content))
    encoded = content.encode() if isinstance(content, str) else content
    return bytes((number << 3 | 2, len(encoded))) + encoded


def sent(api_version: str, kind: str, *fields: bytes) -> bytes:
    identity = field(1, api_version) + field(2, kind)
    raw = b"".join(fields)
    assert len(raw) < 128
    return b"k8s\x00" + field(1, identity) + field(2, raw) + field(3, "") + field(4, "")


NAMED = field(1, field(1, "x") + field(2, "") + field(7, 0) + field(8, b""))


@pytest.mark.parametrize(
    ("body", "parsed"),
    [
        (
            sent("v1", "ConfigMap", NAMED, field(2, field(1, "a") + field(2, "b")), field(2, field(1, "c"))),
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b", "c": ""}},
        ),
        (
            sent("v1", "Secret", NAMED, field(2, field(1, "a") + field(2, "b"))),
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"a": "Yg=="}},
        ),
        (
            sent(
                "policy/v1",
                "PodDisruptionBudget",
                NAMED,
                field(2, field(1, field(1, 1) + field(3, "50%"))),
                field(3, b"\x08\x00"),
            ),
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "x"},
                "spec": {"minAvailable": "50%"},
            },
        ),
        (
            sent("policy/v1", "PodDisruptionBudget", NAMED, field(2, field(3, field(2, 2)))),
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "x"},
                "spec": {"maxUnavailable": 2},
            },
        ),
        (
            sent("v1", "ResourceQuota", NAMED, field(2, field(1, field(1, "cpu") + field(2, field(1, "2"))))),
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "x"},
                "spec": {"hard": {"cpu": "2"}},
            },
        ),
        (
            sent("apps/v1", "Deployment", NAMED, field(2, field(1, 0) + field(5, 0) + field(7, 0))),
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replicas": 0}},
        ),
        (
            sent("scheduling.k8s.io/v1", "PriorityClass", NAMED, b"\x10" + b"\xff" * 9 + b"\x01", field(3, 1)),
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": "x"},
                "value": -1,
                "globalDefault": True,
            },
        ),
        (
            sent("v1", "DeleteOptions", field(1, 5), field(4, "Orphan"), field(5, "All")),
            {
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "gracePeriodSeconds": 5,
                "propagationPolicy": "Orphan",
                "dryRun": ["All"],
            },
        ),
    ],
)
def test_protobuf_stands_for_json(body, parsed) -> None:
    assert parsed_protobuf(body) == parsed


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (sent("v1", "Pod", NAMED), "protobuf of kind Pod"),
        (sent("v1", "ConfigMap", NAMED, field(9, "news")), "protobuf field 9 of ConfigMap"),
    ],
)
def test_what_is_not_known_is_refused_with_a_way_out(body, what) -> None:
    with pytest.raises(StatusError) as refusal:
        parsed_protobuf(body)

    assert refusal.value.code == 415
    assert refusal.value.message == (
        f"{what} is not known to this server: send it as JSON (kubectl create -f FILE, kubectl apply -f FILE)"
    )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{}", "is no protobuf as Kubernetes writes it"),
        (sent("v1", "ConfigMap", NAMED)[:-6], "it breaks off in the middle"),
        (sent("v1", "ConfigMap", field(1, 1)), "there is a number where a text or a message belongs"),
        (sent("apps/v1", "Deployment", field(2, field(1, "x"))), "there is a text or a message where a number belongs"),
        (sent("v1", "ConfigMap", b"\x0b"), "there is no wire type 3"),
    ],
)
def test_nonsense_is_a_bad_request(body, problem) -> None:
    with pytest.raises(StatusError) as refusal:
        parsed_protobuf(body)

    assert refusal.value.code == 400
    assert problem in refusal.value.message


def test_an_object_may_be_created_from_protobuf(raw) -> None:
    body = sent("v1", "ConfigMap", NAMED, field(2, field(1, "a") + field(2, "b")))

    answer = raw.send("POST", "/api/v1/namespaces/default/configmaps", body, content_type=MEDIA_TYPE)

    assert (answer.status, answer.body["data"]) == (201, {"a": "b"})
