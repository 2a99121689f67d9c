"""All groups of a provider, and what is remembered of them from refresh to refresh."""

from collections.abc import Collection, Hashable, Mapping
from random import SystemRandom

from nodewright.api import Node, ProviderContext

from nodewright_gce.calls.compute import Compute
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
from nodewright_gce.groups.services import GroupServices, Knowledge
from nodewright_gce.groups.steering import notes
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.migs import Migs
from nodewright_gce.warn_once import WarnOnce

#: The share of the time for an action in which operations are followed. The rest is for the calls.
_FOLLOWING = 0.4


class Groups:
    """The groups that *config* and *context* ask for. Raises `ConfigurationError` if these can't be used."""

    def __init__(self, compute: Compute, config: GceConfig, context: ProviderContext) -> None:
        names = Names(SystemRandom())
        self._compute = compute
        self._migs = Migs(compute, config, context.nodes, context.discovery, context.clock)
        self._warnings = WarnOnce()
        self._services = GroupServices(
            compute=compute,
            machines=KnownMachines(),
            listing=Listing(),
            orders=RecentOrders(context.clock),
            operations=Operations(compute, context.clock, context.action_timeout * _FOLLOWING),
            attempts=Attempts(names, context.clock),
            names=names,
            touch=self._migs.touch,
        )
        #: By id.
        self.shown: Mapping[str, GceNodeGroup] = {}

    def read(self, asked: Collection[str] = ()) -> tuple[ManagedGroup, ...]:
        """Read all groups, and what became of operations that took longer; for *asked* see `Migs.read`."""
        groups = self._migs.read(asked)
        orders = self._services.orders
        for failed in self._services.operations.refresh():
            orders.forget(failed)
        return tuple(map(orders.applied_to, groups))

    def show(self, groups: tuple[ManagedGroup, ...], known: Knowledge) -> None:
        """Show *groups*, which were just read, with what is *known* about them."""
        self._services.machines.update(groups)
        node_groups = [
            GceNodeGroup(each, limits_of(each, known.limits(each)), self._services, known) for each in groups
        ]
        self.shown = {group.id: group for group in node_groups}
        self._services.listing.keep(self.shown)
        told: dict[Hashable, str] = {
            (group.id, note): f"group {group.id}: {note}"
            for group in node_groups
            for note in (*notes(group.managed_group, queues=group.has_queue), group.limits.conflict)
            if note
        }
        self._warnings.warn(told)

    def group_of(self, node: Node) -> str | None:
        """Return the id of the group that a node's machine is in."""
        machine, known = node.spec.provider_id, self._services.machines
        group = known.group_of(machine)
        if group is None and is_machine_id(machine) and known.former_group(machine) is None:
            # It may be younger than the last list of machines.
            self._migs.seek(machine)
        return group

    def meant(self, kind: str, reference: str) -> str | None:
        """Return the id of the group that *reference*, of that *kind*, means."""
        return group_meant(kind, reference, (each.managed_group.address for each in self.shown.values()))
