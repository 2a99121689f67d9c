"""A node group of the fake cloud, as the core sees it."""

from collections.abc import Mapping, Sequence
from typing import Any

from nodewright.api import GroupOptions, Instance, InstanceError, Node, NodeGroup, NodeTemplate, Pause

from nodewright_fake.cloud.instance_type import Hardware
from nodewright_fake.provider.client import CloudClient
from nodewright_fake.provider.reading import GroupReading


class FakeNodeGroup(NodeGroup):
    """Facts from one reading; actions over HTTP. *bounds* take the place of the cloud's minimum and maximum."""

    def __init__(
        self,
        *,
        client: CloudClient,
        reading: GroupReading,
        hardware: Hardware,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        self._client = client
        self._reading = reading
        self._hardware = hardware
        self._target = reading.desired
        self._min, self._max = bounds or (reading.settings.min, reading.settings.max)

    @property
    def id(self) -> str:
        """The group's name in the cloud."""
        return self._reading.settings.name

    @property
    def min_size(self) -> int:
        """Fewest machines."""
        return self._min

    @property
    def max_size(self) -> int:
        """Most machines."""
        return self._max

    @property
    def target_size(self) -> int:
        """Machines that the cloud is asked for, as of the last refresh or action."""
        return self._target

    def instances(self) -> Sequence[Instance]:
        """Every machine of the group."""
        return self._reading.instances

    def template(self) -> NodeTemplate | None:
        """A new node; None for groups of which this cloud can't tell."""
        settings = self._reading.settings
        return settings.template(self._hardware) if settings.scale_from_zero else None

    def pools(self) -> Sequence[str]:
        """The one pool of this group's zone and type, on demand or spot."""
        return (self._reading.settings.pool,)

    def quotas(self) -> Mapping[str, int]:
        """The processors that a machine takes of the customer's quotas."""
        return self._reading.quotas

    def available(self) -> int | None:
        """How many more machines there are, if the cloud tells."""
        return self._reading.available

    def errors(self) -> Sequence[InstanceError]:
        """Why nothing came of the last order, if the cloud says so."""
        return (self._reading.error,) if self._reading.error else ()

    def pause(self) -> Pause | None:
        """Why somebody wants the group to be left alone."""
        return self._reading.pause

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """The group's own settings over the defaults."""
        return self._reading.settings.options.over(defaults)

    def increase(self, count: int) -> None:
        """Ask for more machines."""
        self._resize("increase", {"count": count, "upTo": self._max})

    def increase_atomically(self, count: int) -> None:
        """Ask for more machines, all or none."""
        self._resize("increase-atomically", {"count": count, "upTo": self._max})

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete the machines of nodes, down to the minimum."""
        self._resize("delete-instances", {"ids": [_machine(node) for node in nodes], "keep": self._min})

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete the machines of nodes, whatever the minimum."""
        self._resize("force-delete-instances", {"ids": [_machine(node) for node in nodes]})

    def decrease_target(self, count: int) -> None:
        """Take back demand that was not met."""
        self._resize("decrease-target", {"count": count})

    def _resize(self, operation: str, body: Any) -> None:
        self._target = self._client.post("v1", "groups", self.id, operation, body=body)["desired"]


def _machine(node: Node) -> str:
    return node.spec.provider_id or node.name
