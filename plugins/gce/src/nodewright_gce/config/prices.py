"""Where prices come from, and how they are corrected."""

from nodewright.api import PluginConfig


class PriceSettings(PluginConfig, defer_build=True):
    """Where prices come from, and how they are corrected."""
