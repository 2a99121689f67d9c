"""Memories of all kinds, and a store for them that needs no API server."""

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import UnionType
from typing import get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from nodewright.api import ErrorClass, Reason
from nodewright.api.errors import ConflictError
from nodewright.api.template import NodeTemplate
from nodewright.decision.memory import (
    Backoff,
    Changes,
    Condition,
    Conditions,
    ConsolidationMemory,
    CooldownMemory,
    DemandMemory,
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
from nodewright.decision.memory.memory import PLACES
from nodewright.memory_store.store import Stored
from nodewright.testing.builders import a_template
from nodewright.testing.clock import EPOCH

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
#: Every field has a value.
FULL = Memory(
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
        quotas={"aws:vcpus": replace(BACKOFF, group="a", amount=8)},
        errors={"a": {"Other:Busy:": EPOCH}},
        stopped_at={"i-3": EPOCH},
        incarnations={"i-1": "1"},
        unhealthy_since=EPOCH,
        respites={"a": {"grow": EPOCH}},
    ),
    demand=DemandMemory(arrivals={"default/web": EPOCH}),
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

_PLAIN = {
    datetime: st.datetimes(datetime(2000, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC)),
    timedelta: st.timedeltas(timedelta(0), timedelta(days=3000)),
    str: st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    int: st.integers(-(2**40), 2**40),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    NodeTemplate: st.sampled_from([a_template(), a_template(cpu="3", labels={"a": "ä"}, zone="eu-b")]),
}


def without_slices(memory):
    """The fields of all slices, by the names that they had when there were no slices."""
    found = {}
    for name, way in PLACES.items():
        value = memory
        for step in way:
            value = getattr(value, step)
        found[name] = value
    return found


def any_of(hint):
    """Values of a type with all its fields, so that a new field of memory is covered by itself."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is UnionType:
        return st.one_of(*map(any_of, parts))
    if origin in (dict, Mapping):
        return st.dictionaries(any_of(parts[0]), any_of(parts[1]), max_size=3)
    if origin is tuple and parts[-1] is ...:
        return st.lists(any_of(parts[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(any_of, parts))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    assert dataclasses.is_dataclass(hint), f"teach this test of {hint}"
    hints = get_type_hints(hint)
    return st.builds(hint, **{each.name: any_of(hints[each.name]) for each in dataclasses.fields(hint)})


MEMORIES = any_of(Memory)


class Shelf:
    """A store in this process; *before* and *after* can make writes fail."""

    place, aside, limit = "the shelf", "the other shelf", 750 * 1024

    def __init__(self, content=None):
        self.content = content
        self.version = 1 if content is not None else 0
        self.apart = []
        self.writes = 0
        self.before = lambda: None
        self.after = lambda: None
        self.reading = lambda: None

    def read(self):
        self.reading()
        return None if self.content is None else Stored(content=self.content, version=str(self.version))

    def write(self, content, version):
        self.before()
        if version != (str(self.version) if self.content is not None else ""):
            raise ConflictError("somebody was faster", status=409)
        self.writes += 1
        self.version += 1
        self.content = content
        self.after()
        return str(self.version)

    def set_aside(self, content):
        self.before()
        self.apart.append(content)
