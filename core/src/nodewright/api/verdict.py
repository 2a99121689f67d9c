"""Verdicts: one reasoned yes or no."""

from dataclasses import dataclass

from nodewright.api.reasons import Reason


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Why something is so."""

    reason: Reason
    #: What the code alone does not tell: the resource, the taint, the blocking pod, the limit.
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason.text} ({self.detail})" if self.detail else self.reason.text
