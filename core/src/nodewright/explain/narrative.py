"""A decision in lines that a person reads: one line for each action, with its reason."""

from nodewright.api.decision import Decision, DeleteInstances, Drain, Evict, Grow, Outcome, Restore, Shrink
from nodewright.api.reasons import Reason
from nodewright.api.template import TemplateDifference
from nodewright.objects import format_resource


def describe_actions(decision: Decision) -> list[str]:
    """Return one line for each action of *decision*, in the order in which they are carried out."""
    return [
        *(_restore(action) for action in decision.restore),
        *(_shrink(action) for action in decision.shrink),
        *(_grow(action, decision) for action in decision.grow),
        *(_delete(action) for action in decision.delete),
        *(_drain(action) for action in decision.drain),
        *(_evict(action) for action in decision.evict),
    ]


def describe_learnt(decision: Decision) -> list[str]:
    """Return one line for each group whose nodes turned out to differ from its provider's template."""
    by_group: dict[str, list[TemplateDifference]] = {}
    for difference in decision.learnt:
        by_group.setdefault(difference.group, []).append(difference)
    return [
        f"nodes of {group} are not as its provider's template says, from now on they decide: "
        + ", ".join(map(describe_difference, differences))
        for group, differences in by_group.items()
    ]


def describe_failure(outcome: Outcome) -> str:
    """Return one line about an action that failed, or was not tried."""
    if not outcome.tried:
        return f"{outcome.action} {outcome.target} was {outcome.error}"
    # A refused eviction may be allowed later: a drain asks again until its time is up.
    again = "will be tried again" if outcome.temporary or outcome.action == "evict" else "gave up on it"
    return f"{outcome.action} {outcome.target} failed, {again}: {outcome.error}"


def _grow(action: Grow, decision: Decision) -> str:
    line = f"grow {action.group} {action.from_size} → {action.from_size + action.count}"
    if action.verdict.reason not in (Reason.GROUP_BELOW_MIN, Reason.CONSOLIDATION):
        line += f" for {_count(len(action.pods), 'pod')}: {action.verdict.detail}"
    else:
        return f"{line}: {action.verdict}"
    others = [f"{group}: {verdict}" for group, verdict in sorted(decision.groups.items())]
    return line + (f" (not {'; '.join(others)})" if others else "")


def _shrink(action: Shrink) -> str:
    return f"shrink {action.group} by {action.count}: {action.verdict}"


def _delete(action: DeleteInstances) -> str:
    what = ", ".join(action.nodes) if action.nodes else _count(len(action.instances), "machine")
    return f"{'delete by force' if action.force else 'delete'} {what} of {action.group}: {action.verdict}"


def _drain(action: Drain) -> str:
    return f"{'drain' if action.pods else 'remove'} {action.node} of {action.group}: {action.verdict}"


def _evict(action: Evict) -> str:
    pods, daemons = len(action.pods) - action.daemons, action.daemons
    what = [_count(pods, "pod")] if pods else []
    what += [_count(daemons, "DaemonSet pod")] if daemons else []
    return f"evict {' and '.join(what)} from {action.node}"


def _restore(action: Restore) -> str:
    return f"restore {action.node}: {action.verdict}"


def describe_difference(difference: TemplateDifference) -> str:
    """Return how a group's nodes differ from its provider's template."""
    promised, real = (_written(difference, value) for value in (difference.promised, difference.real))
    return f"{difference.kind} {difference.name} is {real}, not {promised}"


def _written(difference: TemplateDifference, value: int | str | None) -> str:
    if value is None:
        return "missing"
    if isinstance(value, int):
        return format_resource(difference.name, value)
    return value or "there"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
