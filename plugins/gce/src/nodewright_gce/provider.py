"""Google Cloud as a provider."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from nodewright.api import (
    Capability,
    GpuConfig,
    GroupFacts,
    Node,
    NodeGroup,
    NodeTemplate,
    PricingModel,
    Provider,
    ProviderContext,
    hookimpl,
)

from nodewright_gce.config.gce import GceConfig
from nodewright_gce.steady_clock import SteadyClock

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from nodewright_gce.parts import Parts

_DRA_LABEL = "cloud.google.com/gke-gpu-dra-driver"


class GceProvider(Provider):
    """Managed instance groups of Google Cloud.

    `refresh` reads the groups first, because nothing can be decided without them. The other parts may fail, and then
    keep what they knew: templates with their machine types, histories of errors, resize requests, quotas,
    reservations, prices.
    """

    api_version = 1
    Config = GceConfig
    capabilities = frozenset(
        {Capability.SCALE_FROM_ZERO, Capability.ATOMIC_INCREASE, Capability.FORCE_DELETE, Capability.PRICES}
    )
    gpu_label = "cloud.google.com/gke-accelerator"
    balancing_ignored_labels: ClassVar[frozenset[str]] = frozenset(
        {
            # Groups of several zones may be of one node pool or of several.
            "cloud.google.com/gke-nodepool",
            "topology.gke.io/zone",
        }
    )

    def __init__(self, config: GceConfig, context: ProviderContext) -> None:
        # Most of this plugin: loaded only if a provider is configured.
        from nodewright_gce.calls import GoogleCompute
        from nodewright_gce.groups.groups import Groups

        super().__init__(config, context)
        deadline = min(context.refresh_timeout, context.action_timeout)
        self._settings = config
        self._compute = GoogleCompute(config, context.clock, context.user_agent, deadline=deadline)
        # What is told to be done again later must not wait for a clock that was set back.
        self._clock = SteadyClock(context.clock)
        self._groups = Groups(self._compute, config, replace(context, clock=self._clock))
        self._parts: Parts | None = None

    def refresh(self) -> None:
        """Read all groups, and what is unknown or old of the other parts."""
        groups = self._groups.read(self._parts.history.in_place_of_machines() if self._parts else ())
        parts = self._parts = self._parts or self._make_parts()
        parts.refresh(groups)
        self._groups.show(groups, parts.known)

    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh, sorted by id."""
        return tuple(self._groups.shown.values())

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine."""
        return self._groups.group_of(node)

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """The group that a ``GCEInstanceGroup`` or a ``GKENodePool`` means, by its URL."""
        return self._groups.meant(kind, id)

    def pricing(self) -> PricingModel | None:
        """Prices as of the last refresh."""
        return self._parts.prices.model() if self._parts else None

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """The accelerator that the label names."""
        accelerator = labels.get(self.gpu_label)
        if not accelerator:
            return None
        dra = labels.get(_DRA_LABEL) == "true"
        return GpuConfig(
            label=self.gpu_label,
            type=accelerator,
            resource="nvidia.com/gpu",
            dra_driver="gpu.nvidia.com" if dra else "",
        )

    @hookimpl
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        """Complete a template that was taken from a real node."""
        ours = self._groups.shown.get(group.id)
        if ours is None or self._parts is None:
            return None
        return self._parts.templates.complete(ours.managed_group, template)

    def collectors(self) -> "Iterable[Collector]":
        """Metrics of calls, shared by all providers of this kind."""
        from nodewright_gce.calls import metrics

        return (metrics().requests, metrics().durations)

    def close(self) -> None:
        """Close all connections."""
        self._compute.close()

    def _make_parts(self) -> "Parts":
        # Templates and prices: loaded only if the provider is used.
        from nodewright_gce.parts import Parts

        return Parts(self._compute, self._settings, self._clock, self.context.clock)
