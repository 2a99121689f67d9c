"""One run of the suite: from a configuration and a provider's name to a report."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from platform import python_version
from typing import Any

from nodewright import __version__
from nodewright.api import API_VERSION, NodewrightError, PluginError, Provider, nearest
from nodewright.config.document import load
from nodewright.config.plugins import make
from nodewright.config.providers import provider_context
from nodewright.config.reference import Reference, unique_name
from nodewright.config.secrets import masked, secrets_in, without_secrets
from nodewright.plugins import Registry
from nodewright.plugins.entrypoints import PLUGIN_KINDS, registrations
from nodewright.plugins.error_text import describe
from nodewright.runtime.clock import SystemClock
from nodewright.testing.conformance.cloud import Ability
from nodewright.testing.conformance.live.cloud import LiveCloud, Patience, ResizedCloud, find_group, most_telling
from nodewright.testing.conformance.live.guard import GuardedProvider
from nodewright.testing.conformance.live.results import Report, Result, Rule
from nodewright.testing.conformance.live.run import run


class Account:
    """One provider of a configuration: its settings, and how to make it."""

    def __init__(self, config: Path, name: str) -> None:
        """Raises `ConfigurationError`, or `PluginError` if no such provider is configured or it can't be made."""
        self._registry = Registry()
        settings = load(config, classes=self._registry).settings
        self.name = name
        self.clock = SystemClock()
        self._reference = _referenced(settings.providers, name)
        self._context = provider_context(settings, self.clock)

    def provider(self) -> Provider:
        """A new provider, not refreshed. Raises `PluginError`."""
        made = make(self._registry, "providers", self._reference, self._context)
        if not isinstance(made, Provider):
            raise PluginError(self.name, f"{self._reference.name!r} is no Provider")
        return made

    @property
    def distribution(self) -> str:
        """The distribution of the provider, with its version."""
        found = [each for each in registrations(PLUGIN_KINDS["providers"]) if each.name == self._reference.name]
        return f"{found[0].distribution} {found[0].version}" if found else ""

    @property
    def settings(self) -> Any:
        """What the configuration says, without secrets."""
        return without_secrets(dict(self._reference.config))

    @property
    def secrets(self) -> frozenset[str]:
        """Secrets, which must show nowhere."""
        return frozenset(secrets_in(dict(self._reference.config)))


class Trial:
    """The suite, ready to be run against an account: one group of it is resized, or all of it only read."""

    def __init__(self, account: Account, cloud: LiveCloud) -> None:
        self._account = account
        self._cloud = cloud
        self._secrets = account.secrets

    @property
    def announcement(self) -> str:
        """What is about to happen, in words."""
        group, name = self._cloud.group(), self._account.name
        if not isinstance(self._cloud, ResizedCloud):
            return f"reads the groups of {name}, above all {group}, and changes nothing"
        found = self._cloud.found
        return (
            f"resizes group {group} of {name} (from {found.min_size} to {found.max_size}; now {found}):\n"
            "test by test it grows by up to three machines, and machines of it are deleted,\n"
            f"whatever runs on them. After each test it is set back to {found.target}.\n"
            "Other groups are only read."
        )

    @property
    def abilities(self) -> frozenset[str]:
        """What the cloud can do, as rules name what they need."""
        return frozenset(f"Ability.{ability.name}" for ability in self._cloud.abilities)

    def run(
        self,
        *,
        begin: Callable[[Sequence[Rule]], None],
        start: Callable[[Rule], None],
        tell: Callable[[Result], None],
        interrupt: Callable[[], None],
        keep_going: bool,
    ) -> Report:
        """Try all rules and set back what was changed, also after Ctrl-C.

        Unless it is to *keep_going*, the first broken rule is the last that is tried. *begin* hears of the rules,
        *start* of each that is about to be tried, *tell* of each result, *interrupt* of Ctrl-C.
        """
        results: list[Result] = []
        trouble: list[str] = []
        interrupted = False
        began = self._account.clock.now()

        def note(result: Result) -> None:
            results.append(self._told(result))
            tell(results[-1])

        try:
            run(self._cloud, begin=begin, start=start, tell=note, keep_going=keep_going)
        except KeyboardInterrupt:
            interrupted = True
            interrupt()
            trouble.append("interrupted: not all rules were tried")
        finally:
            trouble += self._set_back()
        return Report(
            provider=self._account.name,
            distribution=self._account.distribution,
            nodewright=__version__,
            contract=API_VERSION,
            python=python_version(),
            at=began,
            mode="full" if isinstance(self._cloud, ResizedCloud) else "read-only",
            group=self._cloud.group(),
            config=self._account.settings,
            results=tuple(results),
            trouble="; ".join(trouble),
            interrupted=interrupted,
        )

    def _told(self, result: Result) -> Result:
        reason = masked(result.reason, self._secrets)
        if not isinstance(self._cloud, ResizedCloud) and reason.endswith(f" can't {Ability.CHANGE}"):
            reason = "no group may be resized; --full tries these"
        return replace(result, reason=reason)

    def _set_back(self) -> list[str]:
        try:
            self._cloud.restore()
        except KeyboardInterrupt:
            return [f"group {self._cloud.group()} was not set back: look after it"]
        except Exception as error:  # Whatever a provider raises, users must hear about their machines.
            told = str(error) if isinstance(error, NodewrightError) else describe(error)
            return [masked(f"group {self._cloud.group()} was not set back, look after it: {told}", self._secrets)]
        return []


def open_account(account: Account, group: str) -> LiveCloud:
    """Return the *account* to be read; the tests are about *group*, or the one that tells most if none is named.

    Raises what the provider does when it is read.
    """
    provider = GuardedProvider(account.provider())
    try:
        provider.refresh()
        groups = provider.groups()
        if group or not groups:
            return LiveCloud(account.provider, find_group(groups, group).id)
        return LiveCloud(account.provider, most_telling(groups).id)
    finally:
        provider.close()


def open_group(account: Account, group: str, patience: Patience) -> ResizedCloud:
    """Return the *account* with one *group* to be resized. Raises what the provider does when it is read."""
    return ResizedCloud(account.provider, group, account.clock, patience)


def _referenced(references: Sequence[Reference], name: str) -> Reference:
    named: dict[str, Reference] = {}
    for reference in references:
        named[unique_name(reference.name, named)] = reference
    if name in named:
        return named[name]
    there, meant = ", ".join(named) or "none", nearest(name, named)
    raise PluginError(
        name, f"no entry of `providers` is {name!r}: " + (f"did you mean {meant!r}?" if meant else f"there is {there}")
    )
