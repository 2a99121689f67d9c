"""The configured providers: how they are made, and their groups, asked for outside of the loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Thread

from nodewright.api.clock import Clock
from nodewright.api.errors import ConfigurationError, PluginError, Problem
from nodewright.api.group import GroupOptions
from nodewright.api.plugin import PluginConfig
from nodewright.api.provider import Provider, ProviderContext
from nodewright.config.document import Loaded
from nodewright.config.effective import default_options
from nodewright.config.model import Settings
from nodewright.config.plugins import PluginClasses
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


def refusals(loaded: Loaded, classes: PluginClasses, clock: Clock) -> Iterator[Problem]:
    """Yield why providers can't be made from the whole configuration. Making a provider calls no cloud."""
    context = provider_context(loaded.settings, clock)
    for index, reference in enumerate(loaded.settings.providers):
        path = ("providers", index, reference.name)
        try:
            _make(reference, classes, context).close()
        except ConfigurationError as error:
            for problem in error.problems:
                below = tuple(problem.path.split(".")) if problem.path else ()
                its = loaded.origins.problem((*path, *below), problem.message)
                yield problem if problem.source == "flags" else its
        except Exception as error:  # a plugin may raise anything
            yield loaded.origins.problem(path, f"can't be started: {error or type(error).__name__}")


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
    failures: list[Exception] = []

    def ask() -> None:
        try:
            groups.extend(_ask(reference, classes, context, default_options(settings)))
        except Exception as error:  # the caller raises it again, whatever it is
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
    provider = _make(reference, classes, context)
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


def _make(reference: Reference, classes: PluginClasses, context: ProviderContext) -> Provider:
    plugin = classes.load("providers", reference.name)
    assert issubclass(plugin, Provider)
    config: PluginConfig = plugin.Config.model_validate(dict(reference.config))
    return plugin(config, context)
