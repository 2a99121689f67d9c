"""Lists and watches are decoded however the stream is cut."""

import json
import tracemalloc

import msgspec
import pytest
from nodewright.api import ApiServerError
from nodewright.kube.list_watch import events_of, identity_of, loses_version, read_page

NAME = "größer-😀"
EVENTS = [{"type": "ADDED", "object": {"metadata": {"name": f"{NAME}-{n}"}}} for n in range(3)]
STREAM = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in EVENTS)


def names(pieces):
    return [identity_of(event.object).key for events in events_of(pieces) for event in events]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_a_watch_is_read_wherever_its_pieces_end(size) -> None:
    """Cuts fall even in the middle of a character."""
    pieces = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert names(pieces) == [f"{NAME}-{n}" for n in range(3)]


def test_events_that_come_together_are_handed_on_together() -> None:
    assert [len(events) for events in events_of([STREAM, STREAM[:10], STREAM[10:]])] == [3, 3]


def test_a_line_that_was_not_ended_is_no_event() -> None:
    assert names([STREAM[:-1]]) == [f"{NAME}-{n}" for n in range(2)]


def test_an_object_of_many_pieces_is_copied_once_and_not_with_each() -> None:
    body = b'{"type":"ADDED","object":{"metadata":{"name":"big"},"data":"%b"}}\n' % (b"x" * 1_500_000)
    pieces = [body[start : start + 1024] for start in range(0, len(body), 1024)]
    tracemalloc.start()
    assert names(pieces) == ["big"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Once whole, and its object once more.
    assert peak < 5 * len(body)


def test_a_line_that_is_no_event_is_refused() -> None:
    with pytest.raises(msgspec.MsgspecError):
        names([b"<html>the proxy is ill</html>\n"])


def test_an_empty_list_may_be_null() -> None:
    page = read_page(b'{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":null}')
    assert (page.items, page.metadata.resource_version, page.metadata.continue_) == (None, "7", "")


@pytest.mark.parametrize(
    "status", [{"code": 410}, {"code": 410, "reason": "Gone"}, {"reason": "Expired"}, {"code": 0, "reason": "Gone"}]
)
def test_an_expired_version_is_recognised_by_code_or_reason(status) -> None:
    assert identity_of(msgspec.Raw(json.dumps({"kind": "Status", **status}).encode())).is_expired


def test_other_refusals_do_not_lose_the_version() -> None:
    assert not identity_of(msgspec.Raw(b'{"kind":"Status","code":500,"reason":"InternalError"}')).is_expired
    assert not loses_version(ApiServerError("the proxy waited too long", status=504))
    assert not loses_version(ApiServerError("GET /api/v1/pods: slow down", status=429))


@pytest.mark.parametrize(
    "error",
    [
        ApiServerError("Expired", status=410),
        ApiServerError("Timeout: Too large resource version: 9, current: 3", status=504),
        msgspec.DecodeError("no JSON"),
    ],
)
def test_some_answers_lose_the_version(error) -> None:
    assert loses_version(error)


def test_an_object_with_nothing_that_can_be_read_has_no_name() -> None:
    assert identity_of(msgspec.Raw(b'{"metadata":{"name":7}}')).key == ""
