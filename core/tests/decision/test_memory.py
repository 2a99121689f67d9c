"""What is remembered of groups and their machines survives a restart."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Instance, InstanceState
from nodewright.decision.health import adopt_orders
from nodewright.decision.memory import Memory, OrderMemory, ScaleUpRequest
from nodewright.testing.builders import a_group, a_node
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

from core.tests.memory_store.memories import FULL


@pytest.mark.parametrize(
    ("part", "name"), [(part, name) for part, each in FULL.slices().items() for name in vars(each)]
)
def test_every_field_survives_json(part, name) -> None:
    known, read = FULL.slices()[part], Memory.from_json(FULL.to_json()).slices()[part]
    assert getattr(known, name) != getattr(type(known)(), name), "give it a value, so that this test can fail"
    assert getattr(read, name) == getattr(known, name)


def test_memory_that_was_written_without_slices_is_understood() -> None:
    assert Memory.from_json(b'{"requests": {"a": {"at": "2030-01-01T00:00:00Z", "count": 1}}}') == Memory(
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=1)})
    )


def test_what_the_cloud_owes_or_has_not_started_yet_counts_as_ordered_when_a_life_begins() -> None:
    groups = [a_group("owed"), a_group("starting", size=2), a_group("full", size=1), a_group("known", size=1)]
    groups[0] = replace(groups[0], target_size=2)
    groups[1] = replace(
        groups[1], instances=(*groups[1].instances[:1], Instance(id="new", state=InstanceState.CREATING))
    )
    nodes = {
        "starting": [a_node("s", ready=False, provider_id="fake://starting-0")],
        "full": [a_node("f", provider_id="fake://full-0")],
    }
    known = Memory(orders=OrderMemory(requests={"known": ScaleUpRequest(at=EPOCH, count=1)}))
    adopted = adopt_orders(a_world(groups=groups, nodes=nodes), known.orders, EPOCH + timedelta(minutes=1))
    assert {group: request.count for group, request in adopted.requests.items()} == {
        "owed": 2,
        "starting": 2,
        "known": 1,
    }
    assert adopted.requests["known"].at == EPOCH
