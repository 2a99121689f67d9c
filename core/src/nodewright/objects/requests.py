"""What a pod takes from a node, by the scheduler's formula."""

from collections.abc import Iterable
from typing import Protocol

from nodewright.objects.frozen import EMPTY, FrozenDict, freeze
from nodewright.objects.meta import KubeStruct
from nodewright.objects.quantity import MOST, Resources, parse_resources

Quantities = dict[str, str | int | float]


class ResourceRequirements(KubeStruct, frozen=True, kw_only=True):
    """What a container, or a whole pod, requests."""

    requests: Quantities = EMPTY
    limits: Quantities = EMPTY

    def __post_init__(self) -> None:
        freeze(self, "requests", "limits")


class ContainerStatus(KubeStruct, frozen=True, kw_only=True):
    """What a kubelet has given to a container. It differs from the specification during a resize."""

    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: Quantities = EMPTY

    def __post_init__(self) -> None:
        freeze(self, "allocated_resources")


class _Container(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def resources(self) -> ResourceRequirements: ...
    @property
    def restart_policy(self) -> str: ...


class _Spec(Protocol):
    @property
    def containers(self) -> Iterable[_Container]: ...
    @property
    def init_containers(self) -> Iterable[_Container]: ...
    @property
    def resources(self) -> ResourceRequirements | None: ...
    @property
    def overhead(self) -> Quantities: ...


class _Status(Protocol):
    @property
    def container_statuses(self) -> Iterable[ContainerStatus]: ...
    @property
    def init_container_statuses(self) -> Iterable[ContainerStatus]: ...


def pod_requests(spec: _Spec, status: _Status) -> Resources:
    """Return what a pod takes; the pod itself counts as one of ``pods``. Raises `ValueError` for a bad quantity.

    Containers run side by side. Init containers run one after the other, each beside the sidecars before it, which are
    init containers that are always restarted. A request of the whole pod replaces that sum, per resource.
    """
    given = {each.name: each for each in (*status.container_statuses, *status.init_container_statuses)}
    total: dict[str, int] = {}
    for container in spec.containers:
        _add(total, _container_requests(container, given))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.init_containers:
        amounts = dict(_container_requests(container, given))
        if container.restart_policy == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            _raise(peak, sidecars)
        else:
            _add(amounts, sidecars)
            _raise(peak, amounts)
    _raise(total, peak)
    if spec.resources is not None:
        total.update(parse_resources(spec.resources.requests))
    _add(total, parse_resources(spec.overhead))
    total["pods"] = 1
    # The sum over all pods of a node must stay within 64 bits, and no pod may add room.
    return FrozenDict({name: max(0, min(amount, MOST)) for name, amount in total.items()})


def _container_requests(container: _Container, given: dict[str, ContainerStatus]) -> Resources:
    """Return what a container holds or requests, whichever is more: a resize may be under way in either direction."""
    asked = parse_resources(container.resources.requests)
    status = given.get(container.name)
    if status is None or status.resources is None:
        return asked
    _raise(asked, parse_resources(status.resources.requests))
    _raise(asked, parse_resources(status.allocated_resources))
    return asked


def _add(total: dict[str, int], amounts: Resources) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: dict[str, int], amounts: Resources) -> None:
    for name, amount in amounts.items():
        total[name] = max(total.get(name, 0), amount)
