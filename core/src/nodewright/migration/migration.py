"""A migration: what a set-up of Cluster Autoscaler becomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nodewright.migration.documents import Document
from nodewright.migration.note import Matter, Note


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release of a Helm chart: which one it is, and how people change it."""

    name: str
    namespace: str
    #: What keeps it, in words, such as ``the Argo CD Application argocd/autoscaler``.
    keeper: str
    #: How the values get there, and the way back.
    steps: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Migration:
    """Values for our chart, and everything that people have to know about them."""

    release: Release
    values: Document
    #: The configuration that the flags make, as a file.
    configuration: str
    notes: tuple[Note, ...] = field(default=())

    @property
    def complete(self) -> bool:
        """Whether everything is carried over."""
        return not self.of(Matter.HAND)

    def of(self, matter: Matter) -> Sequence[Note]:
        """Return the notes that ask for *matter*."""
        return [each for each in self.notes if each.matter is matter]

    def as_data(self) -> dict[str, Any]:
        """Return the whole as plain data, for JSON and YAML."""
        return {
            "from": self.release.keeper,
            "release": self.release.name,
            "namespace": self.release.namespace,
            "complete": self.complete,
            "notes": [{"matter": each.matter.value, "place": each.place, "text": each.text} for each in self.notes],
            "values": self.values,
            "configuration": self.configuration,
            "steps": list(self.release.steps),
        }
