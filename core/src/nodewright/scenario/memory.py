"""What is remembered in a scenario: open orders as Cluster Autoscaler's have them, the rest as Nodewright stores it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from nodewright.api.group import GroupFacts
from nodewright.decision.memory import KnownTemplate, Memory, ScaleUpRequest
from nodewright.decision.memory.memory import in_slices
from nodewright.decision.templates.node_template import fingerprint
from nodewright.objects.meta import Time
from nodewright.scenario.fields import Codec, Entry, Field, Form, ListOf, MapOf, name_of, wrong
from nodewright.scenario.names import Names, Role
from nodewright.scenario.objects import TAINTS, TEMPLATE
from nodewright.scenario.sieve import Scope, each, hidden_as, keyed, named, record

#: In place of the fingerprint of a provider's template: it is the one that the group has in this scenario.
_AS_IT_IS = "as it is"


@dataclass(frozen=True, kw_only=True)
class _Order:
    group: str
    increase: int
    time: datetime


_ORDER = Codec(_Order, Field("group", name_of(Role.GROUP)), Field("increase", int), Field("time", Time))
_ORDERS = Field("orders", ListOf(_ORDER), (), key="scaleUpRequests")
_MEMORY = Field("memory", MapOf(Form()), {})
KEYS = (_ORDERS.key, _MEMORY.key)


def read_memory(document: Mapping[str, Any], groups: Iterable[GroupFacts]) -> Memory:
    """Return what is remembered of *groups* and their nodes."""
    try:
        memory = msgspec.convert(in_slices(_MEMORY.read(document)), Memory)
    except msgspec.ValidationError as error:
        raise wrong(_MEMORY.key, str(error)) from None
    templates = {facts.id: facts.template for facts in groups}
    orders: dict[str, ScaleUpRequest] = {}
    for order in _ORDERS.read(document):
        # Those of one group are one, of the age of the latest.
        known = orders.get(order.group, ScaleUpRequest(at=order.time, count=0))
        orders[order.group] = ScaleUpRequest(at=max(order.time, known.at), count=known.count + order.increase)
    known_templates = {
        group: replace(known, promised=fingerprint(templates.get(group))) if known.promised == _AS_IT_IS else known
        for group, known in memory.learnt.templates.items()
    }
    return replace(
        memory,
        orders=replace(memory.orders, requests=memory.orders.requests | orders),
        learnt=replace(memory.learnt, templates=known_templates),
    )


def write_memory(memory: Memory, groups: Iterable[GroupFacts], names: Names) -> Iterator[Entry]:
    """Yield what is remembered; *groups* are those of the world."""
    ours = {group: request for group, request in memory.orders.requests.items() if request.ours}
    orders = [_Order(group=group, increase=request.count, time=request.at) for group, request in ours.items()]
    yield from _ORDERS.write(orders, names).items()
    templates = {facts.id: facts.template for facts in groups}

    def marked(group: str, known: KnownTemplate) -> KnownTemplate:
        # A template is not shown whole, so what is shown has another fingerprint.
        same = group in templates and known.promised == fingerprint(templates[group])
        return replace(known, promised=_AS_IT_IS) if same else known

    rest = replace(
        memory,
        orders=replace(
            memory.orders,
            requests={group: request for group, request in memory.orders.requests.items() if group not in ours},
        ),
        learnt=replace(
            memory.learnt,
            templates={group: marked(group, known) for group, known in memory.learnt.templates.items()},
        ),
    )
    shown, blank = (MEMORY(msgspec.to_builtins(each), Scope(names=names)) for each in (rest, Memory()))
    slices = {
        name: {key: value for key, value in part.items() if value != blank[name].get(key)}
        for name, part in shown.items()
    }
    yield from _MEMORY.write({name: part for name, part in slices.items() if part}, names).items()


def _pod_key(value: str, scope: Scope) -> str:
    namespace, slash, name = value.partition("/")
    return f"{scope.names.of(Role.NAMESPACE, namespace)}/{scope.names.of(Role.POD, name)}" if slash else value


def _pool_key(value: str, scope: Scope) -> str:
    provider, _, name = value.partition(":")
    return f"{provider}:{scope.names.pool(name)}"


def _error_key(value: str, scope: Scope) -> str:
    kind, colon, rest = value.partition(":")
    code, second, pool = rest.partition(":")
    return f"{kind}{colon}{code}{second}{scope.names.pool(pool)}"


def _pool(value: str, scope: Scope) -> str:
    return scope.names.pool(value)


def _hint(value: list[tuple[str, int]], scope: Scope) -> list[tuple[str, int]]:
    return [(scope.names.of(Role.NODE, node), count) for node, count in value]


def _real_only(value: Any, scope: Scope) -> Any:
    """Let it through unless names are hidden."""
    return None if scope.names.hides else value


def _difference(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    key = value["name"].partition(":")[0]

    def shown(text: int | str | None) -> int | str | None:
        if not isinstance(text, str):
            return text
        if value["kind"] == "taint":
            (taint,) = TAINTS([{"key": key, "value": text}], scope)
            return str(taint["value"])
        return scope.names.label(key, text)

    return value | {
        "group": scope.names.of(Role.GROUP, value["group"]),
        "promised": shown(value["promised"]),
        "real": shown(value["real"]),
    }


_node, _group, _machine = named(Role.NODE), named(Role.GROUP), named(Role.INSTANCE)
#: What a cloud says has names in it.
_BACKOFF = record(
    "until pause failed_at error_class code amount", pool=_pool, message=hidden_as(""), group=named(Role.GROUP)
)
_REMOVAL = record(
    "started drains evicting evicting_since evicted_at emptied_at ready_at deleted_at unanswered ours",
    group=_group,
    provider_id=_machine,
    incarnation=named(Role.UID),
    # That it failed counts.
    error=hidden_as("failed"),
    refusal=hidden_as("refused"),
    put_off=hidden_as("put off"),
)
_REPLACEMENT = record(
    "count at since saving",
    nodes=keyed(_node, _machine),
    group=_group,
    begun=each(_node),
    owners=each(named(Role.UID)),
)
_KNOWN_TEMPLATE = record("promised promised_since gone_since", likeness=TEMPLATE, differences=each(_difference))
#: What of memory gets into a scenario, by its slices. A test holds it against the fields of `Memory`.
MEMORY = record(
    learnt=record(templates=keyed(_group, _KNOWN_TEMPLATE)),
    health=record(
        "unhealthy_since",
        backoffs=keyed(_group, _BACKOFF),
        pools=keyed(_pool_key, _BACKOFF),
        quotas=keyed(_pool_key, _BACKOFF),
        shortages=keyed(_group),
        unregistered_since=keyed(_machine),
        failed_since=keyed(_machine),
        errors=keyed(_group, keyed(_error_key)),
        stopped_at=keyed(_machine),
        incarnations=keyed(_machine, named(Role.UID)),
        respites=keyed(_group),
    ),
    demand=record(arrivals=keyed(_pod_key)),
    orders=record(
        "turn",
        requests=keyed(_group),
        # Kinds of pods are known by fingerprints, and hidden pods have other ones.
        intentions=_real_only,
    ),
    leaving=record("evictions", removals=keyed(_node, _REMOVAL)),
    unneeded=record(
        since=keyed(_node), unremovable_until=keyed(_node), unexamined=each(_node), hints=keyed(_node, _hint)
    ),
    verdicts=record(last=keyed(_node, record("reason since cause", pod=_pod_key, detail=hidden_as("")))),
    cooldown=record("cluster", groups=keyed(_group)),
    consolidation=record(
        "no_search_until", replacements=each(_REPLACEMENT), left_alone_until=keyed(_node), examined=_node
    ),
    status=record(conditions=keyed(_group)),
)
