"""Jobs: pods that run to their end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Object, Store, read_timestamp, timestamp
from nodewright_fake.controllers.conditions import condition_of, with_condition
from nodewright_fake.controllers.pods import (
    Key,
    PodIndex,
    controller_of,
    is_active,
    is_leaving,
    is_ready,
    key_of,
    phase_of,
)
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.controllers.workloads.status import observed
from nodewright_fake.controllers.workloads.templates import new_pod, owner_reference

RESOURCE = "jobs.batch"
INDEX = "batch.kubernetes.io/job-completion-index"
_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=6)


@dataclass
class _Tally:
    """What became of the pods of a Job, also of those that are deleted by now."""

    #: The uids of those that succeeded, with their completion index.
    succeeded: dict[str, str] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    #: Those that the controller itself deleted; they count as neither.
    dropped: set[str] = field(default_factory=set)
    failures_in_a_row: int = 0
    last_failure: datetime | None = None
    #: The moments at which the Job is looked at again.
    awaited: set[datetime] = field(default_factory=set)


class Jobs(Reconciler[Key]):
    """Runs Jobs, indexed or not. Pod failure and success policies are not looked at."""

    def __init__(self, store: Store, agenda: Agenda, pods: PodIndex) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._pods = pods
        self._tallies: dict[str, _Tally] = {}

    def observe(self, change: Change) -> None:
        """Note a Job that changed or whose pod did, and what became of the pod."""
        if change.resource == RESOURCE:
            self._touched.add(key_of(change.object))
            if change.type == "DELETED":
                self._tallies.pop(change.object["metadata"]["uid"], None)
        elif change.resource == "pods":
            owner = controller_of(change.object)
            if owner is not None and owner.kind == "Job":
                self._touched.add((key_of(change.object)[0], owner.name))
                self._count(owner.uid, change.object)

    def _count(self, uid: str, pod: Object) -> None:
        tally = self._tallies.setdefault(uid, _Tally())
        pod_uid = pod["metadata"]["uid"]
        if pod_uid in tally.succeeded or pod_uid in tally.failed or pod_uid in tally.dropped:
            return
        if phase_of(pod) == "Succeeded":
            tally.succeeded[pod_uid] = _index_of(pod)
            tally.failures_in_a_row = 0
        elif phase_of(pod) == "Failed" or is_leaving(pod):
            tally.failed.add(pod_uid)
            tally.failures_in_a_row += 1
            tally.last_failure = self.store.clock.now()

    def sync(self, key: Key) -> None:
        """Start or stop pods, finish the Job when it is done, and write its status."""
        found = self.store.find(RESOURCE, key[1], key[0])
        if found is None or "deletionTimestamp" in found["metadata"]:
            return
        if self._is_over(found):
            self._expire(found)
            return
        tally = self._tallies.setdefault(found["metadata"]["uid"], _Tally())
        active = [pod for pod in self._pods.owned_by(found["metadata"]["uid"]) if is_active(pod)]
        verdict = self._verdict(found, tally, active)
        suspended = bool(found["spec"].get("suspend"))
        if verdict or suspended:
            self._drop(tally, active)
            active = []
        else:
            active = self._adjust(found, tally, active)
        self._write_status(found, tally, active, verdict)

    @staticmethod
    def _is_over(found: Object) -> bool:
        conditions = (condition_of(found, kind) for kind in ("Complete", "Failed"))
        return any(condition is not None and condition["status"] == "True" for condition in conditions)

    def _verdict(self, found: Object, tally: _Tally, active: Sequence[Object]) -> tuple[str, str, str] | None:
        """Return type, reason and message of the condition that ends the Job, if it is time."""
        spec = found["spec"]
        limit = spec.get("backoffLimit", 6)
        if len(tally.failed) > limit:
            return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        if (deadline := spec.get("activeDeadlineSeconds")) is not None and not spec.get("suspend"):
            until = self._started(found) + timedelta(seconds=deadline)
            if self.store.clock.now() >= until:
                return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
        completions = spec.get("completions")
        done = len(_done(found, tally))
        # Without a number of completions the pods work off a queue: one of them saw its end, the others finish.
        complete = done > 0 and not active if completions is None else done >= completions
        return ("Complete", "CompletionsReached", "Reached expected number of succeeded pods") if complete else None

    def _adjust(self, found: Object, tally: _Tally, active: list[Object]) -> list[Object]:
        """Start or stop pods until as many run as should; those that are to replace failed ones start after a pause."""
        spec = found["spec"]
        completions = spec.get("completions")
        wanted = spec.get("parallelism", 1)
        if completions is not None:
            wanted = min(wanted, completions - len(_done(found, tally)))
        elif tally.succeeded:
            wanted = min(wanted, len(active))
        if len(active) > wanted:
            active.sort(key=is_ready, reverse=True)
            self._drop(tally, active[wanted:])
            return active[:wanted]
        if len(active) < wanted and not self._pauses(found, tally):
            indexes = self._free_indexes(found, tally, active)[: wanted - len(active)]
            active += [self.store.create("pods", self._new_pod(found, index)) for index in indexes]
        return active

    def _pauses(self, found: Object, tally: _Tally) -> bool:
        if not tally.failures_in_a_row or tally.last_failure is None:
            return False
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(tally.failures_in_a_row - 1, 10))
        until = tally.last_failure + pause
        if self.store.clock.now() >= until:
            return False
        self._look_again(found, until)
        return True

    def _free_indexes(self, found: Object, tally: _Tally, active: Sequence[Object]) -> list[str]:
        """Return the indexes that pods may be started for, in order; empty ones if the Job is not indexed."""
        spec = found["spec"]
        if spec.get("completionMode") != "Indexed":
            return [""] * spec.get("parallelism", 1)
        taken = {_index_of(pod) for pod in active} | _done(found, tally)
        return [str(number) for number in range(spec.get("completions", 0)) if str(number) not in taken]

    def _new_pod(self, found: Object, index: str) -> Object:
        pod = new_pod(found, owner_reference(found, "batch/v1", "Job"), found["spec"].get("template") or {})
        name, uid = found["metadata"]["name"], found["metadata"]["uid"]
        pod["metadata"]["labels"] |= {
            "batch.kubernetes.io/job-name": name,
            "job-name": name,
            "batch.kubernetes.io/controller-uid": uid,
            "controller-uid": uid,
        }
        if index:
            pod["metadata"]["labels"][INDEX] = index
            pod["metadata"]["annotations"][INDEX] = index
            pod["metadata"]["generateName"] = f"{name}-{index}-"
        return pod

    def _drop(self, tally: _Tally, pods: Sequence[Object]) -> None:
        for pod in pods:
            tally.dropped.add(pod["metadata"]["uid"])
            namespace, name = key_of(pod)
            self.store.delete("pods", name, namespace)

    def _write_status(
        self, found: Object, tally: _Tally, active: Sequence[Object], verdict: tuple[str, str, str] | None
    ) -> None:
        now = self.store.clock.now()
        done = _done(found, tally)
        status = observed(
            found,
            active=len(active),
            ready=sum(is_ready(pod) for pod in active),
            succeeded=len(done),
            failed=len(tally.failed),
        )
        if found["spec"].get("completionMode") == "Indexed":
            status["completedIndexes"] = ",".join(sorted(done, key=int))
        suspended = bool(found["spec"].get("suspend"))
        if suspended:
            status.pop("startTime", None)
        else:
            status.setdefault("startTime", timestamp(now))
        conditions = status.get("conditions") or []
        if suspended or condition_of(found, "Suspended") is not None:
            why = "JobSuspended" if suspended else "JobResumed"
            conditions = with_condition(conditions, now, "Suspended", suspended, why)
        if verdict:
            kind, reason, message = verdict
            conditions = with_condition(conditions, now, kind, True, reason, message)
            if kind == "Complete":
                status["completionTime"] = timestamp(now)
        status["conditions"] = conditions
        written = self.store.update(RESOURCE, {**found, "status": status})
        if (deadline := found["spec"].get("activeDeadlineSeconds")) is not None and not (verdict or suspended):
            self._look_again(written, self._started(written) + timedelta(seconds=deadline))

    def _expire(self, found: Object) -> None:
        """Delete a Job that is over when its time to live is over too."""
        seconds = found["spec"].get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        ends = [condition_of(found, kind) for kind in ("Complete", "Failed")]
        ended = max(read_timestamp(condition["lastTransitionTime"]) for condition in ends if condition is not None)
        until = ended + timedelta(seconds=seconds)
        if self.store.clock.now() >= until:
            self.store.delete(RESOURCE, found["metadata"]["name"], key_of(found)[0])
        else:
            self._look_again(found, until)

    def _started(self, found: Object) -> datetime:
        stated = (found.get("status") or {}).get("startTime")
        return read_timestamp(stated) if stated else self.store.clock.now()

    def _look_again(self, found: Object, moment: datetime) -> None:
        awaited = self._tallies.setdefault(found["metadata"]["uid"], _Tally()).awaited
        if moment not in awaited:
            awaited.add(moment)
            self._agenda.at(moment, lambda: self.touch(key_of(found)))


def _index_of(pod: Object) -> str:
    return str((pod["metadata"].get("annotations") or {}).get(INDEX, ""))


def _done(found: Object, tally: _Tally) -> set[str]:
    """Return what counts towards the completions: indexes, or pods."""
    indexed = found["spec"].get("completionMode") == "Indexed"
    return set(tally.succeeded.values()) if indexed else set(tally.succeeded)
