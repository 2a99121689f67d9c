"""Findings: what a comparison of two autoscalers brings to light."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from nodewright.objects.duration import format_duration


class Sort(StrEnum):
    """Whether both do the same."""

    AGREEMENT = "agreement"
    DIFFERENCE = "difference"
    #: Neither: what is told besides and counts for nothing.
    NOTE = "note"


class Kind(StrEnum):
    """What is alike or different; `text` says it in words."""

    sort: Sort
    text: str

    def __new__(cls, code: str, sort: Sort, text: str) -> "Kind":
        """Keep what is known of it beside the code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.sort = sort
        member.text = text
        return member

    GROWTH = "growth", Sort.AGREEMENT, "the same group grew by as much"
    GROWTH_EQUIVALENT = "growth-equivalent", Sort.AGREEMENT, "an equally good group grew"
    REMOVAL = "removal", Sort.AGREEMENT, "the same node went"
    REMOVAL_EQUIVALENT = "removal-equivalent", Sort.AGREEMENT, "another node went first that may go as well"
    CLEANUP = "cleanup", Sort.AGREEMENT, "machines that never came were given up"

    GROWTH_GROUP = "growth-group", Sort.DIFFERENCE, "another group grew"
    GROWTH_SIZE = "growth-size", Sort.DIFFERENCE, "the group grew by another number"
    GROWTH_MISSING = "growth-missing", Sort.DIFFERENCE, "only we would grow the group"
    GROWTH_EXTRA = "growth-extra", Sort.DIFFERENCE, "only they grew the group"
    REMOVAL_NODE = "removal-node", Sort.DIFFERENCE, "another node of the group went"
    REMOVAL_EARLY = "removal-early", Sort.DIFFERENCE, "the node went before we would let it go"
    REMOVAL_MISSING = "removal-missing", Sort.DIFFERENCE, "only we would remove the node"
    REMOVAL_EXTRA = "removal-extra", Sort.DIFFERENCE, "only they removed the node"
    CLEANUP_MISSING = "cleanup-missing", Sort.DIFFERENCE, "only we would give machines up"
    CLEANUP_EXTRA = "cleanup-extra", Sort.DIFFERENCE, "only they gave machines up"

    LATE = "late", Sort.NOTE, "they did after all what was missing"
    OVER = "over", Sort.NOTE, "what was missing is not needed any more"
    UNJUDGED = "unjudged", Sort.NOTE, "not watched for long enough to judge"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that both did, or only one of them, or each in its own way."""

    at: datetime
    kind: Kind
    #: The group that this is about, and the node if it is about one.
    group: str
    node: str = ""
    #: What we would do and what the other one did, in words; empty for nothing.
    ours: str = ""
    theirs: str = ""
    #: Our reason, and what is known of the other's.
    why: str = ""
    their_why: str = ""
    #: Machines more (or fewer) than we would have ordered.
    machines: int = 0
    #: By how many seconds the other one was later than we, negative if it was earlier; for how many seconds we have
    #: wanted what it does not do.
    lag: float | None = None

    @property
    def sort(self) -> Sort:
        """Whether both do the same."""
        return self.kind.sort

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
        """Who was earlier, in words; empty if nobody was by a second or more."""
        if self.lag is None or abs(self.lag) < 1:
            return ""
        span = format_duration(timedelta(seconds=round(abs(self.lag))))
        if self.kind is Kind.OVER or self.kind.value.endswith("-missing"):
            return f", for {span}"
        return f", {span} {'later' if self.lag > 0 else 'earlier'}"
