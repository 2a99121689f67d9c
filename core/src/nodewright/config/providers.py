"""The configured providers: what they are given, and their groups, asked for outside of the loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Thread

from nodewright.api.clock import Clock
from nodewright.api.errors import PluginError
from nodewright.api.group import GroupOptions
from nodewright.api.provider import Provider, ProviderContext
from nodewright.config.effective import default_options
from nodewright.config.model import Settings
from nodewright.config.plugins import PluginClasses, make
from nodewright.config.reference import Reference


@dataclass(frozen=True, kw_only=True)
class LiveGroup:
    """A node group that a provider has now."""

    id: str
    provider: str
    options: GroupOptions


def provider_context(settings: Settings, clock: Clock) -> ProviderContext:
    """Return what every provider of *settings* gets besides its own configuration."""
    return ProviderContext(
        clock=clock,
        user_agent=settings.kube.user_agent,
        refresh_timeout=settings.loop.refresh_timeout,
        action_timeout=settings.loop.action_timeout,
        nodes=settings.node_groups,
        discovery=settings.discovery,
    )


def live_groups(settings: Settings, classes: PluginClasses, clock: Clock) -> list[LiveGroup]:
    """Return the groups of all providers that *settings* name, in order.

    Raises `PluginError` for the first provider that can't be made, fails, or takes longer than
    ``loop.refreshTimeout``.
    """
    context = provider_context(settings, clock)
    groups: list[LiveGroup] = []
    for reference in settings.providers:
        groups += _within(settings.loop.refresh_timeout.total_seconds(), reference, classes, context, settings)
    return groups


def _within(
    seconds: float, reference: Reference, classes: PluginClasses, context: ProviderContext, settings: Settings
) -> Sequence[LiveGroup]:
    groups: list[LiveGroup] = []
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            groups.extend(_ask(reference, classes, context, default_options(settings)))
        except (Exception, SystemExit) as error:  # the caller raises it again, whatever it is
            failures.append(error)

    # A daemon: a provider that hangs must not keep the process alive.
    thread = Thread(target=ask, name=f"ask-{reference.name}", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise PluginError(reference.name, f"provider {reference.name} did not answer within {seconds:g} s")
    if failures:
        error = failures[0]
        raise PluginError(
            reference.name, f"provider {reference.name} failed: {error or type(error).__name__}"
        ) from error
    return groups


def _ask(
    reference: Reference, classes: PluginClasses, context: ProviderContext, defaults: GroupOptions
) -> Sequence[LiveGroup]:
    provider = make(classes, "providers", reference, context)
    assert isinstance(provider, Provider)
    try:
        provider.refresh()
        return [
            LiveGroup(
                id=group.id,
                provider=reference.name,
                options=group.options(defaults),
            )
            for group in provider.groups()
        ]
    finally:
        provider.close()
