"""Capacity quotas: limits on the total resources of all or some nodes."""

from functools import cached_property

from nodewright.objects.frozen import EMPTY, FrozenDict, freeze
from nodewright.objects.meta import KubeStruct, ObjectMeta
from nodewright.objects.quantity import Resources, parse_resources
from nodewright.objects.selector import LabelSelector


class CapacityLimits(KubeStruct, frozen=True, kw_only=True):
    """The limits."""

    resources: dict[str, str | int | float] = EMPTY

    def __post_init__(self) -> None:
        freeze(self, "resources")


class CapacityQuotaSpec(KubeStruct, frozen=True, kw_only=True):
    """The nodes, and their limits."""

    #: By labels of nodes; None is all nodes.
    selector: LabelSelector | None = None
    limits: CapacityLimits = CapacityLimits()


class CapacityQuota(KubeStruct, frozen=True, kw_only=True, dict=True, gc=True):
    """A limit on the resources of nodes. Malformed quantities surface as `ValueError` from `maximum`."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CapacityQuotaSpec = CapacityQuotaSpec()

    @cached_property
    def maximum(self) -> Resources:
        """The maximum of each resource; ``nodes`` counts the nodes themselves."""
        return FrozenDict(parse_resources(self.spec.limits.resources))
