# EDIT: say in one line why anyone wants this processor.
"""Pods that are on hold may wait: no node is ordered for them."""

from collections.abc import Sequence

from nodewright.api import PendingPodsProcessor, PluginConfig, PodSet, ProcessorContext, Reason
from pydantic import Field


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings. Names are in camelCase in YAML.
    label: str = Field(default="example.com/on-hold", min_length=1, description="pods with this label bring no nodes")


class MyPlugin(PendingPodsProcessor):
    """Takes pods off the list that a label puts on hold."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig
    # EDIT: the code that explains why a pod got no help. Set `adds_pods = True` if your step adds pods instead.
    reason = Reason.FILTERED

    # EDIT: return the pods that still need nodes. A set is of pods that a scheduler can't tell apart; to keep some of a
    # set, use `PodSet.only`. The time is `context.now`, and the cluster `context.simulation`.
    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods without the label."""
        return [same for same in pods if self.config.label not in same.pod.metadata.labels]
