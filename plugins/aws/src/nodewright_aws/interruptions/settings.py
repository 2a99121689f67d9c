"""Where news of interruptions comes from."""

from nodewright.api import PluginConfig


class InterruptionSettings(PluginConfig):
    """Where news of interruptions comes from."""
