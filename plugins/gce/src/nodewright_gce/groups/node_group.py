"""A managed instance group as a node group of the core."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from nodewright.api import (
    GroupOptions,
    Instance,
    InstanceError,
    Node,
    NodeGroup,
    NodeTemplate,
    NodewrightError,
    Pause,
    PermanentError,
    UnsupportedError,
)

from nodewright_gce.groups.current import Current
from nodewright_gce.groups.growth import Growth, is_bulk
from nodewright_gce.groups.limits import SizeLimits
from nodewright_gce.groups.listing import Origin
from nodewright_gce.groups.services import GroupServices, Knowledge
from nodewright_gce.groups.shrinkage import Shrinkage
from nodewright_gce.groups.steering import pause_of
from nodewright_gce.migs.managed_group import ManagedGroup


class GceNodeGroup(NodeGroup):
    """Facts from one refresh. Actions read the size again before they change it, and correct the facts afterwards."""

    def __init__(self, group: ManagedGroup, limits: SizeLimits, services: GroupServices, known: Knowledge) -> None:
        self._current = Current(group, services)
        self._services = services
        self._known = known
        self.limits = limits

    @property
    def id(self) -> str:
        """The URL of the group, as in Cluster Autoscaler."""
        return self._current.id

    @property
    def managed_group(self) -> ManagedGroup:
        """The group as Google last described it, with the changes made since."""
        return self._current.group

    @property
    def min_size(self) -> int:
        """The smallest number of machines."""
        return self.limits.min_size

    @property
    def max_size(self) -> int:
        """The largest number of machines."""
        if self.limits.max_size is None:
            raise PermanentError(
                f"group {self.id} has no maximum: write one in its rule, or as nodewright-max-size into the metadata "
                "of its template"
            )
        return self.limits.max_size

    @property
    def target_size(self) -> int:
        """How many machines are to run, as of the last refresh or action; those that stand by do not count.

        Raises why the group could not be read, if that is so: the core leaves it alone then.
        """
        if self._current.group.trouble is not None:
            raise self._current.group.trouble
        return self._current.group.mig.target_size

    def instances(self) -> Sequence[Instance]:
        """All machines that Google lists, those that do not exist yet among them."""
        return self._services.listing.instances(self._current.group, self._origin)

    def template(self) -> NodeTemplate | None:
        """What a new node looks like."""
        return self._known.templates.template(self._current.group)

    def pools(self) -> Sequence[str]:
        """The capacity pools of its template: types and zones, on demand or spot, or a reservation."""
        return tuple(map(str, self._known.templates.pools(self._current.group)))

    def quotas(self) -> Mapping[str, int]:
        """What each machine takes of the quotas of its region."""
        return self._known.templates.quotas(self._current.group)

    def available(self) -> int | None:
        """For how many machines quotas and reservations have room, as of a minute ago."""
        return self._known.supply.room(self._current.group)

    def errors(self) -> Sequence[InstanceError]:
        """What the group's history, its resize requests, and operations say that failed late."""
        late = self._services.operations.failure(self.id)
        told = [
            *([late] if late else []),
            *self._known.queues.causes(self.id),
            *self._known.history.causes(self.id),
        ]
        return tuple({(each.code, each.pool): each for each in told}.values())

    def pause(self) -> Pause | None:
        """Whether Google's own autoscaler steers the group, or its machines are not interchangeable."""
        return pause_of(self._current.group.mig)

    @property
    def atomic(self) -> bool:
        """Whether the group grows in bulk, or has a queue."""
        return is_bulk(self._current.group.mig) or self.has_queue

    @property
    def has_queue(self) -> bool:
        """Whether the group takes resize requests, which may wait for machines."""
        repairs = self._current.group.mig.instance_lifecycle_policy.default_action_on_failure != "DO_NOTHING"
        with suppress(NodewrightError):
            return not repairs and self._known.templates.queued(self._current.group)
        return False

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """The defaults, overridden by the metadata of its template."""
        return self._known.templates.options(self._current.group, defaults)

    def increase(self, count: int) -> None:
        """Order machines by name, which adds to whatever others do.

        Where Google makes none by name, the group is resized. That sets a number rather than a difference: raises
        `TemporaryError` if another client changed it since it was read, as that change would be lost.
        """
        self._growth.order(count)

    def increase_atomically(self, count: int) -> None:
        """Resize a group that grows in bulk, else put a resize request into the queue.

        Machines that wait in a queue are Creating, and have not failed.
        """
        if is_bulk(self._current.group.mig):
            self._growth.order_in_bulk(count)
        elif self.has_queue:
            self._growth.queue(count)
        else:
            raise UnsupportedError(
                f"group {self.id} can't grow all or nothing: set the mode of its targetSizePolicy to BULK"
            )

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete machines by name, which lowers the target by as many."""
        Shrinkage(self._current, self._services).delete(nodes, least=self.min_size)

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete machines even below `min_size`."""
        Shrinkage(self._current, self._services).delete(nodes, least=None)

    def decrease_target(self, count: int) -> None:
        """Delete machines that are only listed, and lower the target by those that are not even that."""
        Shrinkage(self._current, self._services).give_up(count, least=self.min_size)

    @property
    def _growth(self) -> Growth:
        return Growth(self._current, self.max_size, self._services)

    @property
    def _origin(self) -> Origin:
        templates, group = self._known.templates, self._current.group
        # A group of which nothing is known has machines all the same.
        with suppress(NodewrightError):
            return Origin(
                machine_types=tuple(templates.machine_types(group)),
                spot=templates.spot(group),
                reservation=next((each.reservation for each in templates.pools(group)), ""),
                queued=self._known.queues.is_waiting(self.id),
            )
        return Origin()
