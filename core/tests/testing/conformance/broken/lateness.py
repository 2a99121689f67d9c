"""Providers that believe what they are told of the time before their orders."""

from ..provider import ShedGroup, translated
from .registry import fails


class _Told(ShedGroup):
    """Knows what the shed tells at the moment, too, which may be of the time before."""

    @property
    def told(self):
        return (self.shed.told or {}).get(self.id, self.rack)


@fails("test_growth_counts_before_the_cloud_tells_of_it")
class ForgetsWhatItOrdered(ShedGroup):
    def increase(self, count):
        with translated(self):
            self.shed.order(self.id, count, self.max_size)


@fails("test_orders_add_up_before_the_cloud_tells_of_them")
class OrdersFromWhatItIsTold(_Told):
    def increase(self, count):
        ahead = self.rack.wanted - self.told.wanted
        if ahead < count or not ahead:
            super().increase(count - ahead)


@fails("test_a_deletion_counts_before_the_cloud_tells_of_it")
class ForgetsWhatItDeleted(ShedGroup):
    def _scrap(self, nodes, least):
        with translated(self):
            self.shed.scrap(self.id, self._numbers(nodes), least)


@fails("test_a_deletion_that_is_repeated_before_the_cloud_tells_of_it_counts_once")
class DeletesWhatItIsTold(_Told):
    def _scrap(self, nodes, least):
        super()._scrap(nodes, least)
        if self.told.wanted > self.rack.wanted:
            self.shed.set(self.id, self.rack.wanted - len(nodes))


@fails("test_nothing_is_given_up_that_has_come_before_the_cloud_tells_of_it")
class GivesUpWhatItIsNotTold(_Told):
    def decrease_target(self, count):
        if self.told.wanted < self.rack.wanted:
            self.shed.set(self.id, self.rack.wanted - count)
        else:
            super().decrease_target(count)
