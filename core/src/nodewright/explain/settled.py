"""What is told about pods that look for no node: those that run, and those that have come to their end."""

from collections.abc import Iterable
from datetime import datetime

from nodewright.api.reasons import Reason
from nodewright.cluster import PodRow
from nodewright.explain.advice import informative_verdict, known_cause
from nodewright.explain.look import Look, goes
from nodewright.objects import OwnerReference, Pod


def describe_running(look: Look, row: PodRow, seen: Pod | None) -> list[str]:
    """Return where a pod runs, since when if it was *seen* at the API server, and what it means for its node."""
    group = look.world.group_of.get(row.node)
    since = row.deleted or (seen.status.start_time if seen is not None else None)
    return [
        f"pod {row.key} {'leaves' if row.deleted else 'runs on'} node {row.node}"
        + (f" of group {group}" if group else "")
        + (f" since {moment(since)}" if since else ""),
        *_company(row.owner),
        *_its_node(look, row),
    ]


def describe_done(pod: Pod) -> list[str]:
    """Return how and where a *pod* that takes no room any more has ended."""
    ended = next(
        (
            each.last_transition_time
            for each in pod.status.conditions
            if each.type == "Ready" and each.status == "False"
        ),
        None,
    )
    where = f" on node {pod.spec.node_name}" if pod.spec.node_name else ""
    when = f" at {moment(ended)}" if ended else ""
    lines = [f"pod {pod.key} has come to its end{where}{when} ({pod.status.phase}): nothing is done for it"]
    if pod.status.start_time is not None:
        lines.append(f"  it ran since {moment(pod.status.start_time)}")
    return lines


def moment(time: datetime) -> str:
    """Return *time* as people read it."""
    return f"{time:%Y-%m-%d %H:%M:%S}"


def _company(owner: OwnerReference | None) -> Iterable[str]:
    """Yield how a pod belongs to its node, if it does."""
    match owner:
        case OwnerReference(kind="DaemonSet", name=name):
            yield f"  it is of DaemonSet {name}: it comes with its node, brings no other and keeps none"
        case OwnerReference(kind="Node"):
            yield "  it is a static pod of its kubelet: it comes with its node, brings no other and keeps none"


def _its_node(look: Look, row: PodRow) -> Iterable[str]:
    """Yield whether its node goes, and whether the pod itself is what keeps it."""
    verdict = look.decision.nodes.get(row.node)
    if verdict is None or verdict.reason is Reason.NOT_OURS:
        return
    found = informative_verdict(verdict, look.memory.verdicts.last.get(row.node))
    yield f"  its node {'goes' if goes(look.decision, row.node) else 'stays'}: {found} [{found.reason.value}]"
    if found.pod == row.key:
        cause = known_cause(found)
        yield "  it is what keeps its node" + (f": {cause.text}" if cause else "")
