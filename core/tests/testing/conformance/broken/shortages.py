"""What is left, and why machines do not come."""

from dataclasses import replace

from nodewright.api import CapacityError, PartialIncreaseError

from ..provider import ShedGroup
from .registry import also_fails, fails


@fails("test_what_a_machine_takes_of_a_quota_is_a_number_above_zero")
class TakesNothingOfMost(ShedGroup):
    def quotas(self):
        return {**super().quotas(), "garden/paint": 0}


@fails("test_an_order_that_a_quota_refused_names_a_quota_of_the_group")
class QuotaOfAnotherName(ShedGroup):
    def increase(self, count):
        try:
            super().increase(count)
        except CapacityError as error:
            named = error.cause.code == "Rationed"
            raise CapacityError(replace(error.cause, pool="all") if named else error.cause) from error


@fails("test_no_more_is_said_to_be_available_than_there_is")
class HasPlenty(ShedGroup):
    def available(self):
        return 100


@also_fails("test_an_order_that_raised_keeps_nothing")
class TellsOfWhatCame(ShedGroup):
    """Has ordered all, and says that only what is left was ordered."""

    def increase(self, count):
        left = self.shed.stock
        super().increase(count)
        if left is not None and 0 < left < count:
            raise PartialIncreaseError(left, CapacityError(self.cause("SoldOut")))


@fails("test_a_failure_that_no_machine_shows_tells_why")
class SaysNothing(ShedGroup):
    def errors(self):
        return ()


@also_fails("test_a_failure_that_no_machine_shows_tells_why")
class SaysItInOtherWords(ShedGroup):
    def errors(self):
        return tuple(replace(error, error_class="Quota") for error in super().errors())


@fails("test_a_failure_that_is_over_is_told_no_more")
class HoldsGrudges(ShedGroup):
    def errors(self):
        known = self.provider.__dict__.setdefault("grudges", {})
        known.setdefault(self.id, set()).update(super().errors())
        return tuple(known[self.id])
