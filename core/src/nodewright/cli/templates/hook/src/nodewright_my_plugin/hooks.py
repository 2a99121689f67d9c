# EDIT: say in one line why anyone wants these hooks.
"""People say by a label that they need a node, and read in the log what became of the others."""

import logging

from nodewright.api import Node, Outcome, Plugin, PluginConfig, hookimpl
from pydantic import Field

logger = logging.getLogger(__name__)


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings. Names are in camelCase in YAML.
    label: str = Field(default="example.com/in-use-by", min_length=1, description="nodes with this label are kept")


class MyPlugin(Plugin):
    """Keeps nodes that carry a label, and logs removals that failed."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig

    # EDIT: a hook names those of the arguments that it needs. All hooks, with their arguments, are in
    # `pydoc nodewright.api.hookspecs`. None may block: the loop waits. This one must be pure: same input, same answer.
    @hookimpl
    def veto_scale_down(self, node: Node) -> str | None:
        """Refuse to remove a node with the label."""
        user = node.metadata.labels.get(self.config.label)
        return f"in use by {user}" if user else None

    # EDIT: observers (hooks whose names begin with on_) may do what they like, but quickly. Their answers are ignored.
    @hookimpl
    def on_outcome(self, outcome: Outcome) -> None:
        """Log what could not be removed."""
        if not outcome.ok and outcome.action in ("drain", "delete-instances"):
            logger.warning("%s of %s failed: %s", outcome.action, outcome.target, outcome.error)
