"""Entry points: what the installed distributions say they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from nodewright.api import (
    Command,
    DrainRule,
    Estimator,
    Expander,
    PendingPodsProcessor,
    Plugin,
    PricingModel,
    Provider,
    ScaleDownCandidatesProcessor,
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of implementation that distributions register in the entry-point group ``nodewright.<name>``."""

    #: The plural, as in the group's name.
    name: str
    #: One of them, for messages.
    noun: str
    #: What an implementation is a subclass of: one of these.
    bases: tuple[type, ...]

    @property
    def group(self) -> str:
        """The entry-point group."""
        return f"nodewright.{self.name}"

    def __str__(self) -> str:
        return self.noun


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(name="providers", noun="provider", bases=(Provider,)),
        Kind(name="expanders", noun="expander", bases=(Expander,)),
        Kind(name="estimators", noun="estimator", bases=(Estimator,)),
        Kind(name="processors", noun="processor", bases=(PendingPodsProcessor, ScaleDownCandidatesProcessor)),
        Kind(name="drain_rules", noun="drain rule", bases=(DrainRule,)),
        Kind(name="prices", noun="price model", bases=(PricingModel,)),
        Kind(name="hooks", noun="hook plugin", bases=(Plugin,)),
        Kind(name="commands", noun="command", bases=(Command,)),
    )
}


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One entry point: a distribution says that it has an implementation called *name*."""

    kind: Kind
    name: str
    distribution: str
    version: str
    entry_point: EntryPoint

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.distribution} {self.version}"


def registrations(kind: Kind) -> Sequence[Registration]:
    """Read all entry points of *kind*, by name; two distributions may claim the same one. Imports nothing.

    This is asked of `importlib.metadata` itself, not through stevedore: its cache on disk forgets which distribution an
    entry point came from, and rounds file times to minutes, so that it can miss a package that was just reinstalled.
    """
    found = [
        Registration(
            kind=kind,
            name=entry_point.name,
            distribution=entry_point.dist.name if entry_point.dist else "an unknown distribution",
            version=entry_point.dist.version if entry_point.dist else "",
            entry_point=entry_point,
        )
        for entry_point in entry_points(group=kind.group)
    ]
    return sorted(found, key=lambda each: (each.name, each.distribution))
