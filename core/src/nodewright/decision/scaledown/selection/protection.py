"""Protection: what keeps a node from being removed: annotations, and a pause of its group."""

from datetime import datetime

from nodewright.api.group import GroupFacts
from nodewright.api.protection import DO_NOT_DISRUPT, KARPENTER_DO_NOT_DISRUPT, is_protected, protected_until
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.objects import Node
from nodewright.objects.node import SCALE_DOWN_DISABLED


def protection(node: Node, now: datetime) -> Verdict | None:
    """Return which annotation of *node* keeps it at *now*; None if none does.

    An annotation that can't be parsed keeps it, too: its author did not want the node to go.
    """
    annotations = node.metadata.annotations
    if annotations.get(SCALE_DOWN_DISABLED) == "true":
        return Verdict(reason=Reason.SCALE_DOWN_DISABLED)
    if annotations.get(KARPENTER_DO_NOT_DISRUPT) == "true":
        return Verdict(reason=Reason.PROTECTED, detail=KARPENTER_DO_NOT_DISRUPT)
    written = annotations.get(DO_NOT_DISRUPT)
    born = node.metadata.creation_timestamp
    if written is None or not is_protected(annotations, born, now):
        return None
    if written == "true":
        return Verdict(reason=Reason.PROTECTED, detail=DO_NOT_DISRUPT)
    until = protected_until(written, born)
    if until is None:
        return Verdict(reason=Reason.PROTECTED, detail=f'{DO_NOT_DISRUPT}: {_how_to_write(written)}, not "{written}"')
    return Verdict(reason=Reason.PROTECTED, detail=f"until {until:%Y-%m-%d %H:%M:%S}")


def pause_of(group: GroupFacts) -> Verdict | None:
    """Return why the machines of *group* must not be removed at the moment; None if they may be."""
    if group.pause is None or group.pause.shrinks:
        return None
    return Verdict(reason=Reason.GROUP_PAUSED, detail=group.pause.why)


def _how_to_write(written: str) -> str:
    """Say what to write instead of *written*, which can't be read."""
    try:
        without_zone = datetime.fromisoformat(written).tzinfo is None
    except ValueError:
        without_zone = False
    if without_zone and "T" in written:
        return f"add the time zone, as in {written}Z"
    return "write true, a time such as 2030-01-31T08:30:00Z or a duration"
