"""How the templates of groups are made."""

from nodewright.api import PluginConfig


class TemplateSettings(PluginConfig, defer_build=True):
    """How the templates of groups are made."""
