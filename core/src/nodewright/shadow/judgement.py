"""Judgements: how our decisions compare with what another autoscaler does."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from nodewright.config.model.base import camel_case
from nodewright.objects.duration import format_duration


class Category(StrEnum):
    """How a judgement counts."""

    AGREEMENT = "agreement"
    DIFFERENCE = "difference"
    #: Counts for neither.
    NOTE = "note"


class JudgementKind(StrEnum):
    """What is alike or different; `text` puts it in words."""

    category: Category
    text: str

    def __new__(cls, code: str, category: Category, text: str) -> "JudgementKind":
        """Keep category and text beside the code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.category = category
        member.text = text
        return member

    GROWTH = "growth", Category.AGREEMENT, "the same group grew by as much"
    GROWTH_EQUIVALENT = "growth-equivalent", Category.AGREEMENT, "an equally good group grew"
    REMOVAL = "removal", Category.AGREEMENT, "the same node went"
    REMOVAL_EQUIVALENT = "removal-equivalent", Category.AGREEMENT, "another node went first that may go as well"
    CLEANUP = "cleanup", Category.AGREEMENT, "machines that never came were given up"

    GROWTH_GROUP = "growth-group", Category.DIFFERENCE, "another group grew"
    GROWTH_SIZE = "growth-size", Category.DIFFERENCE, "the group grew by another number"
    GROWTH_MISSING = "growth-missing", Category.DIFFERENCE, "only we would grow the group"
    GROWTH_EXTRA = "growth-extra", Category.DIFFERENCE, "only they grew the group"
    REMOVAL_NODE = "removal-node", Category.DIFFERENCE, "another node of the group went"
    REMOVAL_EARLY = "removal-early", Category.DIFFERENCE, "the node went before we would let it go"
    REMOVAL_MISSING = "removal-missing", Category.DIFFERENCE, "only we would remove the node"
    REMOVAL_EXTRA = "removal-extra", Category.DIFFERENCE, "only they removed the node"
    CLEANUP_MISSING = "cleanup-missing", Category.DIFFERENCE, "only we would give machines up"
    CLEANUP_EXTRA = "cleanup-extra", Category.DIFFERENCE, "only they gave machines up"

    LATE = "late", Category.NOTE, "they did what was missing after all"
    OVER = "over", Category.NOTE, "what was missing is no longer needed"
    UNJUDGED = "unjudged", Category.NOTE, "not watched for long enough to judge"


#: Seconds; a thousand years.
_LONGEST_LAG = 3e10


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One thing that both did, that only one of them did, or that each did in its own way."""

    at: datetime
    kind: JudgementKind
    #: The group, and the node if it is about one.
    group: str
    node: str = ""
    #: What we would do and why, in words; empty for nothing.
    ours: str = ""
    why: str = ""
    #: What the other one did, and its reason if that is known.
    theirs: str = ""
    their_why: str = ""
    #: How many more machines (or fewer) they ordered than we would have.
    machines: int = 0
    #: Seconds by which the other one was later than we, negative if it was earlier. For what it does not do, the
    #: seconds for which we have proposed it.
    lag: float | None = None

    @classmethod
    def from_json(cls, entry: Mapping[str, Any], at: datetime) -> "Judgement":
        """Read what `to_json` wrote. Raises `ValueError` if something is missing, unknown or of another type."""
        values = {each.name: entry[key] for each in fields(cls) if (key := camel_case(each.name)) in entry}
        found = msgspec.convert({**values, "at": at}, cls)
        if found.lag is not None and not abs(found.lag) <= _LONGEST_LAG:
            raise ValueError(f"lag: {found.lag} s are more than any autoscaler runs")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the entry for the record, without its time; what is empty is left out."""
        entry = {camel_case(name): value for name, value in vars(self).items() if name != "at"}
        said = {key: value for key, value in entry.items() if value or (key == "lag" and value is not None)}
        return {"sort": self.category.value, **said}

    @property
    def category(self) -> Category:
        """How it counts."""
        return self.kind.category

    def __str__(self) -> str:
        about = f"node {self.node} of {self.group}" if self.node else f"group {self.group}"
        sides = [
            f"{who} {what}" + (f" ({why})" if why else "")
            for who, what, why in (("we", self.ours, self.why), ("they", self.theirs, self.their_why))
            if what
        ]
        return f"{about}: {'; '.join(sides)}{self.timing}"

    @property
    def timing(self) -> str:
        """Who was earlier, in words; empty if both were within a second."""
        if self.lag is None or abs(self.lag) < 1:
            return ""
        span = format_duration(timedelta(seconds=round(abs(self.lag))))
        if self.kind is JudgementKind.OVER or self.kind.value.endswith("-missing"):
            return f", for {span}"
        return f", {span} {'later' if self.lag > 0 else 'earlier'}"
