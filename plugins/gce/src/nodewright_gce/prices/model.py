"""The pricing model: prices of nodes and pods for the core."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.api import NodeTemplate, Pod, PricingModel

from nodewright_gce.machine_types.hardware import HARDWARE_ANNOTATION, Hardware, read
from nodewright_gce.pools import POOLS_ANNOTATION
from nodewright_gce.prices.book import PriceBook

_HOUR = timedelta(hours=1)
_GIB = 2**30
_GPU = "nvidia.com/gpu"
_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_SPOT_LABELS = ("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible")
_GPU_LABEL = "cloud.google.com/gke-accelerator"


@dataclass(frozen=True, kw_only=True)
class PodRates:
    """What a machine in use charges for the parts of pods, per hour."""

    core: float
    gib: float
    #: The least for any GPU that such a machine can have; None if none is known.
    gpu: float | None = None


class GcePricing(PricingModel):
    """Prices of a `PriceBook`; *rates* are those of the machines in use. Safe to use from any thread."""

    def __init__(self, book: PriceBook, *, currency: str, rates: Collection[PodRates] = ()) -> None:
        self.currency = currency
        self._book = book
        self._rates = rates
        #: By annotations: a template is looked up in every loop.
        self._listed: dict[tuple[str, str], float | None] = {}

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node of the hardware in its annotation, or else of what its labels tell."""
        price = self._hourly(template)
        return None if price is None else price * ((end - start) / _HOUR)

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of the cores, memory and GPUs of the pod, where these cost least."""
        prices = [price for rates in self._rates if (price := _price_of(pod, rates)) is not None]
        return min(prices) * ((end - start) / _HOUR) if prices else None

    def _hourly(self, template: NodeTemplate) -> float | None:
        hardware = template.annotations.get(HARDWARE_ANNOTATION, "")
        if not hardware:
            return self._book.price_of_any([(machine, _zone(template)) for machine in hardware_by_labels(template)])
        pools = template.annotations.get(POOLS_ANNOTATION, "")
        if (hardware, pools) not in self._listed:
            self._listed[hardware, pools] = self._book.price_of_any(
                (machine, zone) for machine in read(hardware) for zone in _zones(pools, machine.region)
            )
        return self._listed[hardware, pools]


def hardware_by_labels(template: NodeTemplate) -> tuple[Hardware, ...]:
    """Return what a node's labels and capacity tell of its hardware; nothing without a machine type and a zone."""
    machine_type, zone = _first(template.labels, _TYPE_LABELS), _zone(template)
    if not machine_type or not zone:
        return ()
    gpu, gpus = template.labels.get(_GPU_LABEL), template.capacity.get(_GPU, 0)
    return (
        Hardware(
            region=zone.rpartition("-")[0],
            machine_type=machine_type,
            spot=any(template.labels.get(key) == "true" for key in _SPOT_LABELS),
            vcpus=template.capacity.get("cpu", 0) // 1000,
            memory_mib=template.capacity.get("memory", 0) // 2**20,
            gpus={gpu: gpus} if gpu and gpus else {},
        ),
    )


def _price_of(pod: Pod, rates: PodRates) -> float | None:
    gpus = pod.requests.get(_GPU, 0)
    if gpus and rates.gpu is None:
        return None
    shape = pod.requests.get("cpu", 0) / 1000 * rates.core + pod.requests.get("memory", 0) / _GIB * rates.gib
    return shape + gpus * (rates.gpu or 0.0)


def _zones(pools: str, region: str) -> list[str]:
    """Return the zones of *pools* that are in *region*; one that is empty if there are none."""
    zones = {pool.partition("/")[0] for pool in pools.split(",")}
    return sorted(zone for zone in zones if zone.rpartition("-")[0] == region) or [""]


def _zone(template: NodeTemplate) -> str:
    return _first(template.labels, _ZONE_LABELS)


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")
