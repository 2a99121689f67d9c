"""Prices that never raise."""

from datetime import datetime

from nodewright.api import NodeTemplate, Pod, PricingModel
from nodewright.plugins.faults import Faults
from nodewright.plugins.results import optional


class GuardedPricing(PricingModel):
    """Asks a provider's pricing model; a failure counts as an unknown price, and as a fault of the provider."""

    def __init__(self, provider: str, model: PricingModel, faults: Faults) -> None:
        self._provider = provider
        self._model = model
        self._faults = faults
        self.currency = model.currency

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node, None if it can't be told."""
        asked = (self._model.node_price, template, start, end)
        return self._faults.call(self._provider, "node_price", *asked, default=None, returns=optional(_number))

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of a pod, None if it can't be told."""
        asked = (self._model.pod_price, pod, start, end)
        return self._faults.call(self._provider, "pod_price", *asked, default=None, returns=optional(_number))


def _number(result: object) -> float:
    if not isinstance(result, int | float):
        raise TypeError(f"returned {type(result).__name__} instead of a price")
    return float(result)
