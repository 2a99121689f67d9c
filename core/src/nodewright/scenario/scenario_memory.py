"""What is remembered in a scenario: open orders as Cluster Autoscaler's have them, the rest as Nodewright keeps it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from nodewright.api.group import GroupFacts
from nodewright.decision.memory import KnownTemplate, Memory, ScaleUpRequest
from nodewright.decision.memory.memory import in_slices
from nodewright.decision.templates.node_template import fingerprint
from nodewright.objects.meta import Time
from nodewright.scenario.scenario_objects import read_list, read_mapping, read_object, require_mapping, wrong

#: In place of the fingerprint of a provider's template: it is the one that the group has in this scenario.
AS_IT_IS = "as it is"


def read_memory(document: Mapping[str, Any], groups: Iterable[GroupFacts]) -> Memory:
    """Return what is remembered of *groups* and their nodes; raises `ConfigurationError` that says what is wrong."""
    try:
        memory = msgspec.convert(in_slices(read_mapping(document, "memory")), Memory)
    except msgspec.ValidationError as error:
        raise wrong("memory", str(error)) from None
    promises = {facts.id: facts.template for facts in groups}

    def recognised(group: str, known: KnownTemplate) -> KnownTemplate:
        return replace(known, promised=fingerprint(promises.get(group))) if known.promised == AS_IT_IS else known

    return replace(
        memory,
        orders=replace(memory.orders, requests=memory.orders.requests | _read_requests(document)),
        learnt=replace(
            memory.learnt,
            templates={group: recognised(group, known) for group, known in memory.learnt.templates.items()},
        ),
    )


def _read_requests(document: Mapping[str, Any]) -> dict[str, ScaleUpRequest]:
    """Return the orders under way; those of one group are one, of the age of the latest."""
    requests: dict[str, ScaleUpRequest] = {}
    for index, entry in enumerate(read_list(document, "scaleUpRequests")):
        place = f"scaleUpRequests[{index}]"
        require_mapping(entry, place)
        group = read_object(entry.get("group"), str, f"{place}.group")
        at = read_object(entry.get("time"), Time, f"{place}.time")
        count = read_object(entry.get("increase"), int, f"{place}.increase")
        known = requests.get(group)
        requests[group] = ScaleUpRequest(
            at=max(at, known.at) if known else at, count=count + (known.count if known else 0)
        )
    return requests
