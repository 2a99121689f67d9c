"""Calls of the cloud, and the end."""

import weakref
from threading import Event, Thread

from ..provider import ShedGroup, ShedProvider
from .registry import fails


@fails("test_a_provider_is_made_without_a_call")
class LooksAroundFirst(ShedProvider):
    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        shed.calls += 1


@fails("test_facts_of_groups_are_no_calls")
class AsksForEveryFact(ShedGroup):
    def instances(self):
        self.shed.calls += 1
        return super().instances()


@fails("test_facts_of_nodes_are_no_calls")
class AsksForEveryNode(ShedProvider):
    def group_of(self, node):
        self.shed.calls += 1
        return super().group_of(node)


@fails("test_facts_of_the_cloud_are_no_calls")
class AsksForPrices(ShedProvider):
    def pricing(self):
        self.shed.calls += 1
        return super().pricing()


@fails("test_a_refresh_does_not_call_for_every_machine")
class AsksForEveryMachine(ShedProvider):
    def refresh(self):
        super().refresh()
        self.shed.calls += len(self._owners)


@fails("test_closing_twice_is_no_error")
class ClosesOnce(ShedProvider):
    closed = False

    def close(self):
        if self.closed:
            raise ValueError("closed already")
        self.closed = True


@fails("test_closing_one_leaves_others_alone")
class ClosesTheDoor(ShedProvider):
    """Has one connection for all providers of a shed."""

    def refresh(self):
        if getattr(self.shed, "closed", False):
            raise ValueError("the connection is closed")
        super().refresh()

    def close(self):
        self.shed.closed = True


@fails("test_a_provider_that_never_read_can_be_closed")
class ClosesWhatItHas(ShedProvider):
    def close(self):
        if not self._groups:
            raise ValueError("nothing to close")


@fails("test_a_closed_provider_leaves_no_threads")
class ListensForEver(ShedProvider):
    """Has a thread that nobody ends; here it ends with the shed."""

    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        over = Event()
        weakref.finalize(shed, over.set)
        Thread(target=over.wait, args=(30,), daemon=True).start()
