# EDIT: say in one line which cloud this is, and replace the words of the shed by those of your cloud.
"""The provider: what Nodewright can ask about a shed, and have done there."""

from collections.abc import Sequence

from nodewright.api import (
    Capability,
    ForeignNodeError,
    Instance,
    InstanceState,
    Node,
    NodeGroup,
    NodeTemplate,
    PluginConfig,
    Provider,
    ProviderContext,
    SizeLimitError,
    parse_resources,
)
from pydantic import Field

from nodewright_my_plugin.inventory import Inventory, Machine, Reading, failure


class MyPluginConfig(PluginConfig):
    """Which shed, and how to get in."""

    # EDIT: your settings. Names are in camelCase in YAML. One without a default is required; mistakes are named with
    # their line by `nodewright config check`.
    url: str = Field(pattern="^https?://.", description="where the API of the shed is")
    # Settings with such names (token, secret, password, ...) are masked wherever Nodewright shows them.
    token: str = Field(min_length=1, repr=False, description="what lets you in")


class MyPluginProvider(Provider):
    """Machines in the racks of a shed."""

    api_version = 1
    Config = MyPluginConfig
    # EDIT: what your cloud can do beyond the minimum. What is not declared is never called.
    capabilities = frozenset({Capability.SCALE_FROM_ZERO})

    def __init__(self, config: MyPluginConfig, context: ProviderContext) -> None:
        super().__init__(config, context)
        self._inventory = Inventory(
            config.url,
            config.token,
            # An action makes two calls, which end before Nodewright stops waiting for it.
            timeout=context.action_timeout.total_seconds() / 3,
            user_agent=context.user_agent,
        )
        self._racks: tuple[Rack, ...] = ()
        self._rack_of: dict[str, str] = {}

    # EDIT: the only method that reads the cloud. Read everything first, and keep it last: if anything raises, all facts
    # stay as they were, and Nodewright leaves the groups alone in this loop.
    def refresh(self) -> None:
        """Read the inventory."""
        racks = self._inventory.racks()
        self._racks = tuple(Rack(self._inventory, name, racks[name]) for name in sorted(racks))
        self._rack_of = {machine.id: rack.id for rack in self._racks for machine in rack.instances()}

    def groups(self) -> Sequence[NodeGroup]:
        """All racks."""
        return self._racks

    def group_of(self, node: Node) -> str | None:
        """The rack in which the node's machine stands."""
        return self._rack_of.get(node.spec.provider_id)


class Rack(NodeGroup):
    """Equal machines, as they were at the last refresh or action."""

    def __init__(self, inventory: Inventory, name: str, reading: Reading) -> None:
        self._inventory = inventory
        self._name = name
        self._reading = reading

    # EDIT: the facts. They answer from what was read and never call the cloud.
    @property
    def id(self) -> str:
        """The rack's name."""
        return self._name

    @property
    def min_size(self) -> int:
        """Fewest machines."""
        return self._reading.min

    @property
    def max_size(self) -> int:
        """Places in the rack."""
        return self._reading.places

    @property
    def target_size(self) -> int:
        """Machines that are wanted, with those that have not come yet and those that have failed."""
        return self._reading.wanted

    def instances(self) -> Sequence[Instance]:
        """The machines in the rack, with those that are being carried in or out and those that have failed."""
        return [as_instance(id_, machine) for id_, machine in self._reading.machines.items()]

    def template(self) -> NodeTemplate:
        """A new machine. It must not show more resources than pods can really use."""
        hardware = self._reading.hardware
        return NodeTemplate(
            labels=hardware.labels,
            capacity=parse_resources(hardware.capacity),
            allocatable=parse_resources(hardware.allocatable),
        )

    # EDIT: the actions. Each looks at the rack as it is now, checks everything before it changes anything, and is one
    # change in the cloud: it is made whole or not at all.
    def increase(self, count: int) -> None:
        """Want more machines."""
        rack = self._now()
        free = rack.places - rack.wanted
        if not 0 < count <= free:
            raise SizeLimitError(f"rack {self.id} can't take {count} more machines, it has {free} free places")
        self._reading = self._inventory.want(self.id, rack, rack.wanted + count)

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Have machines carried out, and lower the number that is wanted by as many."""
        rack = self._now()
        for node in nodes:
            # EDIT: how the id of a machine shows where it belongs, even if the machine is gone.
            if not node.spec.provider_id.startswith(f"shed://{self.id}/"):
                raise ForeignNodeError(f"node {node.name} is no machine of rack {self.id}")
        going = {node.spec.provider_id for node in nodes} & staying(rack)
        if going and rack.wanted - len(going) < rack.min:
            raise SizeLimitError(f"rack {self.id} keeps at least {rack.min} machines")
        if going:
            self._reading = self._inventory.remove(self.id, rack, sorted(going))

    def decrease_target(self, count: int) -> None:
        """Give up machines that are wanted but not there."""
        rack = self._now()
        unmet = rack.wanted - len(staying(rack))
        if not 0 < count <= unmet:
            raise SizeLimitError(f"rack {self.id} waits for {unmet} machines and can't give up {count}")
        self._reading = self._inventory.want(self.id, rack, rack.wanted - count)

    def _now(self) -> Reading:
        return self._inventory.rack(self.id)


def staying(rack: Reading) -> set[str]:
    """The machines that count: all but those that are on their way out."""
    return {id_ for id_, machine in rack.machines.items() if machine.state != "Deleting"}


def as_instance(id_: str, machine: Machine) -> Instance:
    """The machine in Nodewright's words. One that will never come is in creation for good, and says why."""
    if machine.state == "Failed":
        return Instance(id=id_, state=InstanceState.CREATING, error=failure(machine.code))
    return Instance(id=id_, state=InstanceState(machine.state))
