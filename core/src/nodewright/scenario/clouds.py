"""What clouds say in a scenario besides their groups: GPUs, prices, limits, labels that balancing ignores, faults."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nodewright.api.pricing import PricingModel
from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.api.template import NodeTemplate
from nodewright.decision.world import World
from nodewright.objects import Pod, Resources
from nodewright.scenario.fields import AMOUNTS, Codec, Entry, Field, ListOf, MapOf, Plain, write_fields
from nodewright.scenario.names import Names, Role
from nodewright.strategies.price import STABILIZER

_HOUR = timedelta(hours=1)
_GPU_RESOURCE = "nvidia.com/gpu"
_UNREADABLE = "its provider could not be read"


@dataclass(frozen=True, kw_only=True)
class PodPrice:
    """The price of pods that ask for the same."""

    requests: Resources
    hourly_price: float


class ListedPrices(PricingModel):
    """Prices of pods from a list: a pod that asks for something else has no known price. Nodes have those of groups."""

    def __init__(self, *, currency: str, pods: Iterable[PodPrice]) -> None:
        self.currency = currency
        self.pods = tuple(pods)
        self._hourly = {_key(each.requests): each.hourly_price for each in self.pods}

    @classmethod
    def of(cls, model: PricingModel, pods: Iterable[Pod], now: datetime) -> "ListedPrices":
        """Return what *pods* would cost in the hour from *now*, as *model* says, each kind of them once."""
        kinds = {_key(pod.requests): pod for pod in (STABILIZER, *pods)}
        prices = ((requests, model.pod_price(pod, now, now + _HOUR)) for requests, pod in kinds.items())
        listed = (PodPrice(requests=dict(key), hourly_price=price) for key, price in prices if price is not None)
        return cls(currency=model.currency, pods=listed)

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return None: what nodes cost is a fact of their group."""
        return None

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return what a pod costs that asks for the same."""
        hourly = self._hourly.get(_key(pod.requests))
        return None if hourly is None else hourly * ((end - start) / _HOUR)


def _key(requests: Resources) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, amount) for name, amount in requests.items() if amount and name != "pods"))


#: What went wrong when a provider was read: it has names in it.
FAULT = Plain(str, show=lambda value, names: _UNREADABLE if value and names.hides else value)
GPU = Codec(GpuConfig, *(Field(name, str, "") for name in ("label", "type", "resource", "dra_driver")))
_POD_PRICE = Codec(PodPrice, Field("requests", AMOUNTS, {}, always=True), Field("hourly_price", float))
_PRICES = Codec(
    ListedPrices,
    Field("currency", str, "USD", always=True),
    Field("pods", ListOf(_POD_PRICE), (), always=True),
)
_LIMITS = Codec(ResourceLimits, Field("minimum", AMOUNTS, {}), Field("maximum", AMOUNTS, {}))
_LABELS = Plain(frozenset[str], show=lambda value, names: sorted(value))

#: Attributes of the world: by provider, but GPUs by node.
_CLOUDS = (
    Field("pricing", MapOf(_PRICES), {}),
    Field("resource_limits", MapOf(_LIMITS), {}),
    Field("balancing_ignored_labels", MapOf(_LABELS), {}),
    Field("gpus", MapOf(GPU, Role.NODE), {}),
    Field("unreadable", MapOf(FAULT), {}, key="unreadableProviders"),
)
KEYS = tuple(field.key for field in _CLOUDS)


def read_clouds(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what clouds say, by the attributes of the world."""
    return {field.name: field.read(document) for field in _CLOUDS}


def write_clouds(world: World, pricing: Mapping[str, PricingModel], now: datetime, names: Names) -> Iterator[Entry]:
    """Yield what clouds say of *world*; prices are those that *pricing* gives, at *now*, to pods that wait."""
    waiting = {row.pod_class: row.pending for row in world.cluster.pending.values()}
    pods = [pod for pod in waiting.values() if pod is not None]
    values = {
        "pricing": {name: ListedPrices.of(model, pods, now) for name, model in pricing.items()},
        "resource_limits": world.resource_limits,
        "balancing_ignored_labels": {name: keys for name, keys in world.balancing_ignored_labels.items() if keys},
        "gpus": world.gpus,
        "unreadable": world.unreadable,
    }
    yield from write_fields(_CLOUDS, values, names).items()


def labelled_gpus(labels: Mapping[str, Mapping[str, str]], key: str) -> dict[str, GpuConfig]:
    """Return the GPUs of each node, or group, whose *labels*, by its name, have *key*."""
    return {
        name: GpuConfig(label=key, type=shown[key], resource=_GPU_RESOURCE)
        for name, shown in labels.items()
        if key in shown
    }
