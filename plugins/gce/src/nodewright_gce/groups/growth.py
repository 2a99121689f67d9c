"""Growth of a group: by name, by size, or by a resize request."""

from collections.abc import Sequence

from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    NodewrightError,
    PartialIncreaseError,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
)

from nodewright_gce.causes import CREATING
from nodewright_gce.groups.attempts import Attempt
from nodewright_gce.groups.current import Current
from nodewright_gce.groups.machines import name_of
from nodewright_gce.groups.removal import reference
from nodewright_gce.groups.services import GroupServices
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig

#: Google makes no more machines by name in one request. Several requests could be granted in part.
_MOST_BY_NAME = 1000
#: Google's code, in the message of an order whose names it has already.
_NAME_TAKEN = "ALREADY_EXISTS"


class Growth:
    """Orders machines for a group that may have *most* of them."""

    def __init__(self, current: Current, most: int, services: GroupServices) -> None:
        self._current = current
        self._most = most
        self._services = services

    def order(self, count: int) -> None:
        """Order machines by name, or by size where Google makes none by name."""
        now = self._now(count)
        if count > _MOST_BY_NAME or not _grows_by_name(now.mig):
            self._resize(now, count)
        else:
            self._create(now, count)

    def order_in_bulk(self, count: int) -> None:
        """Order machines of a group that grows all or nothing by itself."""
        self._resize(self._now(count), count)

    def queue(self, count: int) -> None:
        """Order machines by a resize request: they come all together, now or when they can be had."""
        now, group, services = self._now(count), self._current.id, self._services
        attempt = services.attempts.next_request(group, now.mig, count)
        try:
            operation = services.compute.insert_resize_request(
                now.address, attempt.names[0], count, request_id=attempt.request_id
            )
            services.operations.follow(group, [operation])
        except NodewrightError as error:
            # Without an answer, Google may have taken it all the same.
            if not isinstance(error, CloudUnavailableError):
                services.attempts.over(group)
            raise
        self._taken(now, attempt)

    def _now(self, count: int) -> ManagedGroup:
        """Return the group as it is now, with room for *count* more machines."""
        if count < 1:
            raise SizeLimitError(f"group {self._current.id} can't grow by {count} machines")
        self._check_room(self._current.target + count)
        now = self._current.read()
        self._check_room(now.mig.target_size + count)
        return now

    def _check_room(self, target: int) -> None:
        if target > self._most:
            raise SizeLimitError(f"group {self._current.id} can't grow to {target}: its maximum is {self._most}")

    def _create(self, now: ManagedGroup, count: int) -> None:
        services, group = self._services, self._current.id
        taken = {name_of(each) for each in now.members}
        attempt = services.attempts.next(group, now.mig, count, taken)
        try:
            operation = services.compute.create_instances(now.address, attempt.names, request_id=attempt.request_id)
            services.operations.follow(group, [operation])
        except CloudUnavailableError:
            # Google may have taken it all the same.
            raise
        except (AccessDeniedError, ThrottledError):
            services.attempts.over(group)
            raise
        except NodewrightError as error:
            services.attempts.over(group)
            # Machines that have these names already are of an earlier order.
            if _NAME_TAKEN not in str(error):
                self._take_back(attempt.names, error)
            raise
        self._taken(now, attempt)

    def _taken(self, now: ManagedGroup, attempt: Attempt) -> None:
        """Note that Google has taken an order."""
        self._services.attempts.over(self._current.id)
        # The size that was read may include an attempt that is repeated.
        target = max(now.mig.target_size, attempt.before + attempt.count)
        self._current.has(now, target, before=attempt.before)

    def _take_back(self, names: Sequence[str], error: NodewrightError) -> None:
        """Delete what came of an order that failed with *error*; raises `PartialIncreaseError` if that fails."""
        services, address, ours = self._services, self._current.address, set(names)
        begun: Sequence[ManagedInstance] = ()
        try:
            listed = services.compute.managed_instances(address)
            begun = [each for each in listed if name_of(each) in ours and each.current_action in CREATING]
            if begun:
                operation = services.compute.delete_instances(
                    address, list(map(reference, begun)), request_id=services.names.request_id()
                )
                services.operations.follow(self._current.id, [operation])
        except NodewrightError as trouble:
            if begun:
                raise PartialIncreaseError(len(begun), error) from trouble

    def _resize(self, now: ManagedGroup, count: int) -> None:
        """Set a number rather than a difference, unless that would take back what others did."""
        group, known, size = self._current.id, self._current.target, now.mig.target_size
        if size != known:
            raise TemporaryError(
                f"group {group} was resized by another client, from {known} to {size}: the next loop decides anew how "
                "much more it needs"
            )
        if self._services.orders.is_undone_by(now, size + count):
            raise TemporaryError(
                f"Google may not show the last order of group {group} yet: the next loop decides anew how much more it "
                "needs"
            )
        operation = self._services.compute.resize(
            now.address, size + count, request_id=self._services.names.request_id()
        )
        self._services.operations.follow(group, [operation])
        self._current.has(now, size + count)


def _grows_by_name(mig: Mig) -> bool:
    """Whether Google makes machines of a MIG by name.

    Not where it chooses their types, takes them from a pool that stands by, numbers them, or makes them in bulk.
    """
    chooses = bool(mig.instance_flexibility_policy.instance_selections) or bool(mig.stateful_policy)
    stands_by = mig.standby_policy.mode == "SCALE_OUT_POOL"
    return not (chooses or stands_by or is_bulk(mig) or "#" in mig.base_instance_name)


def is_bulk(mig: Mig) -> bool:
    """Whether a MIG grows all or nothing."""
    return mig.target_size_policy.mode == "BULK"
