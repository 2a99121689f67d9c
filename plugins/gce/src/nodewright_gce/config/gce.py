"""A project of Google Cloud, and which of its groups to use."""

from nodewright.api import PluginConfig
from pydantic import Field

from nodewright_gce.config.prices import PriceSettings
from nodewright_gce.config.templates import TemplateSettings


class GceConfig(PluginConfig, defer_build=True):
    """A project of Google Cloud, and which of its groups to use."""

    templates: TemplateSettings = Field(default_factory=TemplateSettings)
    prices: PriceSettings = Field(default_factory=PriceSettings)
