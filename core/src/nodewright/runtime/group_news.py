"""News of groups: events that tell of machines that never came, could not be made, or were given up."""

from collections import deque
from collections.abc import Iterator
from datetime import datetime

from nodewright.api.decision import Decision, DeleteInstances, Outcome
from nodewright.api.instance import InstanceError
from nodewright.api.reasons import Reason
from nodewright.decision.health.backoff import TIMEOUT
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.golang import go_duration
from nodewright.kube.events import EventWriter

#: So many different messages of a cloud are told in one event.
_MESSAGES = 3


class GroupNews:
    """Tells it in Cluster Autoscaler's words, on the status. For the loop's thread."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        #: Machines that never became nodes and whose deletion was begun, by what its outcome names.
        self._going: dict[str, deque[DeleteInstances]] = {}
        #: Groups whose orders are taken back because they were never met.
        self._reverting: set[str] = set()

    def tell(self, decision: Decision, before: Memory, memory: Memory, world: World) -> None:
        """Tell what *decision* found out about groups of *world*; memory is that of *before* and of afterwards."""
        late = _timed_out(before, memory, decision.at)
        for group in late:
            waited = go_duration(decision.at - before.orders.requests[group].at)
            self._warn("ScaleUpTimedOut", f"Nodes added to group {group} failed to register within {waited}")
        self._reverting = {shrink.group for shrink in decision.shrink if shrink.group in late}
        for message in _failures(before, memory, world):
            self._warn("ScaleUpFailed", message)

    def begin(self, decision: Decision) -> None:
        """Take note of what is about to be done about machines that never became nodes."""
        for delete in decision.delete:
            if delete.verdict.reason is Reason.NEVER_REGISTERED:
                self._going.setdefault(delete.target, deque()).append(delete)

    def heard(self, outcome: Outcome) -> bool:
        """Tell how that went; False if *outcome* is of something else."""
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
    """Yield what is new of machines that clouds could not make, of groups that grow."""
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
            said = list(dict.fromkeys(error.message for error in errors if error.message))
            told = ", ".join(said[:_MESSAGES] + ["..."] * (len(said) > _MESSAGES))
            yield f"Failed adding {len(errors)} nodes to group {facts.id} due to {code}; source errors: {told}"


def _code(error: InstanceError) -> str:
    return f"{'OutOfResources' if error.error_class.out_of_resources else 'Other'}.{error.code}"
