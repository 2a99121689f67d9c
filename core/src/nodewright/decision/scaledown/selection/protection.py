"""Protection: nodes that must not go because somebody wrote so on them."""

from datetime import datetime

from nodewright.api.protection import DO_NOT_DISRUPT, KARPENTER_DO_NOT_DISRUPT, is_protected, protected_until
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.objects import Node
from nodewright.objects.node import SCALE_DOWN_DISABLED


def protection(node: Node, now: datetime) -> Verdict | None:
    """Return which annotation of *node* keeps it at *now*; None if none does.

    One that can't be read keeps it, too: who wrote it did not want the node to go.
    """
    noted = node.metadata.annotations
    if noted.get(SCALE_DOWN_DISABLED) == "true":
        return Verdict(reason=Reason.SCALE_DOWN_DISABLED)
    if noted.get(KARPENTER_DO_NOT_DISRUPT) == "true":
        return Verdict(reason=Reason.PROTECTED, detail=KARPENTER_DO_NOT_DISRUPT)
    said = noted.get(DO_NOT_DISRUPT)
    born = node.metadata.creation_timestamp
    if said is None or not is_protected(noted, born, now):
        return None
    if said == "true":
        return Verdict(reason=Reason.PROTECTED, detail=DO_NOT_DISRUPT)
    until = protected_until(said, born)
    if until is None:
        detail = f'{DO_NOT_DISRUPT}: write true, a time such as 2030-01-31T08:30:00Z or a duration, not "{said}"'
        return Verdict(reason=Reason.PROTECTED, detail=detail)
    return Verdict(reason=Reason.PROTECTED, detail=f"until {until:%Y-%m-%d %H:%M:%S}")
