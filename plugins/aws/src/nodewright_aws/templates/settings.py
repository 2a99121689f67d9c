"""How new nodes are foreseen."""

from nodewright.api import PluginConfig


class TemplateSettings(PluginConfig):
    """How new nodes are foreseen."""
