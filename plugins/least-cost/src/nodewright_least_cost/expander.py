"""Expander ``least-cost``: the cheapest set of nodes over all groups that serves all pods."""

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from nodewright.api import Expander, ExpanderContext, Option, PluginConfig
from pydantic import Field

from nodewright_least_cost.market import Market

if TYPE_CHECKING:
    from nodewright_least_cost.search import Plan


class LeastCostConfig(PluginConfig):
    """What YAML may say under ``least-cost``."""

    time_limit: float = Field(default=2.0, gt=0, le=60, description="seconds that one search may take")
    currency: str = Field(default="", description="currency of the prices that count; empty: whatever they are in")
    gap: float = Field(default=0.0, ge=0, lt=1, description="stop when proven to be so close: 0.01 is one percent")


class LeastCost(Expander):
    """Plans the cheapest set of nodes over all groups that serves all pods, solved as a whole.

    Groups without a price, or with one in another currency, take no part. Nor do pods whose places depend on where
    other pods are (spread, affinity): for these, the option that costs least for each pod is taken, after the others
    have been served.
    """

    Config = LeastCostConfig
    config: LeastCostConfig

    def plan(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option] | None:
        """Return the cheapest plan that was found in time; None if there is nothing to compare."""
        began = monotonic()
        priced = self._priced(options, context)
        if len(options) < 2 or not priced:
            return None
        market = Market(priced, context.simulation, context.room)
        if not market.problem.demand:
            return None
        # HiGHS takes a moment to load, and is not needed before there is something to solve.
        from nodewright_least_cost.search import cheapest_plan

        limits = self.config
        plan = cheapest_plan(market.problem, limits.time_limit, limits.gap, elapsed=lambda: monotonic() - began)
        context.notice("LeastCostPlan", self._told(plan), warning=False)
        return market.options(plan.purchases)

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options that cost least for each pod that they help; all of them if none has a price."""
        priced = self._priced(options, context)
        if not priced:
            context.notice("NoPrices", "least-cost keeps all options: no group that could grow has a price")
            return options
        costs = [(option.group.hourly_price or 0.0) * option.nodes / option.pod_count for option in priced]
        least = min(costs)
        return [option for option, cost in zip(priced, costs, strict=True) if cost == least]

    def _priced(self, options: Sequence[Option], context: ExpanderContext) -> list[Option]:
        """Return the options whose prices can be compared."""
        wanted = self.config.currency
        priced = []
        for option in options:
            if option.group.hourly_price is None:
                continue
            pricing = context.pricing.get(option.group.provider)
            currency = pricing.currency if pricing else wanted
            wanted = wanted or currency
            if currency == wanted:
                priced.append(option)
            else:
                message = f"least-cost leaves out group {option.group.id}: its price is in {currency}, not in {wanted}"
                context.notice("OtherCurrency", message)
        return priced

    def _told(self, plan: "Plan") -> str:
        nodes = sum(each.nodes for each in plan.purchases)
        proof = f"at most {plan.gap:.1%} above the cheapest" if plan.gap else "proven to be the cheapest"
        currency = f" {self.config.currency}" if self.config.currency else ""
        return f"{nodes} nodes for {plan.cost:.4g}{currency} an hour, {proof}"
