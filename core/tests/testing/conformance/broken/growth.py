"""Growth and the giving up of demand."""

from dataclasses import replace

from nodewright.api import CapacityError, ErrorClass, PermanentError, SizeLimitError

from ..provider import ShedGroup, ShedProvider, translated
from .registry import fails


@fails("test_increase_orders_as_many_machines_as_asked")
class OneAtATime(ShedGroup):
    def increase(self, count):
        super().increase(count if self.rack.wanted + count > self.max_size else min(count, 2))


@fails("test_increases_add_up")
class ForgetsItsFirstOrder(ShedGroup):
    ordered = 0

    def increase(self, count):
        if count > self.ordered:
            super().increase(count - self.ordered)
        self.ordered += count


@fails("test_an_order_is_seen_in_the_target", until_healed=True)
class TargetWithoutOrders(ShedProvider):
    """Takes the machines it saw for the target, in the refresh after an order; a new provider sees all."""

    def refresh(self):
        before = {name: group.rack.wanted for name, group in self._groups.items()}
        super().refresh()
        for name, group in self._groups.items():
            fresh = [each for each in group.rack.machines if each.state == "coming"]
            if fresh and name in before and not self.shed.late:
                group.rack = replace(group.rack, wanted=before[name])


@fails("test_growth_beyond_the_maximum_is_a_size_limit")
class SaysItInOtherWords(ShedGroup):
    def increase(self, count):
        try:
            super().increase(count)
        except SizeLimitError as error:
            raise PermanentError(str(error)) from error


@fails("test_growth_beyond_the_maximum_changes_nothing")
class TakesWhatFits(ShedGroup):
    def increase(self, count):
        fits = self.max_size - self.rack.wanted
        super().increase(min(fits, count))
        if fits < count:
            raise SizeLimitError(f"{count - fits} more do not fit")


@fails("test_growth_keeps_what_somebody_else_ordered")
class SetsWhatItRead(ShedGroup):
    ordered = 0

    def increase(self, count):
        meanwhile = self.shed.racks.get(self.id, self.rack).wanted - self.rack.wanted - self.ordered
        if 0 < meanwhile < 3:
            self.shed.set(self.id, self.rack.wanted)
        super().increase(count)
        self.ordered += count


@fails("test_the_maximum_holds_against_what_somebody_else_ordered")
class GoesByWhatItRead(ShedGroup):
    def increase(self, count):
        if self.rack.wanted + count > self.max_size:
            raise SizeLimitError(f"{self.id} would grow beyond {self.max_size}")
        with translated(self):
            self.provider.ordered(self.shed.order(self.id, count, 1000))


@fails("test_a_refused_order_is_a_lack_of_capacity")
class ClassesMixedUp(ShedGroup):
    def increase(self, count):
        try:
            super().increase(count)
        except CapacityError as error:
            raise CapacityError(replace(error.cause, error_class=ErrorClass.OTHER)) from error


@fails("test_a_refused_order_changes_nothing")
class OrdersAllTheSame(ShedGroup):
    def increase(self, count):
        try:
            super().increase(count)
        except CapacityError:
            self.shed.set(self.id, self.rack.wanted + count)
            raise


@fails("test_a_refused_order_names_a_pool_of_the_group")
class PoolOfAnotherName(ShedGroup):
    def increase(self, count):
        try:
            super().increase(count)
        except CapacityError as error:
            pool = "everywhere" if error.cause.code == "SoldOut" else error.cause.pool
            raise CapacityError(replace(error.cause, pool=pool)) from error


@fails("test_an_atomic_increase_orders_as_many_machines_as_asked")
class NotAtomic(ShedGroup):
    def increase_atomically(self, count):
        if self.rack.wanted + count > self.max_size or self.shed.stock is not None or self.shed.broken:
            super().increase_atomically(count)
        raise NotImplementedError


@fails("test_an_atomic_increase_beyond_the_maximum_is_a_size_limit")
class SaysItInOtherWordsOfAWhole(ShedGroup):
    def increase_atomically(self, count):
        try:
            super().increase_atomically(count)
        except SizeLimitError as error:
            raise PermanentError(str(error)) from error


@fails("test_an_atomic_increase_takes_all_or_nothing")
class AtomicInName(ShedGroup):
    def increase_atomically(self, count):
        if self.atomic:
            self.increase(count)
        else:
            super().increase_atomically(count)


@fails("test_unmet_demand_is_given_up")
class GivesUpEverything(ShedGroup):
    def decrease_target(self, count):
        unmet = self.rack.wanted - len(self.rack.machines)
        super().decrease_target(max(unmet, count))


@fails("test_unmet_demand_is_seen_in_the_target", until_healed=True)
class CountsMachines(ShedProvider):
    def refresh(self):
        super().refresh()
        for group in self.groups():
            there = [each for each in group.rack.machines if each.state not in ("going", "idle")]
            group.rack = replace(group.rack, wanted=len(there))


@fails("test_an_atomic_increase_beyond_the_maximum_changes_nothing")
class TakesWhatFitsOfAWhole(ShedGroup):
    def increase_atomically(self, count):
        room = self.max_size - self.rack.wanted
        super().increase_atomically(min(count, room))
        if count > room:
            raise SizeLimitError(f"{self.id} holds {self.max_size} machines")


def _beyond(group, count):
    """Whether some demand of the group is unmet, but not as much as is to be given up."""
    return 0 < group.rack.wanted - len(group.rack.machines) < count


@fails("test_more_than_unmet_demand_is_a_size_limit")
class SilentBeyondUnmetDemand(ShedGroup):
    def decrease_target(self, count):
        if not _beyond(self, count):
            super().decrease_target(count)


@fails("test_more_than_unmet_demand_is_not_given_up_in_part")
class GivesUpWhatItCan(ShedGroup):
    def decrease_target(self, count):
        if _beyond(self, count):
            super().decrease_target(self.rack.wanted - len(self.rack.machines))
        super().decrease_target(count)


@fails("test_growth_by_nothing_or_less_changes_nothing")
class GrowsDownwards(ShedGroup):
    def increase(self, count):
        if count < 0:
            self.shed.racks[self.id] = replace(self.rack, wanted=self.rack.wanted + count)
        else:
            super().increase(count)


@fails("test_giving_up_nothing_or_less_changes_nothing")
class GivesUpUpwards(ShedGroup):
    def decrease_target(self, count):
        if count < 0:
            super().increase(-count)
        else:
            super().decrease_target(count)


@fails("test_met_demand_is_a_size_limit")
class SilentAboutMetDemand(ShedGroup):
    def decrease_target(self, count):
        if len(self.rack.machines) < self.rack.wanted:
            super().decrease_target(count)


@fails("test_met_demand_is_not_given_up")
class DeletesForMetDemand(ShedGroup):
    def decrease_target(self, count):
        if count > 0 and all(machine.state == "up" for machine in self.rack.machines) and self.rack.wanted == 2:
            self.shed.set(self.id, self.rack.wanted - count)
            raise SizeLimitError(f"{self.id} has met its demand")
        super().decrease_target(count)


@fails("test_a_machine_in_creation_is_not_given_up")
class CountsRunningOnes(ShedGroup):
    def decrease_target(self, count):
        if any(machine.state == "coming" for machine in self.rack.machines) and not self.shed.late:
            self.shed.set(self.id, self.rack.wanted - count)
        else:
            super().decrease_target(count)


@fails("test_a_machine_that_came_meanwhile_is_not_given_up")
class CountsWhatItRead(ShedGroup):
    def decrease_target(self, count):
        if not 0 < count <= self.rack.wanted - len(self.rack.machines):
            raise SizeLimitError(f"{self.id} has met its demand")
        with translated(self):
            self.shed.read()
        self.shed.set(self.id, self.rack.wanted - count)


@fails("test_a_refused_order_does_not_hinder_the_next")
class CountsRefusedOrders(ShedGroup):
    refused = 0

    def increase(self, count):
        if self.rack.wanted + count + self.refused > self.max_size:
            raise SizeLimitError(f"{self.id} would grow beyond {self.max_size}")
        try:
            super().increase(count)
        except CapacityError:
            self.refused += count
            raise


@fails("test_a_group_without_atomic_growth_orders_nothing_of_it")
class DoesItPieceByPiece(ShedGroup):
    def increase_atomically(self, count):
        if self.atomic:
            super().increase_atomically(count)
        else:
            self.increase(count)
