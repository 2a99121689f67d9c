"""Verdicts: one reasoned yes or no."""

from dataclasses import dataclass
from datetime import datetime

from nodewright.api.reasons import Reason


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Why something is so."""

    reason: Reason
    #: What the code alone does not tell: the resource, the taint, the limit.
    detail: str = ""
    #: The pod that is in the way, ``namespace/name``; empty if none is.
    pod: str = ""
    #: What is the matter with that pod, as a code: mostly a `Reason`, but rules of plugins may have others.
    cause: str = ""
    #: When the time alone will have changed it; None if it won't.
    until: datetime | None = None

    def __str__(self) -> str:
        about = ": ".join(filter(None, (self.pod, self.cause, self.detail)))
        return f"{self.reason.text} ({about})" if about else self.reason.text
