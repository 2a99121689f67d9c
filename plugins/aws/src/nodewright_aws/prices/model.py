"""The pricing model: prices of nodes and pods for the core."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import NodeTemplate, Pod, PricingModel, Resources

from nodewright_aws.instance_types.info import InstanceTypeInfo
from nodewright_aws.pools import POOLS_ANNOTATION, Lifecycle, Pool, split
from nodewright_aws.prices.book import PriceBook

_HOUR = timedelta(hours=1)
_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
#: Labels that mark spot machines: of EKS, of Karpenter, and two common ones.
_LIFECYCLE_LABELS = (
    "eks.amazonaws.com/capacityType",
    "karpenter.sh/capacity-type",
    "node.kubernetes.io/lifecycle",
    "lifecycle",
)
#: Resources that determine the price. Others, such as addresses and disks, do not.
_PAID_FOR = frozenset({"cpu", "memory"})


@dataclass(frozen=True, kw_only=True)
class PricedType:
    """The resources and the hourly price of an instance type."""

    resources: Resources
    price: float


class AwsPricing(PricingModel):
    """Prices of a `PriceBook`; *types* are the instance types in use. Safe to use from any thread."""

    def __init__(self, book: PriceBook, *, currency: str, types: Collection[PricedType] = ()) -> None:
        self.currency = currency
        self._book = book
        self._types = types
        #: By annotation: a template may list a thousand pools, and is looked up in every loop.
        self._listed: dict[str, float | None] = {}

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node from the pools in its annotation, or else from the pool of its labels."""
        price = self._hourly(template)
        return None if price is None else price * ((end - start) / _HOUR)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of the pod's largest share of any resource, on the type where that costs least."""
        wanted = {name: amount for name, amount in pod.requests.items() if amount and _is_paid_for(name)}
        shares = ((type_, _share(wanted, type_.resources)) for type_ in self._types)
        prices = [type_.price * share for type_, share in shares if share is not None]
        return min(prices) * ((end - start) / _HOUR) if prices else None

    def _hourly(self, template: NodeTemplate) -> float | None:
        listed = template.annotations.get(POOLS_ANNOTATION, "")
        if not listed:
            return self._book.price_of_any(pools_by_labels(template.labels))
        if listed not in self._listed:
            self._listed[listed] = self._book.price_of_any(split(listed))
        return self._listed[listed]


def pools_by_labels(labels: Mapping[str, str]) -> tuple[Pool, ...]:
    """Return the pool of a node with *labels*, its zone empty if they have none; nothing without an instance type."""
    instance_type = _first(labels, _TYPE_LABELS)
    if not instance_type:
        return ()
    lifecycle = Lifecycle.SPOT if _is_spot(labels) else Lifecycle.ON_DEMAND
    return (Pool(zone=_first(labels, _ZONE_LABELS), instance_type=instance_type, lifecycle=lifecycle),)


def resources_of(info: InstanceTypeInfo) -> Resources:
    """Return the resources of a type that determine its price."""
    resources = {"cpu": info.vcpus * 1000, "memory": info.memory_mib * 2**20}
    if info.gpu:
        resources[f"{info.gpu.manufacturer.lower()}.com/gpu"] = info.gpu.count
    if info.neuron_devices:
        resources["aws.amazon.com/neuron"] = info.neuron_devices
        resources["aws.amazon.com/neuroncore"] = info.neuron_cores
    return resources


def _is_paid_for(resource: str) -> bool:
    return resource in _PAID_FOR or resource.endswith("/gpu") or resource.startswith("aws.amazon.com/neuron")


def _is_spot(labels: Mapping[str, str]) -> bool:
    return any("spot" in labels.get(key, "").lower() for key in _LIFECYCLE_LABELS)


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def _share(wanted: Resources, available: Resources) -> float | None:
    """Return which share of a machine is wanted; None if it has too little."""
    if any(amount > available.get(name, 0) for name, amount in wanted.items()):
        return None
    return max((amount / available[name] for name, amount in wanted.items()), default=0.0)
