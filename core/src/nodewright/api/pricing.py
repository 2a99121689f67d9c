"""Prices of nodes and pods."""

from abc import ABC, abstractmethod
from datetime import datetime

from nodewright.api.plugin import Plugin
from nodewright.api.template import NodeTemplate
from nodewright.objects import Pod


class PricingModel(ABC):
    """What nodes and pods cost, as `Provider.pricing` returns it or `prices` in YAML names it.

    Called on the provider's thread and on the loop's. It answers from what it knows already and must not block: the
    model of a provider from what `Provider.refresh` has read. A price that is unknown is None: the group then takes
    part in no comparison of prices. An exception counts as an unknown price and as a fault of the plugin.
    """

    #: ISO 4217 code of all prices of this model.
    currency: str = "USD"

    @abstractmethod
    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Price of one node like *template* from *start* to *end*. Called once per group and refresh."""

    @abstractmethod
    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Theoretical price of the resources that *pod* requests, on the cheapest suitable kind of machine.

        Called by the price expander, once per set of identical pods.
        """


class Prices(PricingModel, Plugin):
    """A pricing model that YAML names under ``prices``: it lies over those of all providers.

    The first model in YAML that knows a price is believed; the provider's own is asked last. All prices are in the
    currency of the first model, and a model with another currency is not asked. Several providers may ask at once, each
    on its own thread.
    """
