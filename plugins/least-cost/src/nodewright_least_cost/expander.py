"""Expander ``least-cost``: the cheapest set of nodes from all groups that serves all pods."""

from collections.abc import Sequence
from time import monotonic

from nodewright.api import Expander, ExpanderContext, Option, PluginConfig
from pydantic import Field

from nodewright_least_cost.auction import Auction


class LeastCostConfig(PluginConfig):
    """What YAML may say under ``least-cost``."""

    time_limit: float = Field(default=1.0, gt=0, le=60, description="time limit of one search, in seconds")
    currency: str = Field(
        default="", description="currency of the prices to compare; empty: the currency of the first price"
    )
    gap: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="stop when the plan is proven to be this close to the cheapest: 0.01 is one percent",
    )


class LeastCost(Expander):
    """Plans the cheapest set of nodes from all groups that serves all pods, as one problem.

    Groups without a price, or with one in another currency, take no part. Neither do groups that grow to their maximum
    or not at all. Pods that only such groups can help are served after the others, by the option with the least cost
    per pod.
    """

    api_version = 1
    Config = LeastCostConfig
    config: LeastCostConfig

    def plan(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option] | None:
        """Return the cheapest plan found in time; None if no group takes part."""
        began = monotonic()
        priced = [option for option in self._priced(options, context) if not _is_whole(option)]
        if not priced:
            return None
        auction = Auction(priced, context, self.config.time_limit, self.config.gap, lambda: monotonic() - began)
        winner = auction.winner()
        if not winner.proposal.options:
            return None
        context.notice(
            "LeastCostPlan", self._message(winner.proposal.nodes, winner.proposal.cost, winner.gap), warning=False
        )
        return winner.proposal.options

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options with the least cost per pod; all of them if none has a price."""
        priced = self._priced(options, context)
        if not priced:
            context.notice("NoPrices", "least-cost keeps all options: no group that could grow has a price")
            return options
        costs = [(option.group.hourly_price or 0.0) * option.nodes / option.pod_count for option in priced]
        least = min(costs)
        return [option for option, cost in zip(priced, costs, strict=True) if cost == least]

    def _priced(self, options: Sequence[Option], context: ExpanderContext) -> list[Option]:
        """Return the options with comparable prices."""
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

    def _message(self, nodes: int, cost: float, gap: float) -> str:
        proof = f"at most {gap:.1%} above the cheapest" if gap else "proven to be the cheapest"
        currency = f" {self.config.currency}" if self.config.currency else ""
        return f"{nodes} nodes for {cost:.4g}{currency} an hour, {proof}"


def _is_whole(option: Option) -> bool:
    """Tell whether the group grows either to its maximum or not at all."""
    return option.group.options.zero_or_max_node_scaling
