"""What all slices of memory have in common: how they age, and what of them may be lost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self


@dataclass(frozen=True, kw_only=True)
class Shedding:
    """Something that may be left out of a memory that is too large for its store."""

    #: How much is lost with it: what costs least is left out first.
    cost: int
    #: What it is, in words for people.
    what: str
    take: Callable[[Any], Any]


class Slice:
    """A part of memory with one owner. Immutable: whoever may change it returns the next one.

    Only the module that defines a slice makes new ones; everyone else calls its methods.
    """

    #: What may be left out of it, if anything: never what keeps something from being done twice, or too early.
    sheds: ClassVar[tuple[Shedding, ...]] = ()
    #: Fields that change often and that any loop finds again: they need not be stored at once. In a large cluster they
    #: are most of memory.
    may_wait: ClassVar[frozenset[str]] = frozenset()

    def differs(self, other: Self) -> bool:
        """Tell whether *other* differs in a field that can't wait to be stored. Identical objects are not compared."""
        names = self.__dict__.keys() - self.may_wait
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return any(ours is not theirs and ours != theirs for ours, theirs in pairs)

    def after_absence(self) -> Self:
        """Return what is still worth something after no process looked at the cluster for a while.

        Whatever counts since when something has been so is void: it may have been otherwise meanwhile. What lasts until
        a time, and what was learnt, stays.
        """
        return self

    def without_times(self) -> Self:
        """Return what stays valid when the times in it can't be trusted."""
        return type(self)()
