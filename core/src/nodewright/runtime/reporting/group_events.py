"""Events about groups: machines that never came, could not be made, or were given up."""

from collections import deque
from collections.abc import Iterator
from datetime import datetime

from nodewright.api.decision import Decision, DeleteInstances, Outcome
from nodewright.api.instance import InstanceError
from nodewright.api.reasons import Reason
from nodewright.decision.health.backoff import TIMEOUT
from nodewright.decision.health.group_errors import fresh_errors
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.golang import go_duration
from nodewright.kube.events import EventWriter

#: How many different messages of a cloud one event has.
_MESSAGES = 3


class GroupEvents:
    """Writes them on the status, in Cluster Autoscaler's words. For the loop's thread."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        #: Deletions of machines that never became nodes, by the target of their outcomes.
        self._going: dict[str, deque[DeleteInstances]] = {}
        #: Groups whose orders are taken back because their machines never came.
        self._reverting: set[str] = set()

    def decided(self, decision: Decision, before: Memory, memory: Memory, world: World) -> None:
        """Report what *decision* found out; it was made on *world* and the memory *before*, and left *memory*."""
        late = _timed_out(before, memory, decision.at)
        for group in late:
            waited = go_duration(decision.at - before.orders.requests[group].at)
            self._warn("ScaleUpTimedOut", f"Nodes added to group {group} failed to register within {waited}")
        self._reverting = {shrink.group for shrink in decision.shrink if shrink.group in late}
        for message in (*_failures(before, memory, world), *_refusals(before, memory, world)):
            self._warn("ScaleUpFailed", message)

    def acting(self, decision: Decision) -> None:
        """Note which machines that never became nodes are about to be deleted."""
        for delete in decision.delete:
            if delete.verdict.reason is Reason.NEVER_REGISTERED:
                self._going.setdefault(delete.target, deque()).append(delete)

    def acted(self, outcome: Outcome) -> bool:
        """Report how an action on a group went; return False unless *outcome* is of such a deletion."""
        if outcome.action == "shrink" and not outcome.ok and outcome.target in self._reverting:
            what = f"Failed to decrease target size for group {outcome.target} after scale-up timeout"
            self._warn("FailedToRevertScaleUp", f"{what}: {outcome.error}")
        going = self._going.get(outcome.target)
        if outcome.action != "delete-instances" or not going:
            return False
        delete = going.popleft()
        if not going:
            del self._going[outcome.target]
        for name in delete.nodes or delete.instances:
            if outcome.ok:
                self._events.on_status("DeleteUnregistered", f"Removed unregistered node {name}")
            else:
                self._warn("DeleteUnregisteredFailed", f"Failed to remove node {name}: {outcome.error}")
        return True

    def _warn(self, reason: str, message: str) -> None:
        self._events.on_status(reason, message, warning=True)


def _timed_out(before: Memory, memory: Memory, now: datetime) -> list[str]:
    """Return the groups whose orders ended at *now* because their time was over."""
    return [
        group
        for group, request in before.orders.requests.items()
        if request.ours
        and (known := memory.health.backoffs.get(group)) is not None
        and (known.failed_at, known.code) == (now, TIMEOUT.code)
    ]


def _failures(before: Memory, memory: Memory, world: World) -> Iterator[str]:
    """Yield what is new about machines that clouds could not make for groups that grow."""
    fresh = memory.health.failed_since.keys() - before.health.failed_since.keys()
    if not fresh:
        return
    for facts in world.groups:
        if facts.id not in before.orders.requests:
            continue
        causes: dict[str, list[InstanceError]] = {}
        for instance in facts.instances:
            if instance.id in fresh and instance.error is not None:
                causes.setdefault(_code(instance.error), []).append(instance.error)
        for code, errors in causes.items():
            messages = list(dict.fromkeys(error.message for error in errors if error.message))
            sources = ", ".join(messages[:_MESSAGES] + ["..."] * (len(messages) > _MESSAGES))
            yield f"Failed adding {len(errors)} nodes to group {facts.id} due to {code}; source errors: {sources}"


def _refusals(before: Memory, memory: Memory, world: World) -> Iterator[str]:
    """Yield what newly keeps machines from coming to groups, where no machine shows it."""
    for facts, error in fresh_errors(world, before, memory):
        yield f"Failed adding nodes to group {facts.id} due to {_code(error)}; source errors: {error.message}"


def _code(error: InstanceError) -> str:
    return f"{'OutOfResources' if error.error_class.out_of_resources else 'Other'}.{error.code}"
