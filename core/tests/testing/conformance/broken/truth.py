"""What is told, and what is left over, after an action failed."""

from collections import defaultdict
from dataclasses import replace

from nodewright.api import CloudUnavailableError, InstanceState, NodewrightError, ThrottledError

from ..provider import ShedGroup, ShedProvider, id_of, translated
from .registry import also_fails, fails


@fails("test_after_a_failure_the_target_is_the_clouds")
class CountsDeletionsThatWereThrottled(ShedProvider):
    """Lowers the target that it tells by what it could not delete."""

    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.throttled = defaultdict(list)

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            try:
                super().delete_nodes(nodes)
            except ThrottledError:
                self.provider.throttled[self.id].append(len(nodes))
                raise

    def refresh(self):
        super().refresh()
        for group in self.groups():
            counted = sum(count for count in self.throttled[group.id] if count > 1)
            group.rack = replace(group.rack, wanted=group.rack.wanted - counted)


@also_fails("test_after_a_failure_the_target_is_the_clouds")
class CountsItsJournal(ShedProvider):
    """Writes down what it is about to order, forgets to strike out what failed, and believes it after a restart."""

    def refresh(self):
        first = not self.groups()
        super().refresh()
        for group in self.groups():
            group.extra = getattr(self.shed, "journal", {}).get(group.id, 0) if first else 0

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        extra = 0

        @property
        def target_size(self):
            return super().target_size + self.extra

        def increase(self, count):
            try:
                super().increase(count)
            except NodewrightError:
                self.shed.journal = {self.id: count}
                raise


@fails("test_after_a_failure_the_machines_are_the_clouds")
class HidesWhatItIsUnsureOf(ShedProvider):
    """Shows no machine of an order that got no answer."""

    def __init__(self, config, context, shed):
        super().__init__(config, context, shed)
        self.known = None

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def increase(self, count):
            before = {each.number for each in self.rack.machines}
            try:
                super().increase(count)
            except CloudUnavailableError:
                self.provider.known = before
                raise

        def instances(self):
            known = self.provider.known
            return [each for each in super().instances() if known is None or int(each.id.rpartition("-")[2]) in known]


@also_fails("test_after_a_failure_the_machines_are_the_clouds")
class ShowsWhatItMeantToDelete(ShedProvider):
    """Shows machines as going that the cloud did not delete, if there were several."""

    class group_class(ShedGroup):  # noqa: N801  takes the attribute's place
        def delete_nodes(self, nodes):
            try:
                super().delete_nodes(nodes)
            except ThrottledError:
                self.provider.meant = {node.spec.provider_id for node in nodes if len(nodes) > 1}
                raise

        def instances(self):
            meant = getattr(self.provider, "meant", ())
            return [
                replace(each, state=InstanceState.DELETING) if each.id in meant else each
                for each in super().instances()
            ]


@fails("test_a_failure_makes_nothing_up")
class CountsBeforeItAsks(ShedGroup):
    """Raises the number that it tells before it orders, and does not take it back."""

    def increase(self, count):
        beyond = self.rack.wanted + count > self.max_size
        if not beyond and self.shed.broken:
            self.rack = replace(self.rack, wanted=self.rack.wanted + count)
        super().increase(count)


@also_fails("test_a_failure_makes_nothing_up")
class StrikesOutBeforeItAsks(ShedGroup):
    """Takes machines off what it tells before it deletes them, and does not put them back."""

    def delete_nodes(self, nodes):
        doomed = {node.spec.provider_id for node in nodes}
        if self.shed.broken and len(nodes) > 1:
            kept = tuple(each for each in self.rack.machines if id_of(self.id, each) not in doomed)
            self.rack = replace(self.rack, machines=kept)
        super().delete_nodes(nodes)


def one_by_one(group, count):
    """Order *count* machines by a call for each."""
    with translated(group):
        for _ in range(count):
            group.provider.ordered(group.shed.order(group.id, 1, group.max_size, whole=True))


@fails("test_an_order_that_raised_keeps_nothing")
class KeepsWhatItGot(ShedGroup):
    """Orders machines one by one, keeps two, and raises for the third."""

    def increase(self, count):
        if count == 3 and self.shed.stock == 2:
            one_by_one(self, count)
        super().increase(count)


@also_fails("test_an_order_that_raised_keeps_nothing")
class UndoesAllButOne(ShedGroup):
    """Orders machines one by one, and forgets one of them when it takes them back."""

    def increase(self, count):
        try:
            one_by_one(self, count) if count == 3 and self.shed.stock == 2 else super().increase(count)
        except NodewrightError:
            if self.shed.stock == 0:
                self.shed.set(self.id, self.rack.wanted + 1)
            raise


@fails("test_an_order_without_an_answer_stands_whole_or_not_at_all")
class ForgetsWhatGotNoAnswer(ShedGroup):
    """Orders machines one by one, and takes back those that it knows of: not the one whose answer was lost."""

    def increase(self, count):
        super().increase(1 if self.shed.lost else count)


@fails("test_failed_machines_count")
class CountsNoFailures(ShedGroup):
    """Takes failed machines out of the target, though they are shown."""

    @property
    def target_size(self):
        return super().target_size - sum(each.state == "broken" for each in self.rack.machines)
