"""What is remembered of groups and their machines survives a restart."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, Instance, InstanceState, Reason
from nodewright.decision.health import adopt_orders
from nodewright.decision.memory import (
    Backoff,
    Changes,
    Condition,
    Conditions,
    ConsolidationMemory,
    CooldownMemory,
    Evictions,
    HealthMemory,
    Intention,
    KnownTemplate,
    LastVerdict,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    Replacement,
    ScaleUpRequest,
    Shortage,
    StatusMemory,
    TemplateMemory,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.testing.builders import a_group, a_node, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

BACKOFF = Backoff(
    until=EPOCH,
    pause=timedelta(minutes=5),
    failed_at=EPOCH,
    error_class=ErrorClass.STOCK_OUT,
    code="Dry",
    pool="eu-a/c5",
    message="no more machines",
)
HEALTHY = Condition(status="Healthy", since=EPOCH)
MEMORY = Memory(
    unneeded=UnneededMemory(
        since={"n": EPOCH}, unremovable_until={"m": EPOCH}, unexamined=("o",), hints={"n": (("p", 2), ("q", 1))}
    ),
    verdicts=VerdictMemory(
        last={"n": LastVerdict(reason=Reason.BLOCKED_BY_POD, since=EPOCH, pod="default/web", cause="NotReplicated")}
    ),
    health=HealthMemory(
        unregistered_since={"i-1": EPOCH},
        failed_since={"i-2": EPOCH},
        shortages={"a": Shortage(since=EPOCH, machines=1, target=4)},
        backoffs={"a": BACKOFF},
        pools={"aws:eu-a/c5": BACKOFF},
        unhealthy_since=EPOCH,
    ),
    orders=OrderMemory(
        requests={"a": ScaleUpRequest(at=EPOCH, count=3, ours=False)},
        intentions=(Intention(group="a", kind="uid/0123", count=2),),
        turn=3,
    ),
    leaving=RemovalMemory(
        removals={"o": Removal(group="a", provider_id="i-3", started=EPOCH)}, evictions=(Evictions(at=EPOCH, count=7),)
    ),
    consolidation=ConsolidationMemory(
        replacements=(
            Replacement(
                nodes={"o": "i-3"}, group="b", count=1, at=EPOCH, since=EPOCH, saving=0.5, begun=("o",), owners=("uid",)
            ),
        ),
        left_alone_until={"p": EPOCH},
        examined="q",
        no_search_until=EPOCH,
    ),
    learnt=TemplateMemory(templates={"a": KnownTemplate(promised="x", likeness=a_template())}),
    cooldown=CooldownMemory(
        groups={"a": Changes(grown=EPOCH, shrunk=EPOCH, stuck=EPOCH)},
        cluster=Changes(grown=EPOCH, shrunk=EPOCH, stuck=EPOCH),
    ),
    status=StatusMemory(conditions={"": Conditions(health=HEALTHY, scale_up=HEALTHY, scale_down=HEALTHY)}),
)


@pytest.mark.parametrize("name", list(vars(MEMORY)))
def test_every_field_survives_json(name):
    assert getattr(MEMORY, name), "give it a value, so that this test can fail"
    assert getattr(Memory.from_json(MEMORY.to_json()), name) == getattr(MEMORY, name)


def test_the_memory_of_an_older_version_is_understood():
    assert Memory.from_json(b'{"requests": {"a": {"at": "2030-01-01T00:00:00Z", "count": 1}}}') == Memory(
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=1)})
    )


def test_what_the_cloud_owes_or_has_not_started_yet_counts_as_ordered_when_a_life_begins():
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
