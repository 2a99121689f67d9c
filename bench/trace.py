"""A day of a real trace: its cost with an autoscaler, and how long pods wait."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import ceil
from time import process_time

from nodewright.config.model import Settings
from nodewright.testing.clock import EPOCH
from nodewright_fake.apiserver.store import Object

from bench.measure import Case, Figure
from bench.openb import DAY, FOLDER, Task, Trace
from bench.openb_world import TASK_LABEL, manifest, scenario
from bench.replay import Replay
from bench.waits import Waits

#: What runs when the day begins comes so many seconds before it, into a cluster without nodes. When the day begins,
#: the cluster has the size that the autoscaler gives it.
_BEFORE = 3600
_DRAINED = "ToBeDeletedByClusterAutoscaler"


@dataclass(frozen=True, kw_only=True)
class Day:
    """The figures of a day."""

    loops: int
    node_hours: float
    cost: float
    #: Seconds that each task waited for nodes, in ascending order; tasks that did not wait are among them.
    waits: Sequence[float]
    #: Pods that ended before they had a node.
    without_node: int
    evictions: int
    nodes_removed: int
    failures: Sequence[str]

    @property
    def mean_wait(self) -> float:
        """Seconds that a task waited on average."""
        return sum(self.waits) / len(self.waits)

    def wait(self, share: float) -> float:
        """Return the seconds that no more than *share* of the tasks exceeded."""
        return self.waits[max(0, ceil(share * len(self.waits)) - 1)]

    def __str__(self) -> str:
        waited = sum(wait > 0 for wait in self.waits)
        return (
            f"{self.node_hours:.1f} node-hours, ${self.cost:.2f}; {waited} of {len(self.waits)} pods waited, "
            f"mean {self.mean_wait:.1f} s, p50 {self.wait(0.5):.0f} s, p99 {self.wait(0.99):.0f} s"
            f" ({self.without_node} ended before a node came); {self.evictions} evictions, "
            f"{self.nodes_removed} nodes removed; {self.loops} loops"
            + (f"; {len(self.failures)} actions failed, first: {self.failures[0]}" if self.failures else "")
        )


class _Checks:
    """Checks all the time that no pod is lost and no limit broken."""

    def __init__(self, replay: Replay, tasks: Sequence[Task], begin: int) -> None:
        self._replay = replay
        self._tasks = {task.name: task for task in tasks}
        self._begin = begin
        replay.checks.append(self.groups)

    def groups(self) -> None:
        """Check that no group exceeds its limits."""
        for group in self._replay.world.cloud.groups:
            settings = group.settings
            assert settings.min <= group.desired <= settings.max, f"{settings.name} is asked for {group.desired}"

    def tasks(self) -> None:
        """Check that every task of the timetable has one pod, which runs or waits, and that no other task has one."""
        second = self._begin + self._replay.seconds
        due = {task.name for task in self._tasks.values() if task.created < second < task.deleted}
        pods = self._replay.world.store.list("pods", "default")
        there = Counter(_task_of(pod) for pod in pods if "deletionTimestamp" not in pod["metadata"])
        at_once = {task.name for task in self._tasks.values() if second in (task.created, task.deleted)}
        assert due - at_once == set(there) - at_once, f"lost or left over: {sorted(due ^ set(there) - at_once)}"
        assert set(there.values()) <= {1}, "a task has two pods"
        assert {pod["status"]["phase"] for pod in pods} <= {"Pending", "Running"}, "a pod has ended"

    def pods(self, waits: Waits) -> None:
        """Check that pods ended only by their timetable or an eviction."""
        for key, pod in waits.pods.items():
            end = self._tasks[pod.task].deleted - self._begin
            early = pod.gone is not None and (pod.gone - EPOCH).total_seconds() < end
            assert not early or key in self._replay.observer.evicted, f"{key} was killed"

    def nodes(self) -> None:
        """Check that no taint or cordon is left on any node."""
        for node in self._replay.world.store.list("nodes"):
            taints = {taint["key"] for taint in node["spec"].get("taints", ())}
            assert _DRAINED not in taints, f"{node['metadata']['name']} is still tainted"
            assert not node["spec"].get("unschedulable"), f"{node['metadata']['name']} is still cordoned"


def replay_day(trace: Trace, start: int, settings: str = "", *, length: int = DAY) -> Day:
    """Return the figures of the day that begins at second *start* of the trace, with *settings* in YAML.

    A day of another *length* is a multiple of ten minutes. Raises `AssertionError` if a pod was lost, a limit broken,
    or a mark left on a node.
    """
    begin, end = start - _BEFORE, start + length
    tasks = trace.between(begin, end)
    replay = Replay(scenario(trace), settings)
    waits = Waits(replay.world, TASK_LABEL)
    checks = _Checks(replay, tasks, begin)
    cluster = replay.world.cluster
    for task in tasks:
        replay.at(max(0, task.created - begin), partial(cluster.apply, manifest(task)))
        replay.at(task.deleted - begin, partial(cluster.delete, "apps/v1", "ReplicaSet", "default", task.name))
    with replay:
        replay.run_until(_BEFORE)
        before = _used(replay), len(replay.observer.evicted), replay.observer.loops
        for second in range(_BEFORE, end - begin, 600):
            replay.run_until(second + 600)
            checks.tasks()
        hours, cost = (now - then for now, then in zip(_used(replay), before[0], strict=True))
        day = EPOCH + timedelta(seconds=_BEFORE), EPOCH + timedelta(seconds=end - begin)
        there = {task.name for task in tasks if task.deleted > start}
        figures = Day(
            loops=replay.observer.loops - before[2],
            node_hours=hours,
            cost=cost,
            waits=sorted(seconds for task, seconds in waits.of_tasks(*day).items() if task in there),
            without_node=sum(pod.gone is not None and not pod.placed for pod in waits.pods.values()),
            evictions=len(replay.observer.evicted) - before[1],
            nodes_removed=sum(entry.event == "deleting" and entry.at >= day[0] for entry in replay.world.cloud.history),
            failures=replay.observer.failures,
        )
        assert len(figures.waits) == len(there), "a task was never seen"
        _wind_down(replay)
        checks.tasks()
        checks.nodes()
        checks.pods(waits)
        assert not replay.complaints, replay.complaints[0]
    return figures


def _wind_down(replay: Replay) -> None:
    """Continue until no removal is under way."""
    for _ in range(60):
        if not replay.memory.leaving.removals:
            return
        replay.run_until(replay.seconds + 60)
    raise AssertionError(f"removals that never end: {sorted(replay.memory.leaving.removals)}")


def _used(replay: Replay) -> tuple[float, float]:
    """Return node-hours and cost until now."""
    spending = replay.world.cloud.spending.values()
    return sum(each.hours for each in spending), sum(each.cost for each in spending)


def _task_of(pod: Object) -> str:
    return str(pod["metadata"]["labels"][TASK_LABEL])


def _defaults() -> Figure:
    if (trace := Trace.read()) is None:
        return _absent()
    start = trace.densest_day()
    begun = process_time()
    usual = replay_day(trace, start)
    return Figure(seconds=process_time() - begun, note=_describe(trace, start), lines=[f"defaults       {usual}"])


def _consolidation() -> Figure:
    """Compare a day with consolidation to one without it."""
    if (trace := Trace.read()) is None:
        return _absent()
    if "consolidation" not in type(Settings().scale_down).model_fields:
        return Figure(seconds=0, skipped="scaleDown.consolidation is not there yet")
    start = trace.densest_day()
    begun = process_time()
    consolidated = replay_day(trace, start, "scaleDown: {consolidation: {enabled: true}}")
    seconds = process_time() - begun
    usual = replay_day(trace, start)
    wrong = []
    if consolidated.node_hours >= usual.node_hours and consolidated.cost >= usual.cost:
        wrong.append("it saves neither node-hours nor money")
    if consolidated.mean_wait > usual.mean_wait:
        wrong.append("pods wait longer")
    lines = [f"defaults       {usual}", f"consolidation  {consolidated}"]
    return Figure(seconds=seconds, note=_describe(trace, start), lines=lines, wrong=wrong)


def _absent() -> Figure:
    return Figure(seconds=0, skipped=f"no trace here: name its folder with --trace or {FOLDER}")


def _describe(trace: Trace, start: int) -> str:
    tasks = trace.between(start, start + DAY)
    came = sum(task.created >= start for task in tasks)
    shared = sum(task.shared for task in tasks)
    note = f"day {start // DAY} of the trace: {came} pods come, {len(tasks) - came} are there"
    return f"{note}, {len(trace.machines)} groups; {shared} pods that shared a GPU have a whole one"


CASES = [
    Case(name="trace day", run=_defaults, bar=90),
    Case(name="trace day, consolidation", run=_consolidation, bar=180, slow=True),
]
