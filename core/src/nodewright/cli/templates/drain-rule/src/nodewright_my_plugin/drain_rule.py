# EDIT: say in one line why anyone wants this rule.
"""The shop is not disturbed while it is open."""

from nodewright.api import DrainContext, DrainRule, PluginConfig, Pod, PodFate
from pydantic import Field


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings. Names are in camelCase in YAML.
    namespace: str = Field(default="shop", min_length=1, description="whose pods stay while the shop is open")
    opens: int = Field(default=6, ge=0, le=24, description="hour of the day, UTC")
    closes: int = Field(default=22, ge=0, le=24, description="hour of the day, UTC")


class MyPlugin(DrainRule):
    """Lets pods of the shop be evicted at night only."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig

    # EDIT: a rule is asked once about all pods that are alike, except where this is true: where the time counts, or
    # anything that only this pod has (its name, its times, its status).
    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Pods of the shop are asked about one by one, as the time counts."""
        return pod.metadata.namespace == self.config.namespace

    # EDIT: return a fate (MOVES, STAYS, WAITS), or a reason to keep the node, in one word that is the same for all pods
    # with the same problem, or None to leave the decision to the next rule.
    def judge(self, pod: Pod, context: DrainContext) -> PodFate | str | None:
        """Keep the node while the shop is open."""
        if pod.metadata.namespace != self.config.namespace:
            return None
        return "ShopIsOpen" if self.config.opens <= context.now.hour < self.config.closes else None
