"""Protection: the annotations by which nodes and pods ask not to be disturbed."""

from collections.abc import Mapping
from datetime import UTC, datetime

from nodewright.objects.duration import parse_duration

#: The annotation by which a node or a pod asks to be left alone: ``true``, a time, or a duration since its creation.
DO_NOT_DISRUPT = "nodewright.dev/do-not-disrupt"
#: Karpenter's annotation. Only ``true`` means anything.
KARPENTER_DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def is_protected(annotations: Mapping[str, str], born: datetime | None, now: datetime) -> bool:
    """Return whether *annotations* of an object that was created at *born* protect it at *now*.

    They protect it forever (``true``), until a time with a zone, or for a duration since its creation. A value that
    can't be read protects, too: whoever wrote it wanted protection.
    """
    if annotations.get(KARPENTER_DO_NOT_DISRUPT) == "true":
        return True
    said = annotations.get(DO_NOT_DISRUPT, "false")
    if said in ("true", "false"):
        return said == "true"
    end = protected_until(said, born)
    return end is None or now < end


def protected_until(said: str, born: datetime | None) -> datetime | None:
    """Return when protection by the value *said*, a time or a duration, ends, in UTC; None if that can't be read."""
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
