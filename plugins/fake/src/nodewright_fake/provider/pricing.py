"""Prices of the fake cloud."""

from collections.abc import Mapping
from datetime import datetime

from nodewright.api import NodeTemplate, Pod, PricingModel, Resources

from nodewright_fake.cloud.group import CAPACITY_LABEL
from nodewright_fake.cloud.instance_type import Hardware

_TYPE_LABEL = "node.kubernetes.io/instance-type"


class FakePricing(PricingModel):
    """Hourly prices by instance type, on demand and spot."""

    def __init__(
        self, *, currency: str, hourly: Mapping[str, Mapping[str, float]], hardware: Mapping[str, Hardware]
    ) -> None:
        self.currency = currency
        self._hourly = hourly
        self._allocatable = {name: machine.allocatable for name, machine in hardware.items() if name in hourly}

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """The price of the node's instance type, on demand or spot as its label says."""
        prices = self._hourly.get(template.labels.get(_TYPE_LABEL, ""))
        if prices is None:
            return None
        return prices[template.labels.get(CAPACITY_LABEL, "on-demand")] * _hours(start, end)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """The pod's largest share of any resource of a machine, at the on-demand price of the type that is cheapest."""
        shares = {name: _share(pod.requests, machine) for name, machine in self._allocatable.items()}
        prices = [self._hourly[name]["on-demand"] * share for name, share in shares.items() if share is not None]
        return min(prices) * _hours(start, end) if prices else None


def _share(requests: Resources, machine: Resources) -> float | None:
    """How much of a machine is requested; None if it is more than there is."""
    wanted = {resource: amount for resource, amount in requests.items() if amount and resource != "pods"}
    if any(amount > machine.get(resource, 0) for resource, amount in wanted.items()):
        return None
    return max((amount / machine[resource] for resource, amount in wanted.items()), default=0.0)


def _hours(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds() / 3600
