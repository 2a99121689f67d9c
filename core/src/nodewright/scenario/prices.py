"""Prices in a picture: what pods like those that wait would cost, by what they ask for."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from nodewright.api.pricing import PricingModel
from nodewright.api.template import NodeTemplate
from nodewright.objects import Pod, Resources, format_resource
from nodewright.strategies.price import STABILIZER

_HOUR = timedelta(hours=1)


class ListedPrices(PricingModel):
    """Prices of pods from a list: one that asks for something else has no known price. Nodes have those of groups."""

    def __init__(self, *, currency: str, pods: Iterable[tuple[Resources, float]]) -> None:
        self.currency = currency
        self._hourly = {_key(requests): price for requests, price in pods}

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return None: what nodes cost is a fact of their group."""
        return None

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return what a pod costs that asks for the same."""
        hourly = self._hourly.get(_key(pod.requests))
        return None if hourly is None else hourly * ((end - start) / _HOUR)


def prices_json(model: PricingModel, pods: Iterable[Pod], now: datetime) -> dict[str, Any]:
    """Return, for an entry of ``pricing``, what *pods* would cost in the hour from *now*, as *model* says."""
    kinds = {_key(pod.requests): pod for pod in (STABILIZER, *pods)}
    return {"currency": model.currency, "pods": list(_entries(model, kinds.values(), now))}


def _entries(model: PricingModel, pods: Iterable[Pod], now: datetime) -> Iterator[dict[str, Any]]:
    for pod in pods:
        price = model.pod_price(pod, now, now + _HOUR)
        if price is not None:
            requests = {name: format_resource(name, amount) for name, amount in _key(pod.requests)}
            yield {"requests": requests, "hourlyPrice": price}


def _key(requests: Resources) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, amount) for name, amount in requests.items() if amount and name != "pods"))
