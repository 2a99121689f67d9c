"""What becomes of faults, crashes and threads."""

import time
from contextlib import contextmanager
from dataclasses import replace
from threading import current_thread, main_thread

from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    InstanceState,
    NodewrightError,
    PermanentError,
    TemporaryError,
    ThrottledError,
)

from ..provider import ShedGroup, ShedProvider, id_of
from .registry import fails


@contextmanager
def instead(wrong, error):
    """Raise *error* where *wrong* would be raised."""
    try:
        yield
    except wrong as cause:
        raise error from cause


def linger(until=lambda: False):
    """On a thread that a test has begun, give others the time to come along."""
    deadline = time.monotonic() + 0.3
    while current_thread() is not main_thread() and not until() and time.monotonic() < deadline:
        time.sleep(0.001)


class AtFirst(ShedProvider):
    """A provider whose first refresh raises something else."""

    def refresh(self):
        with instead(() if self._groups else self.wrong, self.error):
            super().refresh()


class Later(ShedProvider):
    """A provider whose refreshes raise something else, but for the first."""

    def refresh(self):
        with instead(self.wrong if self._groups else (), self.error):
            super().refresh()


@fails("test_a_refresh_that_is_throttled_says_so")
class UnavailableIfThrottled(Later):
    wrong, error = ThrottledError, CloudUnavailableError("the shed does not answer")


@fails("test_a_refresh_that_is_denied_says_so")
class TemporaryIfDenied(Later):
    wrong, error = AccessDeniedError, TemporaryError("the door is shut")


@fails("test_a_first_refresh_that_is_denied_says_so")
class StartsWithoutAKey(AtFirst):
    wrong, error = AccessDeniedError, KeyError("token")


@fails("test_a_denial_says_what_is_missing")
class DeniesWithoutAWord(ShedProvider):
    def refresh(self):
        with instead(AccessDeniedError, AccessDeniedError("")):
            super().refresh()


@fails("test_a_refresh_of_a_cloud_that_is_not_there_says_so")
class LeaksItsLibrary(Later):
    wrong, error = CloudUnavailableError, ConnectionError("nobody at home")


@fails("test_a_first_refresh_of_a_cloud_that_is_not_there_says_so")
class TakesSilenceForAMistake(AtFirst):
    wrong, error = CloudUnavailableError, PermanentError("there is no shed: correct its address")


@fails("test_secrets_are_kept")
class ShowsItsKey(ShedGroup):
    def increase(self, count):
        with instead(CloudUnavailableError, CloudUnavailableError(f"no answer to {self.provider.config.key}")):
            super().increase(count)


class Orders(ShedGroup):
    """A group whose orders raise something else."""

    def increase(self, count):
        with instead(self.wrong, self.error):
            super().increase(count)


@fails("test_an_order_that_is_throttled_says_so")
class OrderUnavailableIfThrottled(Orders):
    wrong, error = ThrottledError, CloudUnavailableError("the shed does not answer")


@fails("test_an_order_that_is_throttled_is_given_up")
class OrdersLater(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.later = []

    def refresh(self):
        super().refresh()
        for group in self.groups():
            while group.id in self.later:
                self.later.remove(group.id)
                self.shed.set(group.id, group.target_size + 1)

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def increase(self, count):
            try:
                super().increase(count)
            except ThrottledError:
                self.provider.later += [self.id] * (count == 1)
                raise


@fails("test_an_order_that_is_denied_says_so")
class OrderTemporaryIfDenied(Orders):
    wrong, error = AccessDeniedError, TemporaryError("the door is shut")


@fails("test_an_order_to_a_cloud_that_is_not_there_says_so")
class OrderLeaksItsLibrary(ShedGroup):
    def increase(self, count):
        if self.shed.broken == "Silence":
            raise ConnectionError("nobody at home")
        super().increase(count)


class Deletions(ShedGroup):
    """A group whose deletions raise something else."""

    def delete_nodes(self, nodes):
        with instead(self.wrong, self.error):
            super().delete_nodes(nodes)


@fails("test_a_deletion_that_is_throttled_says_so")
class DeletionUnavailableIfThrottled(Deletions):
    wrong, error = ThrottledError, CloudUnavailableError("the shed does not answer")


@fails("test_a_deletion_that_is_denied_says_so")
class DeletionTemporaryIfDenied(Deletions):
    wrong, error = AccessDeniedError, TemporaryError("the door is shut")


@fails("test_a_deletion_in_a_cloud_that_is_not_there_says_so")
class DeletionLeaksItsLibrary(ShedGroup):
    def delete_nodes(self, nodes):
        if self.shed.broken == "Silence":
            raise ConnectionError("nobody at home")
        super().delete_nodes(nodes)


@fails("test_a_restart_sees_what_was_ordered", until_healed=True)
class CountsMachinesAfterRestart(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.first = True

    def refresh(self):
        super().refresh()
        self.first, first = False, self.first
        for group in self.groups():
            group.first = first

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        first = False

        @property
        def target_size(self):
            coming = [each for each in self.rack.machines if each.state == "coming"]
            return super().target_size - (len(coming) if self.first else 0)


@fails("test_a_deletion_that_is_repeated_after_a_restart_counts_once")
class KeepsItInMind(ShedProvider):
    """Knows in memory only which machines are on their way out."""

    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.deleted = set()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            doomed = {node.spec.provider_id for node in nodes} - self.provider.deleted
            going = {id_of(self.id, each) for each in self.shed.racks[self.id].machines if each.state == "going"}
            self.provider.deleted |= doomed
            super().delete_nodes(nodes)
            self.shed.set(self.id, self.shed.racks[self.id].wanted - len(doomed & going))


@fails("test_a_restart_orders_nothing")
class TidiesUpAtTheStart(ShedProvider):
    """Sets every rack that waits for machines to what is there."""

    tidied = False

    def refresh(self):
        super().refresh()
        if not self.tidied and self.shed.delivery == "up":
            for group in self.groups():
                coming = [each for each in group.rack.machines if each.state == "coming"]
                if coming:
                    self.shed.set(group.id, group.rack.wanted - len(coming))
        self.tidied = True


@fails("test_an_order_without_an_answer_is_not_doubled")
class TriesAgain(ShedGroup):
    def increase(self, count):
        try:
            super().increase(count)
        except CloudUnavailableError:
            super().increase(count)


@fails("test_an_order_without_an_answer_is_temporary")
class GivesUpForGood(ShedGroup):
    def increase(self, count):
        lost = self.shed.lost
        with instead(CloudUnavailableError if lost else (), PermanentError("there was no answer")):
            super().increase(count)


@fails("test_a_deletion_without_an_answer_can_be_repeated")
class LowersTheTargetAgain(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.unsure = False

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            unsure, self.provider.unsure = self.provider.unsure, self.shed.lost
            super().delete_nodes(nodes)
            if unsure:
                self.shed.set(self.id, self.rack.wanted - len(nodes))


@fails("test_groups_grow_at_the_same_time")
class OneOrderAtATime(ShedProvider):
    """Keeps what it is to order where another thread finds it."""

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def increase(self, count):
            self.provider.count = count
            linger()
            super().increase(self.provider.count)


@fails("test_an_action_may_outlast_a_refresh")
class ForgetsOldGroups(ShedProvider):
    """Takes actions only of the groups that it gave out last, but for those of a thread that it did not see."""

    def refresh(self):
        before = self.groups()
        super().refresh()
        for group in before:
            group.outdated = True

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        outdated = False

        def increase(self, count):
            if self.outdated:
                raise PermanentError("this group is outdated")
            super().increase(count)


@fails("test_refreshes_and_actions_may_overlap")
class HoldsNothingTogether(ShedProvider):
    """Fails to be read while it acts."""

    acting = 0

    def refresh(self):
        linger(lambda: self.acting)
        if self.acting:
            raise NodewrightError("something changed while it was read")
        super().refresh()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def increase(self, count):
            self.provider.acting += 1
            linger()
            try:
                super().increase(count)
            finally:
                self.provider.acting -= 1


@fails("test_an_order_does_not_wait_for_machines")
class WaitsForMachines(ShedGroup):
    def increase(self, count):
        super().increase(count)
        until = time.monotonic() + 1.8
        while self.shed.delivery == "coming" and time.monotonic() < until:
            time.sleep(0.01)


def rarely(wrong, error):
    """A group whose rare actions raise something else."""

    class Rarely(ShedGroup):
        def decrease_target(self, count):
            with instead(wrong, error):
                super().decrease_target(count)

        def force_delete_nodes(self, nodes):
            with instead(wrong, error):
                super().force_delete_nodes(nodes)

    return Rarely


fails("test_a_rare_action_that_is_throttled_says_so")(rarely(ThrottledError, CloudUnavailableError("no answer")))
fails("test_a_rare_action_that_is_denied_says_so")(rarely(AccessDeniedError, TemporaryError("the door is shut")))
fails("test_a_rare_action_in_a_cloud_that_is_not_there_says_so")(rarely(CloudUnavailableError, ConnectionError()))


class NotesDeletions(ShedProvider):
    """Keeps in mind which machines it could not delete because it was throttled."""

    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.noted = set()

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            try:
                super().delete_nodes(nodes)
            except ThrottledError:
                self.provider.noted.update(node.spec.provider_id for node in nodes if len(nodes) == 1)
                raise


@fails("test_a_deletion_that_is_throttled_can_be_repeated")
class TriesOnce(NotesDeletions):
    class group_class(NotesDeletions.group_class):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            super().delete_nodes([node for node in nodes if node.spec.provider_id not in self.provider.noted])


@fails("test_a_machine_that_was_not_deleted_is_running")
class ShowsWhatWasMeant(NotesDeletions):
    class group_class(NotesDeletions.group_class):  # noqa: N801  takes the attribute's place
        def instances(self):
            noted = self.provider.noted
            return tuple(
                replace(each, state=InstanceState.DELETING) if each.id in noted else each
                for each in super().instances()
            )


@fails("test_groups_shrink_at_the_same_time")
class OneDeletionAtATime(ShedProvider):
    """Keeps what it is to delete where another thread finds it."""

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            self.provider.doomed = nodes
            linger()
            super().delete_nodes(self.provider.doomed)
