"""Protection: what nodes and pods say of themselves, so that they are not disturbed."""

from collections.abc import Mapping
from datetime import UTC, datetime

from nodewright.objects.duration import parse_duration

DO_NOT_DISRUPT = "nodewright.dev/do-not-disrupt"
#: Karpenter's: true or nothing.
KARPENTER_DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def is_protected(annotations: Mapping[str, str], born: datetime | None, now: datetime) -> bool:
    """Tell whether *annotations* of something that came when it was *born* forbid to disturb it at *now*.

    They do so for good (``true``), until a time with its zone, or for a duration from the beginning. What can't be read
    protects, too: who wrote it did not want to be disturbed.
    """
    if annotations.get(KARPENTER_DO_NOT_DISRUPT) == "true":
        return True
    said = annotations.get(DO_NOT_DISRUPT, "false")
    if said in ("true", "false"):
        return said == "true"
    end = protected_until(said, born)
    return end is None or now < end


def protected_until(said: str, born: datetime | None) -> datetime | None:
    """Return when the annotation that has *said* a time or a duration ends, by UTC; None if nobody can tell."""
    try:
        end = datetime.fromisoformat(said)
    except ValueError:
        try:
            return None if born is None else born + parse_duration(said)
        except (ValueError, OverflowError):
            return None
    try:
        return end.astimezone(UTC) if end.tzinfo is not None else None
    except OverflowError:
        # The last day of the last year, west of Greenwich.
        return None
