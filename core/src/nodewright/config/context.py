"""What the settings hand to providers."""

from nodewright.api.clock import Clock
from nodewright.api.provider import ProviderContext
from nodewright.config.model import Settings


def provider_context(settings: Settings, clock: Clock) -> ProviderContext:
    """Return what every provider of *settings* is told besides its own configuration."""
    return ProviderContext(
        clock=clock,
        user_agent=settings.kube.user_agent,
        nodes=settings.node_groups,
        discovery=settings.discovery,
    )
