"""Prices of nodes and pods."""

from abc import ABC, abstractmethod
from datetime import datetime

from nodewright.api.template import NodeTemplate
from nodewright.objects import Pod


class PricingModel(ABC):
    """What nodes and pods cost. Facts only: answers from what `Provider.refresh` has read and must not block.

    A price that is unknown is None: the group then takes part in no comparison of prices.
    An exception counts as an unknown price and as a fault of the plugin.
    """

    #: ISO 4217 code of all prices of this model.
    currency: str = "USD"

    @abstractmethod
    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Price of one node like *template* from *start* to *end*. Called once per group and loop."""

    @abstractmethod
    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Theoretical price of the resources that *pod* requests, on the cheapest suitable kind of machine.

        Called by the price expander, once per set of identical pods.
        """
