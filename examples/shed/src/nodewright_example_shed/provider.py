"""The provider: what Nodewright can ask about a shed, and have done there."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nodewright.api import (
    AccessDeniedError,
    Capability,
    CloudUnavailableError,
    ForeignNodeError,
    GroupNotFoundError,
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

from nodewright_example_shed.inventory import Inventory


class ShedConfig(PluginConfig):
    """Which shed."""

    #: The file that says what is in it.
    inventory: Path


class ShedProvider(Provider):
    """Machines in the racks of a shed."""

    api_version = 1
    Config = ShedConfig
    capabilities = frozenset({Capability.SCALE_FROM_ZERO})

    def __init__(self, config: ShedConfig, context: ProviderContext) -> None:
        super().__init__(config, context)
        self._inventory = Inventory(config.inventory)
        self._racks: tuple[Rack, ...] = ()
        self._rack_of: dict[str, str] = {}

    def refresh(self) -> None:
        """Read the inventory."""
        with as_nodewright_errors():
            racks = self._inventory.read()
        self._racks = tuple(Rack(self._inventory, name, racks) for name in sorted(racks))
        self._rack_of = {machine.id: rack.id for rack in self._racks for machine in rack.instances()}

    def groups(self) -> Sequence[NodeGroup]:
        """All racks."""
        return self._racks

    def group_of(self, node: Node) -> str | None:
        """The rack in which the node's machine stands."""
        return self._rack_of.get(node.spec.provider_id)


class Rack(NodeGroup):
    """Equal machines, as they were at the last refresh."""

    def __init__(self, inventory: Inventory, name: str, racks: dict[str, Any]) -> None:
        self._inventory = inventory
        self._name = name
        self._rack = racks[name]

    @property
    def id(self) -> str:
        """The rack's name."""
        return self._name

    @property
    def min_size(self) -> int:
        """Fewest machines."""
        return int(self._rack["min"])

    @property
    def max_size(self) -> int:
        """Places in the rack."""
        return int(self._rack["places"])

    @property
    def target_size(self) -> int:
        """Machines that are wanted."""
        return int(self._rack["wanted"])

    def instances(self) -> Sequence[Instance]:
        """The machines in the rack, with those that are being carried in or out."""
        return [Instance(id=machine, state=InstanceState(state)) for machine, state in self._rack["machines"].items()]

    def template(self) -> NodeTemplate:
        """A new machine."""
        machine = self._rack["template"]
        return NodeTemplate(
            labels=machine["labels"],
            capacity=parse_resources(machine["capacity"]),
            allocatable=parse_resources(machine["allocatable"]),
        )

    def increase(self, count: int) -> None:
        """Want more machines."""
        with self._changing() as rack:
            free = rack["places"] - rack["wanted"]
            if not 0 < count <= free:
                raise SizeLimitError(f"rack {self.id} can't take {count} more machines, it has {free} free places")
            rack["wanted"] += count

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Have machines carried out, and lower the number that is wanted by as many."""
        with self._changing() as rack:
            machines = rack["machines"]
            for node in nodes:
                if not node.spec.provider_id.startswith(f"shed://{self.id}/"):
                    raise ForeignNodeError(f"node {node.name} is no machine of rack {self.id}")
            going = {node.spec.provider_id for node in nodes} & _staying(machines)
            if going and rack["wanted"] - len(going) < rack["min"]:
                raise SizeLimitError(f"rack {self.id} keeps at least {rack['min']} machines")
            machines |= dict.fromkeys(going, "Deleting")
            rack["wanted"] -= len(going)

    def decrease_target(self, count: int) -> None:
        """Give up machines that are wanted but not there."""
        with self._changing() as rack:
            unmet = rack["wanted"] - len(_staying(rack["machines"]))
            if not 0 < count <= unmet:
                raise SizeLimitError(f"rack {self.id} waits for {unmet} machines and can't give up {count}")
            rack["wanted"] -= count

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Yield the rack as it is now for changes, and remember it as changed."""
        with as_nodewright_errors(), self._inventory.change() as racks:
            if self.id not in racks:
                raise GroupNotFoundError(f"the shed has no rack {self.id} any more")
            yield racks[self.id]
        self._rack = racks[self.id]


def _staying(machines: dict[str, str]) -> set[str]:
    return {machine for machine, state in machines.items() if state != "Deleting"}


@contextmanager
def as_nodewright_errors() -> Iterator[None]:
    """Turn errors of files into errors that Nodewright understands."""
    try:
        yield
    except PermissionError as error:
        raise AccessDeniedError(
            f"the inventory can't be used: {error}; grant the right to read and write it"
        ) from error
    except (OSError, ValueError, KeyError) as error:
        raise CloudUnavailableError(f"the inventory can't be read: {error}") from error
