"""Memory is read as it was written, by this version and its neighbours; other content does no harm."""

import gzip
import json
import random
import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from nodewright.api import ErrorClass, Reason
from nodewright.decision.memory import (
    Backoff,
    DemandMemory,
    HealthMemory,
    LastVerdict,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.memory_store.envelope import (
    FORMAT,
    Envelope,
    NewerFormatError,
    TooLargeError,
    UnusableError,
    decode,
    encode,
)
from nodewright.testing.clock import EPOCH

from core.tests.memory_store.memories import FULL, MEMORIES, without_slices

LIMIT = 750 * 1024
#: What the memory of health has had only since there are slices.
LATER = ("respites", "quotas", "errors", "stopped_at", "incarnations")


def an_envelope(memory=None, **changes):
    return Envelope(memory=memory or Memory(), seen_at=EPOCH, holder="pod-a_1", cluster="prod", **changes)


def written(memory, **changes):
    """Stored JSON as another version may write it; None leaves a key out."""
    document = {"format": FORMAT, "seenAt": "2030-01-01T00:00:00Z", "holder": "h", "memory": memory} | changes
    return json.dumps({key: value for key, value in document.items() if value is not None}).encode()


@settings(deadline=None, max_examples=100)
@given(MEMORIES)
def test_any_memory_comes_back_as_it_was(memory) -> None:
    decoded = decode(encode(an_envelope(memory), 10**9).content)
    assert decoded.envelope == an_envelope(memory)
    assert decoded.lost == {}


def test_a_small_memory_can_be_read_by_people_and_a_large_one_is_packed() -> None:
    small = Memory(unneeded=UnneededMemory(since={"n": EPOCH}))
    assert json.loads(encode(an_envelope(small), LIMIT).content)["memory"]["unneeded"]["since"] == {
        "n": "2030-01-01T00:00:00Z"
    }
    large = Memory(unneeded=UnneededMemory(since={f"node-{number}": EPOCH for number in range(10_000)}))
    encoded = encode(an_envelope(large), LIMIT)
    assert len(encoded.content) < 100_000 < len(gzip.decompress(encoded.content))
    assert decode(encoded.content).envelope.memory == large


def test_what_a_former_version_has_written_is_read_though_fields_were_missing_then() -> None:
    memory = decode(
        b'{"format":1,"version":"0.0.9","seenAt":"2030-01-01T00:00:00Z","memory":{"requests":{"a":{"at":'
        b'"2030-01-01T00:00:00Z","count":2}},"removals":{"n":{"group":"a","provider_id":"i","started":'
        b'"2030-01-01T00:00:00Z"}},"turn":7}}'
    ).envelope.memory
    assert memory == Memory(
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=2)}, turn=7),
        leaving=RemovalMemory(removals={"n": Removal(group="a", provider_id="i", started=EPOCH)}),
    )


def test_a_file_of_the_first_format_which_had_no_slices_is_read_whole() -> None:
    decoded = decode((Path(__file__).parent / "files" / "format-1.json").read_bytes())
    memory = replace(FULL, demand=DemandMemory(), health=replace(FULL.health, **{name: {} for name in LATER}))
    assert decoded.envelope == Envelope(memory=memory, seen_at=EPOCH, holder="host_1", cluster="prod-eu")
    assert decoded.lost == {}


def test_what_the_next_version_has_written_is_read_but_for_what_is_new() -> None:
    backoff = {
        "until": "2030-01-01T00:05:00Z",
        "pause": "PT5M",
        "failed_at": "2030-01-01T00:00:00Z",
        "error_class": "StockOut",
        "code": "DRY",
        "colour": "red",
    }
    standing = {"reason": "BlockedByPod", "since": "2030-01-01T00:00:00Z"}
    decoded = decode(
        written(
            {
                "feelings": {"n": "well"},
                "backoffs": {"a": backoff, "b": backoff | {"error_class": "Sabotage"}},
                "standings": {"n": standing, "m": standing | {"reason": "BadHairDay"}},
            },
            mood={"a": [1]},
        )
    )
    assert decoded.envelope.memory == Memory(
        health=HealthMemory(
            backoffs={
                "a": Backoff(
                    until=EPOCH + timedelta(minutes=5),
                    pause=timedelta(minutes=5),
                    failed_at=EPOCH,
                    error_class=ErrorClass.STOCK_OUT,
                    code="DRY",
                )
            }
        ),
        verdicts=VerdictMemory(last={"n": LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH)}),
    )
    assert decoded.lost == {"health.backoffs": 1, "verdicts.last": 1}


def test_a_newer_format_is_distinguished_from_damage() -> None:
    with pytest.raises(NewerFormatError, match="it has format 3, and this version of Nodewright knows up to 2"):
        decode(written({}, format=3))


TIME = "2030-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("memory", "left", "lost"),
    [
        ({"unneeded_since": {"n": TIME, "m": "9999-12-31T23:59:59-12:00"}}, {"unneeded_since": {"n": EPOCH}}, 1),
        ({"unneeded_since": {"n": TIME, "m": "2030-01-01T00:00:00"}}, {"unneeded_since": {"n": EPOCH}}, 1),
        ({"unneeded_since": {"n": TIME, "m": 12}}, {"unneeded_since": {"n": EPOCH}}, 1),
        ({"unneeded_since": {"n": TIME, "m": None}}, {"unneeded_since": {"n": EPOCH}}, 1),
        ({"unneeded_since": ["n"]}, {}, 1),
        ({"unneeded_since": None, "turn": 3}, {"turn": 3}, 1),
        ({"turn": "three"}, {}, 1),
        ({"turn": 10**400}, {}, 1),
        ({"turn": 2**70}, {}, 1),
        ({"turn": True}, {}, 1),
        ({"last_scale_up": "0001-01-01T00:00:00Z"}, {}, 1),
        ({"unexamined": ["n", 5, "m"]}, {"unexamined": ("n", "m")}, 1),
        ({"unexamined": {"n": 5}}, {}, 1),
        ({"requests": {"a": {"at": TIME, "count": 2}, "b": {"at": TIME}, "c": 1}}, {"requests": 1}, 2),
        ({"requests": {"a": {"at": TIME, "count": 2}, "b": {"at": TIME, "count": 2**63}}}, {"requests": 1}, 1),
        ({"backoffs": {"a": {"until": TIME, "pause": "P9999999D", "failed_at": TIME}}}, {}, 1),
        ({"hints": {"n": [["m", 1]], "o": [["m"]]}}, {"hints": {"n": (("m", 1),)}}, 1),
    ],
)
def test_what_can_not_be_is_left_out_alone(memory, left, lost) -> None:
    decoded = decode(written(memory))
    defaults = without_slices(Memory())
    for name, value in without_slices(decoded.envelope.memory).items():
        expected = left.get(name)
        if isinstance(expected, int) and not isinstance(value, int):
            assert len(value) == expected
        else:
            assert value == (defaults[name] if expected is None else expected)
    assert sum(decoded.lost.values()) == lost


def test_what_is_nested_without_end_is_refused() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    head = b'{"format":1,"seenAt":"2030-01-01T00:00:00Z","memory":{"turn":4,"hints":{"n":'
    with pytest.raises(UnusableError, match="it is no JSON object"):
        decode(head + deep + b"}}}")


LARGE = encode(
    an_envelope(Memory(unneeded=UnneededMemory(since={f"node-{n}": EPOCH for n in range(5000)}))), LIMIT
).content


#: Unusable content, and why it is unusable. Made on demand, as one is a bomb of 200 MB.
NO_MEMORY = {
    "not UTF-8": (lambda: b"\xff\xfe\x00", "it is no JSON object"),
    "null": (lambda: b"null", "it is no JSON object"),
    "truncated": (lambda: b'{"format":1,', "it is no JSON object"),
    "a list": (lambda: b"[]", "it is no JSON object"),
    "empty": (lambda: b"{}", "it does not name its format"),
    "another format": (lambda: written({}, format="one"), "it does not name its format"),
    "no time": (lambda: written({}, seenAt=None), "it does not say when it was last right"),
    "a naive time": (lambda: written({}, seenAt="2030-01-01T00:00:00"), "it does not say when it was last right"),
    "no memory": (lambda: written(None), "its memory is no JSON object"),
    "a list for memory": (lambda: written([1]), "its memory is no JSON object"),
    "packed and truncated": (lambda: LARGE[:-20], "its end is missing"),
    "packed and cut in two": (lambda: LARGE[:100], "its end is missing"),
    "packed and damaged": (lambda: LARGE[:50] + bytes(50) + LARGE[100:], "it can't be decompressed"),
    "a bomb": (lambda: gzip.compress(bytes(200_000_000), 1), "it is larger than any memory"),
    "packed and not UTF-8": (lambda: gzip.compress(b"\xff\xfe"), "it is no JSON object"),
}


@pytest.mark.parametrize("what", NO_MEMORY)
def test_unusable_content_is_refused_with_a_reason(what) -> None:
    make, why = NO_MEMORY[what]
    with pytest.raises(UnusableError, match=why):
        decode(make())


def names(count):
    """Names that can't be compressed."""
    chance = random.Random(1)
    return ["".join(chance.choices(string.ascii_letters + string.digits, k=30)) for _ in range(count)]


def test_what_has_no_room_is_left_out_in_order_of_what_is_cheapest_to_lose() -> None:
    nodes = names(4000)
    memory = Memory(
        unneeded=UnneededMemory(
            hints={name: ((name[::-1], 1),) for name in nodes},
            unremovable_until=dict.fromkeys(names(1000), EPOCH),
            since=dict.fromkeys(nodes, EPOCH),
        ),
        verdicts=VerdictMemory(
            last={name: LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod=name[3:]) for name in nodes}
        ),
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=2)}),
    )
    whole = len(encode(an_envelope(memory), 10**9).content)
    steps = {}
    for limit in range(whole, 0, -5_000):
        try:
            encoded = encode(an_envelope(memory), limit)
        except TooLargeError:
            break
        assert len(encoded.content) <= limit
        steps[encoded.shed] = decode(encoded.content).envelope.memory
    assert list(steps) == [
        (),
        ("hints",),
        ("hints", "details of verdicts"),
        ("hints", "details of verdicts", "verdicts"),
        ("hints", "details of verdicts", "verdicts", "unremovable nodes"),
    ]
    bare = replace(
        memory,
        unneeded=replace(memory.unneeded, hints={}, unremovable_until={}),
        verdicts=replace(memory.verdicts, last={}),
    )
    assert list(steps.values())[-1] == bare
    with pytest.raises(TooLargeError, match="bytes are more than the 20000 that it takes"):
        encode(an_envelope(memory), 20_000)


def test_equal_memories_are_written_equally() -> None:
    assert encode(an_envelope(Memory(orders=OrderMemory(turn=1))), LIMIT) == encode(
        an_envelope(Memory(orders=OrderMemory(turn=1))), LIMIT
    )
    at = datetime(2030, 1, 1, tzinfo=UTC)
    assert encode(replace(an_envelope(), seen_at=at), LIMIT) == encode(an_envelope(), LIMIT)
