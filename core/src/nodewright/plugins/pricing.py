"""Pricing models of plugins: one over the other, and each so that its failure stays its own."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from nodewright.api import NodeTemplate, Pod, PricingModel
from nodewright.plugins.faults import Faults
from nodewright.plugins.results import instance_of, optional, price


class GuardedPricing(PricingModel):
    """Asks the pricing model of *plugin* and never raises: a failure is a fault of the plugin and an unknown price."""

    _plugin: str
    _model: PricingModel
    _faults: Faults

    def __init__(self, plugin: str, model: PricingModel, faults: Faults) -> None:
        currency = faults.call(plugin, "currency", getattr, model, "currency", default="", returns=instance_of(str))
        vars(self).update(_plugin=plugin, _model=model, _faults=faults, currency=currency)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of prices can't be set: all expanders share them")

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node, None if it is unknown."""
        asked = (self._model.node_price, template, start, end)
        return self._faults.call(self._plugin, "node_price", *asked, default=None, returns=optional(price))

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of a pod, None if it is unknown."""
        asked = (self._model.pod_price, pod, start, end)
        return self._faults.call(self._plugin, "pod_price", *asked, default=None, returns=optional(price))


class LayeredPricing(PricingModel):
    """Asks one model after the other: the first that knows a price is believed.

    All prices are in the currency of the first model. A model with another one is not asked.
    """

    def __init__(self, models: Sequence[PricingModel]) -> None:
        self.currency = models[0].currency
        self._models = [model for model in models if model.currency == self.currency]

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node, None if no model knows it."""
        prices = (model.node_price(template, start, end) for model in self._models)
        return next((price for price in prices if price is not None), None)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of a pod, None if no model knows it."""
        prices = (model.pod_price(pod, start, end) for model in self._models)
        return next((price for price in prices if price is not None), None)


def layered(models: Iterable[PricingModel | None]) -> PricingModel | None:
    """Return *models*, of which any may be missing, one over the other; None if there is none."""
    known = [model for model in models if model is not None]
    return LayeredPricing(known) if len(known) > 1 else next(iter(known), None)
