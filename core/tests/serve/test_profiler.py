"""Profiles show where threads are, in pprof's format and as text."""

import gzip
import tracemalloc
from threading import Event, Thread

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from nodewright.serve.endpoints import Endpoints, Request


def _profile_message():
    """The message type of a profile by its definition: number, type and repetition of each field read here."""
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="pprof", syntax="proto3")
    field = descriptor_pb2.FieldDescriptorProto
    kinds = {"int": field.TYPE_INT64, "uint": field.TYPE_UINT64, "str": field.TYPE_STRING}
    messages = {
        "ValueType": [("type", 1, "int", False), ("unit", 2, "int", False)],
        "Label": [("key", 1, "int", False), ("str", 2, "int", False)],
        "Sample": [("location_id", 1, "uint", True), ("value", 2, "int", True), ("label", 3, "Label", True)],
        "Line": [("function_id", 1, "uint", False), ("line", 2, "int", False)],
        "Location": [("id", 1, "uint", False), ("line", 4, "Line", True)],
        "Function": [("id", 1, "uint", False), ("name", 2, "int", False), ("filename", 4, "int", False)],
        "Profile": [
            ("sample_type", 1, "ValueType", True),
            ("sample", 2, "Sample", True),
            ("location", 4, "Location", True),
            ("function", 5, "Function", True),
            ("string_table", 6, "str", True),
            ("duration_nanos", 10, "int", False),
        ],
    }
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for label, number, kind, repeated in fields:
            more = message.field.add(name=label, number=number, label=3 if repeated else 1)
            if kind in kinds:
                more.type = kinds[kind]
            else:
                more.type, more.type_name = field.TYPE_MESSAGE, f".pprof.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pprof.Profile"))


PROFILE = _profile_message()


def read(body):
    """Samples of a profile: stack, innermost first, values and thread."""
    profile = PROFILE.FromString(gzip.decompress(body))
    text = profile.string_table
    assert text[0] == ""
    functions = {each.id: text[each.name] for each in profile.function}
    places = {each.id: functions[each.line[0].function_id] for each in profile.location}
    kinds = [f"{text[each.type]}/{text[each.unit]}" for each in profile.sample_type]
    samples = [
        ([places[at] for at in each.location_id], list(each.value), [text[label.str] for label in each.label])
        for each in profile.sample
    ]
    return kinds, samples


@pytest.fixture
def ask(watcher):
    endpoints = Endpoints(watcher.metrics, profiling=True)
    return lambda path, query="": endpoints.respond(Request(path=path, query=query))


@pytest.fixture
def busy():
    """A thread that waits in a function that the test can find."""
    end, there = Event(), Event()

    def stand_here():
        there.set()
        end.wait(30)

    thread = Thread(target=stand_here, name="busy")
    thread.start()
    assert there.wait(10)
    yield "stand_here"
    end.set()
    thread.join()


def test_a_profile_has_the_stacks_of_all_threads_with_their_time(ask, busy) -> None:
    answer = ask("/debug/pprof/profile", "seconds=0.2")
    assert answer.content_type == "application/octet-stream"
    kinds, samples = read(answer.body)
    assert kinds == ["samples/count", "wall/nanoseconds"]
    stack, (count, nanoseconds), thread = next(each for each in samples if each[2] == ["busy"])
    # The innermost frame first.
    outer = next(index for index, name in enumerate(stack) if name.endswith(busy))
    assert "wait" in stack[0]
    assert stack[outer + 1].endswith("Thread.run")
    assert count > 1
    assert nanoseconds == pytest.approx(0.2e9, rel=0.05)
    assert thread == ["busy"]


def test_a_profile_is_lines_for_flame_graphs_if_asked_for(ask, busy) -> None:
    answer = ask("/debug/pprof/profile", "seconds=0.05&debug=1")
    (line,) = [line for line in answer.body.decode().splitlines() if line.startswith("busy;")]
    stack, _, count = line.rpartition(" ")
    assert busy in stack
    assert int(count) >= 1


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "121", "long"])
def test_a_profile_takes_a_time_within_bounds(ask, seconds) -> None:
    answer = ask("/debug/pprof/profile", f"seconds={seconds}")
    assert (answer.status, answer.body) == (400, b"use seconds=N with a number above 0 and up to 120")


def test_one_profile_at_a_time_is_taken(ask) -> None:
    asked = Thread(target=ask, args=("/debug/pprof/profile", "seconds=1"))
    asked.start()
    statuses = set()
    while asked.is_alive():
        statuses.add(ask("/debug/pprof/profile", "seconds=0.001").status)
    assert 429 in statuses


def test_threads_are_shown_for_people_and_for_tools(ask, busy) -> None:
    told = ask("/debug/pprof/goroutine", "debug=2").body.decode()
    (part,) = [part for part in told.split("thread ") if part.startswith("busy\n")]
    assert busy in part
    kinds, samples = read(ask("/debug/pprof/goroutine").body)
    assert kinds == ["goroutine/count"]
    assert ["busy"] in [thread for _, _, thread in samples]


def test_the_heap_is_shown_only_if_python_traces_allocations(ask) -> None:
    assert ask("/debug/pprof/heap").status == 501
    tracemalloc.start()
    try:
        kept = bytearray(3_000_000)
        kinds, samples = read(ask("/debug/pprof/heap").body)
    finally:
        tracemalloc.stop()
    assert kinds == ["inuse_objects/count", "inuse_space/bytes"]
    assert any(values[1] >= len(kept) and __file__ in stack[0] for stack, values, _ in samples)
