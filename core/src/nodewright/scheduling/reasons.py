"""Verdicts in kube-scheduler's own words."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict


def texts(verdict: Verdict) -> tuple[str, ...]:
    """Return the reasons that kube-scheduler would give; most filters give one."""
    match verdict.reason:
        case Reason.RESOURCES:
            return tuple(verdict.detail.split(", "))
        case Reason.VOLUME_CLAIM:
            return (verdict.detail,)
        case Reason.VOLUME_NODE_AFFINITY | Reason.VOLUME_MISSING if verdict.detail:
            return (verdict.reason.text, verdict.detail)
        case Reason.SPREAD if verdict.detail:
            return (f"{verdict.reason.text} ({verdict.detail})",)
    return (verdict.reason.text,)
