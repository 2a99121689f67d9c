"""Google Cloud as a provider."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from random import SystemRandom
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

from nodewright_gce.calls.google_compute import GoogleCompute
from nodewright_gce.calls.metrics import metrics
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.groups.attempts import Attempts
from nodewright_gce.groups.known_machines import KnownMachines
from nodewright_gce.groups.limits import limits_of
from nodewright_gce.groups.listing import Listing
from nodewright_gce.groups.machines import is_machine_id
from nodewright_gce.groups.names import Names
from nodewright_gce.groups.node_group import GceNodeGroup
from nodewright_gce.groups.operations import Operations
from nodewright_gce.groups.orders import RecentOrders
from nodewright_gce.groups.references import group_meant
from nodewright_gce.groups.services import GroupServices
from nodewright_gce.groups.steering import notes
from nodewright_gce.migs.migs import Migs
from nodewright_gce.warn_once import WarnOnce

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from nodewright_gce.parts import Parts

#: The share of the time for an action in which operations are followed. The rest is for the calls.
_FOLLOWING = 0.4
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
        super().__init__(config, context)
        clock, deadline = context.clock, min(context.refresh_timeout, context.action_timeout)
        self._settings = config
        self._compute = GoogleCompute(config, clock, context.user_agent, deadline=deadline)
        self._migs = Migs(self._compute, config, context.nodes, context.discovery, clock)
        self._machines = KnownMachines()
        self._listing = Listing()
        self._warnings = WarnOnce()
        self._orders = RecentOrders(clock)
        self._operations = Operations(self._compute, clock, context.action_timeout * _FOLLOWING)
        self._names = Names(SystemRandom())
        self._attempts = Attempts(self._names, clock)
        self._parts: Parts | None = None
        self._groups: Mapping[str, GceNodeGroup] = {}

    def refresh(self) -> None:
        """Read all groups, and what is unknown or old of the other parts."""
        read = self._migs.read()
        for failed in self._operations.refresh():
            self._orders.forget(failed)
        groups = tuple(map(self._orders.applied_to, read))
        parts = self._parts = self._parts or self._make_parts()
        parts.refresh(groups)
        self._machines.update(groups)
        services = GroupServices(
            compute=self._compute,
            templates=parts.templates,
            history=parts.history,
            queues=parts.queues,
            supply=parts.supply,
            machines=self._machines,
            listing=self._listing,
            orders=self._orders,
            operations=self._operations,
            attempts=self._attempts,
            names=self._names,
            touch=self._migs.touch,
        )
        node_groups = [GceNodeGroup(each, limits_of(each, parts.limits(each)), services) for each in groups]
        self._groups = {group.id: group for group in node_groups}
        told: dict[Hashable, str] = {
            (group.id, note): f"group {group.id}: {note}"
            for group in node_groups
            for note in (*notes(group.managed_group, queues=group.has_queue), group.limits.conflict)
            if note
        }
        self._warnings.warn(told)
        self._listing.keep(self._groups)

    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh, sorted by id."""
        return tuple(self._groups.values())

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine."""
        machine = node.spec.provider_id
        group = self._machines.group_of(machine)
        if group is None and is_machine_id(machine) and self._machines.former_group(machine) is None:
            # It may be younger than the last list of machines.
            self._migs.seek(machine)
        return group

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """The group that a ``GCEInstanceGroup`` or a ``GKENodePool`` means, by its URL."""
        return group_meant(kind, id, (each.managed_group.address for each in self._groups.values()))

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
        ours = self._groups.get(group.id)
        if ours is None or self._parts is None:
            return None
        return self._parts.templates.complete(ours.managed_group, template)

    def collectors(self) -> "Iterable[Collector]":
        """Metrics of calls, shared by all providers of this kind."""
        return (metrics().requests, metrics().durations)

    def close(self) -> None:
        """Close all connections."""
        self._compute.close()

    def _make_parts(self) -> "Parts":
        # Most of this plugin: loaded only if the provider is used.
        from nodewright_gce.parts import Parts

        return Parts(self._compute, self._settings, self.context.clock)
