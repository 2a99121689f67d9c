"""The requests for memory in a ConfigMap."""

import json
from base64 import b64decode, b64encode

import pytest
from nodewright.api.errors import ApiServerError, ConflictError
from nodewright.memory_store.config_map import ConfigMapStore

PACKED = b"\x1f\x8bnot really"


class Wire:
    """Records requests and returns the next response."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.sent = []

    def get(self, path):
        return self._answer("GET", path, None)

    def post(self, path, body):
        return self._answer("POST", path, body)

    def patch(self, path, body):
        return self._answer("PATCH", path, body)

    def _answer(self, *request):
        self.sent.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return json.dumps(answer).encode()


def at(version, **content):
    return {"metadata": {"resourceVersion": version}, **content}


def store(*answers):
    wire = Wire(*answers)
    return ConfigMapStore(wire, "infra", "memo"), wire


def test_text_is_stored_as_text_and_all_else_packed() -> None:
    memo, wire = store(at("5"), at("6"), at("7"))
    assert memo.write(b'{"a": 1}', "") == "5"
    assert memo.write(PACKED, "5") == "6"
    assert memo.write(b"{}", "6") == "7"
    created, packed, text = wire.sent
    assert created[:2] == ("POST", "/api/v1/namespaces/infra/configmaps")
    assert created[2]["data"] == {"memory.json": '{"a": 1}'}
    assert packed[:2] == ("PATCH", "/api/v1/namespaces/infra/configmaps/memo")
    assert packed[2]["metadata"] == {"resourceVersion": "5"}
    assert packed[2]["data"] == {"memory.json": None}
    assert b64decode(packed[2]["binaryData"]["memory.json.gz"]) == PACKED
    assert text[2]["binaryData"] == {"memory.json.gz": None}


@pytest.mark.parametrize(
    ("found", "content"),
    [
        ({}, b""),
        ({"data": None, "binaryData": None}, b""),
        ({"data": {"note": "x"}}, b""),
        ({"data": {"memory.json": "{}"}, "binaryData": {}}, b"{}"),
        ({"binaryData": {"memory.json.gz": b64encode(PACKED).decode()}}, PACKED),
        ({"binaryData": {"memory.json.gz": "no base64!"}}, b"no base64!"),
    ],
)
def test_whatever_is_in_it_is_read(found, content) -> None:
    memo, _ = store(at("5", **found))
    assert (read := memo.read()) is not None
    assert (read.content, read.version) == (content, "5")


def test_a_missing_config_map_is_distinguished_from_an_unreadable_one() -> None:
    memo, _ = store(ApiServerError("not found", status=404), ApiServerError("away", status=503))
    assert memo.read() is None
    with pytest.raises(ApiServerError, match="away"):
        memo.read()


def test_one_that_has_gone_meanwhile_is_a_conflict() -> None:
    memo, _ = store(ApiServerError("not found", status=404))
    with pytest.raises(ConflictError):
        memo.write(b"{}", "5")


def test_content_that_was_set_aside_before_is_replaced() -> None:
    memo, wire = store(ConflictError("there is one", status=409), at("9"))
    memo.set_aside(b"\xff")
    assert [request[:2] for request in wire.sent] == [
        ("POST", "/api/v1/namespaces/infra/configmaps"),
        ("PATCH", "/api/v1/namespaces/infra/configmaps/memo-set-aside"),
    ]
    assert wire.sent[1][2]["metadata"] == {}
