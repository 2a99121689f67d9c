"""Where prices come from."""

from nodewright.api import PluginConfig


class PriceSettings(PluginConfig):
    """Where prices come from."""
