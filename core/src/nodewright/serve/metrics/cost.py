"""Gauges of what machines cost, at the prices that providers tell."""

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import Metric

from nodewright.api.group import GroupFacts
from nodewright.api.instance import InstanceState
from nodewright.serve.metrics.panel import gauges
from nodewright.serve.metrics.sight import Sight


def cost_gauges(sight: Sight, *, per_group: bool) -> Iterator[Metric]:
    """Yield what an hour costs, for each provider that has prices, and for each of its groups if *per_group*."""
    by_provider: dict[str, float] = defaultdict(float)
    by_group: dict[tuple[str, ...], float] = {}
    unpriced: dict[tuple[str, ...], float] = {(facts.provider,): 0 for facts in sight.world.groups}
    for facts in sight.world.groups:
        machines = _machines(facts)
        if facts.hourly_price is None:
            unpriced[facts.provider,] += machines
            continue
        cost = machines * facts.hourly_price
        by_provider[facts.provider] += cost
        by_group[facts.id, _currency(facts.provider, sight)] = cost
    yield gauges(
        "nodewright_cost_per_hour",
        "What the machines of a provider's groups cost in an hour: their number times the price of a new one.",
        ("provider", "currency"),
        {(provider, _currency(provider, sight)): cost for provider, cost in by_provider.items()},
    )
    yield gauges(
        "nodewright_unpriced_machines",
        "Machines whose price nobody tells, and that no cost has in it.",
        ("provider",),
        unpriced,
    )
    if per_group:
        yield gauges(
            "nodewright_node_group_cost_per_hour",
            "What the machines of a group cost in an hour.",
            ("node_group", "currency"),
            by_group,
        )


def _machines(facts: GroupFacts) -> int:
    """Count the machines that there are or that are being made."""
    return sum(each.state is not InstanceState.DELETING and each.error is None for each in facts.instances)


def _currency(provider: str, sight: Sight) -> str:
    pricing = sight.world.pricing.get(provider)
    return str(pricing.currency) if pricing is not None else ""
