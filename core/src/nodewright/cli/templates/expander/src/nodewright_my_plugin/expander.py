# EDIT: say in one line why anyone wants this expander.
"""Traffic between zones costs money and time: grow where the data lives, unless that costs even more."""

from collections.abc import Sequence
from math import inf

from nodewright.api import Expander, ExpanderContext, Option, PluginConfig
from pydantic import Field

ZONE = "topology.kubernetes.io/zone"


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings. Names are in camelCase in YAML. One without a default is required; mistakes are named with
    # their line by `nodewright config check`.
    zones: tuple[str, ...] = Field(min_length=1, description="zones in which the data lives")
    premium: float = Field(default=0.2, ge=0, description="how much more it may cost there: 0.2 is a fifth more")


class MyPlugin(Expander):
    """Prefers groups in the zones of the data, unless they cost too much more."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig

    # EDIT: keep the best of the options, as they are and in their order. What is equally good is for the next expander
    # in the chain. Go by the options, the context and the settings only: the same question has to get the same answer.
    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Keep the options near the data that are affordable; all of them if none is."""
        costs = [cost for option in options if (cost := cost_of_a_pod(option)) is not None]
        limit = min(costs, default=inf) * (1 + self.config.premium)
        near = [option for option in options if zone(option) in self.config.zones]
        return [option for option in near if (cost_of_a_pod(option) or 0) <= limit] or options


def zone(option: Option) -> str:
    """Where the option's nodes would be; empty if that is unknown."""
    return option.group.template.labels.get(ZONE, "") if option.group.template else ""


def cost_of_a_pod(option: Option) -> float | None:
    """What the option costs in an hour for each pod that it helps; None if its group has no price."""
    price = option.group.hourly_price
    return None if price is None else price * option.nodes / option.pod_count
