"""Prices as the core asks for them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import NodeTemplate, Pod, PricingModel, Resources

from nodewright_aws.pools import POOLS_ANNOTATION, Lifecycle, Pool, split
from nodewright_aws.prices.book import PriceBook
from nodewright_aws.shapes.shape import Shape

_HOUR = timedelta(hours=1)
_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
#: What tells that a machine is spot, by those who set it: EKS, Karpenter, and set-ups of one's own.
_LIFECYCLE_LABELS = (
    "eks.amazonaws.com/capacityType",
    "karpenter.sh/capacity-type",
    "node.kubernetes.io/lifecycle",
    "lifecycle",
)
#: Resources that make a machine dear. Others, such as addresses and disks, are not what is paid for.
_PAID_FOR = frozenset({"cpu", "memory"})


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a kind of machine has, and what it costs for an hour."""

    resources: Resources
    price: float


class AwsPricing(PricingModel):
    """Prices of a `PriceBook`. *machines* are the kinds in use. Safe to use from any thread."""

    def __init__(self, book: PriceBook, *, currency: str, machines: Collection[Machine] = ()) -> None:
        self.currency = currency
        self._book = book
        self._machines = machines
        #: By what lists their pools: a template may name a thousand, and is asked for in every loop.
        self._listed: dict[str, float | None] = {}

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node from the pools that its template names, or else that its labels tell."""
        price = self._hourly(template)
        return None if price is None else price * ((end - start) / _HOUR)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of the pod's largest share of any resource, on the machine where that is least."""
        wanted = {name: amount for name, amount in pod.requests.items() if amount and _is_paid_for(name)}
        shares = ((machine, _share(wanted, machine.resources)) for machine in self._machines)
        prices = [machine.price * share for machine, share in shares if share is not None]
        return min(prices) * ((end - start) / _HOUR) if prices else None

    def _hourly(self, template: NodeTemplate) -> float | None:
        listed = template.annotations.get(POOLS_ANNOTATION, "")
        if not listed:
            return self._book.price_of_any(pools_by_labels(template.labels))
        if listed not in self._listed:
            self._listed[listed] = self._book.price_of_any(split(listed))
        return self._listed[listed]


def pools_by_labels(labels: Mapping[str, str]) -> tuple[Pool, ...]:
    """Return the pool that a node with *labels* comes from, its zone empty if they do not tell; none without a type."""
    instance_type = _first(labels, _TYPE_LABELS)
    if not instance_type:
        return ()
    lifecycle = Lifecycle.SPOT if _is_spot(labels) else Lifecycle.ON_DEMAND
    return (Pool(zone=_first(labels, _ZONE_LABELS), instance_type=instance_type, lifecycle=lifecycle),)


def resources_of(shape: Shape) -> Resources:
    """Return what machines of *shape* have of all that is paid for."""
    resources = {"cpu": shape.vcpus * 1000, "memory": shape.memory_mib * 2**20}
    if shape.gpu:
        resources[f"{shape.gpu.manufacturer.lower()}.com/gpu"] = shape.gpu.count
    if shape.neuron_devices:
        resources["aws.amazon.com/neuron"] = shape.neuron_devices
        resources["aws.amazon.com/neuroncore"] = shape.neuron_cores
    return resources


def _is_paid_for(resource: str) -> bool:
    return resource in _PAID_FOR or resource.endswith("/gpu") or resource.startswith("aws.amazon.com/neuron")


def _is_spot(labels: Mapping[str, str]) -> bool:
    return any("spot" in labels.get(key, "").lower() for key in _LIFECYCLE_LABELS)


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def _share(wanted: Resources, machine: Resources) -> float | None:
    """Return how much of a machine is wanted; None if it is more than there is."""
    if any(amount > machine.get(name, 0) for name, amount in wanted.items()):
        return None
    return max((amount / machine[name] for name, amount in wanted.items()), default=0.0)
