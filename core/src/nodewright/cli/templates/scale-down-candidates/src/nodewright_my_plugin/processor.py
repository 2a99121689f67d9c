# EDIT: say in one line why anyone wants this processor.
"""A node that has only just come is worth keeping for a while."""

from collections.abc import Sequence
from datetime import timedelta

from nodewright.api import Node, PluginConfig, ProcessorContext, Reason, ScaleDownCandidatesProcessor
from pydantic import Field


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings. Names are in camelCase in YAML: this one is restMinutes.
    rest_minutes: float = Field(default=30, ge=0, description="how old a node has to be before it is looked at")


class MyPlugin(ScaleDownCandidatesProcessor):
    """Keeps nodes that are young."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig
    # EDIT: the code that explains why a node that this step took off is kept.
    reason = Reason.FILTERED

    # EDIT: return the nodes to look at, in order. The time is `context.now`, and the cluster `context.simulation`.
    def process(self, nodes: Sequence[Node], context: ProcessorContext) -> Sequence[Node]:
        """Return the nodes that are old enough, or whose age is not known."""
        latest = context.now - timedelta(minutes=self.config.rest_minutes)
        return [node for node in nodes if (node.metadata.creation_timestamp or latest) <= latest]
