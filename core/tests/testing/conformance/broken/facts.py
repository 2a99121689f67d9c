"""Facts of groups, options and prices."""

from dataclasses import replace

from nodewright.api import GroupOptions, ResourceLimits

from ..provider import ShedGroup, ShedPrices, ShedProvider
from .registry import fails


@fails("test_bounds_are_in_order")
class NoMinimum(ShedGroup):
    @property
    def min_size(self):
        return -1 if self.id == "gpu" else super().min_size


@fails("test_bounds_are_those_of_the_group")
class BoundsOfItsOwn(ShedGroup):
    @property
    def max_size(self):
        return 1000 if self.id == "attic" else super().max_size


@fails("test_the_target_is_what_the_cloud_is_asked_for")
class TargetOfItsOwn(ShedGroup):
    @property
    def target_size(self):
        return 0 if self.id == "gpu" else super().target_size


@fails("test_facts_are_the_same_when_asked_again")
class NeverTheSame(ShedGroup):
    """Counts how often it was asked while nothing happened."""

    asked, seen = 0, None

    def template(self):
        now = self.shed.calls, dict(self.shed.racks)
        self.asked, self.seen = (self.asked + 1 if now == self.seen else 0), now
        return replace(super().template(), annotations={"asked": str(self.asked)})


@fails("test_facts_are_those_of_the_last_refresh")
class LooksIntoTheShed(ShedGroup):
    @property
    def max_size(self):
        return super().max_size + self.shed.racks.get(self.id, self.rack).wanted - self.rack.wanted


@fails("test_pools_are_named_by_zone_and_type")
class PoolsOfModels(ShedGroup):
    def pools(self):
        return (self.rack.model,) if self.id == "gpu" else super().pools()


@fails("test_limits_are_in_order")
class ImpossibleLimits(ShedProvider):
    def resource_limits(self):
        return ResourceLimits(minimum={"cpu": 5}, maximum={"cpu": 3})


@fails("test_a_group_may_have_settings_of_its_own")
class NoOptions(ShedGroup):
    def options(self, defaults):
        return defaults


@fails("test_what_a_group_does_not_set_is_left_as_it_is")
class DropsDefaults(ShedGroup):
    def options(self, defaults):
        minutes = self.rack.unneeded_minutes
        own = GroupOptions(
            scale_down_unneeded_time=super().options(defaults).scale_down_unneeded_time,
            scale_down_unready_time=defaults.scale_down_unready_time,
        )
        return own if minutes else defaults


@fails("test_options_go_by_the_defaults_of_the_moment")
class RemembersDefaults(ShedGroup):
    remembered = None

    def options(self, defaults):
        self.remembered = self.remembered or super().options(defaults)
        return self.remembered


@fails("test_there_are_prices_after_a_refresh")
class NoPrices(ShedProvider):
    def pricing(self):
        return None


@fails("test_a_node_of_the_group_has_a_price")
class ForFree(ShedProvider):
    def pricing(self):
        return ShedPrices({"barrow": 0.0, "loom": 0.0})


@fails("test_prices_of_all_groups_are_numbers")
class UnknownIsLessThanNothing(ShedProvider):
    def pricing(self):
        return ShedPrices({"barrow": 0.1, "loom": -1.0})


@fails("test_options_are_of_their_kinds")
class CountsInPercent(ShedGroup):
    def options(self, defaults):
        options = super().options(defaults)
        return replace(options, scale_down_utilization_threshold=50) if self.id == "gpu" else options
