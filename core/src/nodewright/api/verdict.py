"""Verdicts: one yes or no with its reason."""

from dataclasses import dataclass
from datetime import datetime

from nodewright.api.reasons import Reason


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Why something is so."""

    reason: Reason
    #: What the code alone does not say: the resource, the taint, the limit.
    detail: str = ""
    #: The pod that is in the way, ``namespace/name``; empty if none is.
    pod: str = ""
    #: Why that pod is in the way, as a code: a `Reason`, or a code of a plugin's drain rule.
    cause: str = ""
    #: When it will change by the passing of time alone; None if it won't.
    until: datetime | None = None

    def __str__(self) -> str:
        about = ": ".join(filter(None, (self.pod, self.cause, self.detail)))
        return f"{self.reason.text} ({about})" if about else self.reason.text
