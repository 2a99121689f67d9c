"""Replacements: nodes that give way to cheaper ones, over many loops."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Self

from nodewright.decision.memory.slices import Slice


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Nodes that give way to cheaper ones: the new ones come first, then the old ones go."""

    #: Provider ID of each node that goes, by its name.
    nodes: dict[str, str]
    #: Where new nodes were ordered, and how many; nowhere if the pods fit on nodes that were there.
    group: str = ""
    count: int = 0
    #: When it was decided.
    at: datetime
    #: When it last came a step further.
    since: datetime
    #: What it saves in an hour.
    saving: float = 0.0
    #: Which of the nodes are being removed.
    begun: tuple[str, ...] = ()
    #: Uids of the controllers whose pods move.
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ConsolidationMemory(Slice):
    """What consolidation remembers. Owned by the stages `replacements` and `consolidation`, in one folder."""

    replacements: tuple[Replacement, ...] = ()
    #: Nodes that consolidation leaves alone, and until when.
    left_alone_until: dict[str, datetime] = field(default_factory=dict)
    #: The last node that the search looked at: the next loop goes on behind it. Empty if it begins anew.
    examined: str = ""
    #: Until when the search rests, as it has looked at all nodes in vain.
    no_search_until: datetime | None = None

    may_wait: ClassVar[frozenset[str]] = frozenset({"examined"})

    def switched_off(self) -> Self:
        """Return the memory while consolidation is off."""
        return replace(self, replacements=(), left_alone_until={}, no_search_until=None)

    def followed(self, replacements: tuple[Replacement, ...], left_alone_until: dict[str, datetime]) -> Self:
        """Return the memory with the *replacements* that go on."""
        return replace(self, replacements=replacements, left_alone_until=left_alone_until)

    def searched(self, behind: str, rest_until: datetime | None) -> Self:
        """Return the memory after a search: the next one goes on *behind* a node, or anew after its rest."""
        return replace(self, examined=behind, no_search_until=rest_until)

    def begun(self, replacement: Replacement) -> Self:
        """Return the memory with one more *replacement* under way."""
        return replace(self, replacements=(*self.replacements, replacement))

    def not_begun(self, before: Self) -> Self:
        """Return the memory without the replacements that began since *before*."""
        underway = [each.nodes for each in before.replacements]
        return replace(self, replacements=tuple(each for each in self.replacements if each.nodes in underway))

    def with_replacements_of(self, other: Self) -> Self:
        """Return the memory with the replacements of *other*."""
        return replace(self, replacements=other.replacements)

    def after_absence(self) -> Self:
        """Forget replacements: their new nodes may be in use by now, or gone."""
        return replace(self, replacements=(), examined="")
