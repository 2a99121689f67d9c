"""Demand: when pods that have only just come were first seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Self

from nodewright.decision.memory.slices import Slice


@dataclass(frozen=True, kw_only=True)
class DemandMemory(Slice):
    """What is remembered of waiting pods. Owned by growth."""

    #: When each pod was first seen, ``namespace/name``, while all that wait are new and more may follow.
    arrivals: dict[str, datetime] = field(default_factory=dict)

    may_wait: ClassVar[frozenset[str]] = frozenset({"arrivals"})

    def arrived(self, arrivals: Mapping[str, datetime]) -> Self:
        """Return the memory of these *arrivals* only; the same one if nothing changed."""
        return self if arrivals == self.arrivals else replace(self, arrivals=dict(arrivals))

    def after_absence(self) -> Self:
        """Forget all: a pod that waited through an absence is not new."""
        return type(self)()
