"""The executor: carries a decision out and returns how that went."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, DeleteInstances, Grow, Outcome
from nodewright.api.errors import (
    ApiServerError,
    CapacityError,
    NodewrightError,
    NotLeaderError,
    PartialIncreaseError,
    PluginError,
    TemporaryError,
    ThrottledError,
    UnsupportedError,
)
from nodewright.api.group import NodeGroup
from nodewright.api.instance import InstanceError
from nodewright.decision.execution import Execution, Hold
from nodewright.kube.nodes import Evictor, NodeWriter
from nodewright.kube.rights import missing_right
from nodewright.objects import Node, NodeSpec, ObjectMeta
from nodewright.plugins.error_text import describe, text_of
from nodewright.plugins.faults import Faults
from nodewright.plugins.results import instance_of, whole_number
from nodewright.runtime.held import HeldGroups
from nodewright.runtime.lanes import Job, Lanes
from nodewright.runtime.pace import BREATHER
from nodewright.runtime.providers import Providers

_CAUSE = instance_of(InstanceError)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One action, and what it is done to."""

    action: str
    target: str
    run: Callable[[], None]
    #: The group that it changes; empty if it changes an object of the API server.
    group: str = ""
    #: Tasks on one lane are done one after another.
    lane: str
    #: The pool of threads that it runs on, if it changes no group.
    pool: str = ""


class Executor:
    """Carries decisions out. Methods are for one thread.

    Kinds of actions follow one another in the order of the decision's fields. Actions of one kind run in parallel, but
    one at a time for each group and each node. Growth runs in parallel only if *parallel*; otherwise it stops at the
    first failure.

    An action that takes longer than *timeout* goes on by itself, and `late_outcomes` returns its outcome once it has
    ended. Its group is *held* until then, so that an order that the cloud takes late is not given twice.

    Hints to the scheduler take up to *time_for_hints* in all. Failed ones are logged and have no outcomes.

    What a cloud asked not to be asked for yet is not tried: see `nodewright.runtime.pace`. Its outcome says until when.

    *permit* is called just before each single action. If it raises `NotLeaderError`, the action is not tried and has no
    outcome.
    """

    def __init__(
        self,
        providers: Providers,
        nodes: NodeWriter,
        evictor: Evictor,
        held: HeldGroups,
        clock: Clock,
        faults: Faults,
        *,
        parallel: bool,
        timeout: timedelta,
        time_for_hints: timedelta,
        permit: Callable[[], None] = lambda: None,
    ) -> None:
        self._providers = providers
        self._nodes = nodes
        self._evictor = evictor
        self._held = held
        self._clock = clock
        self._faults = faults
        self._parallel = parallel
        self._timeout = timeout
        self._time_for_hints = time_for_hints
        self._permit = permit
        self._lanes: Lanes[Outcome | None] = Lanes()
        self._hints: Lanes[None] = Lanes()

    @property
    def busy(self) -> bool:
        """Whether an action that took too long is still under way."""
        return self._lanes.busy

    @property
    def active(self) -> bool:
        """Whether any action is under way. Safe to ask from any thread."""
        return self._lanes.active or self._hints.active

    def carry_out(self, decision: Decision, nodes: Mapping[str, Node]) -> Execution:
        """Carry *decision* out, which was made on *nodes*. Blocks until that is done, or has taken too long."""
        outcomes: list[Outcome] = []
        sizes = {grow.group: grow.from_size + grow.count for grow in decision.grow}
        for tasks in self._tasks(decision, nodes):
            serial = not self._parallel and bool(tasks) and tasks[0].action == "grow"
            for batch in [[task] for task in tasks] if serial else [tasks]:
                results = self._run(batch, sizes)
                outcomes += results
                if any(not outcome.ok for outcome in results) and serial:
                    break
        self._give_hints(decision)
        return Execution(decision=decision, outcomes=tuple(outcomes), held=self._held.under_way)

    def late_outcomes(self) -> tuple[Outcome, ...]:
        """Return the outcomes of actions that took too long and have ended since the last call."""
        ended = self._lanes.ended()
        for lane in ended:
            self._held.end(lane)
        return tuple(outcome for outcomes in ended.values() for outcome in outcomes if outcome is not None)

    def close(self) -> None:
        """End the threads; wait for actions under way, unless one of them has taken too long already."""
        self._lanes.close()
        self._hints.close()

    def _tasks(self, decision: Decision, nodes: Mapping[str, Node]) -> Iterator[list[_Task]]:
        def change(action: str, group: str, run: Callable[[], None], target: str = "") -> _Task:
            return _Task(action=action, target=target or group, run=run, group=group, lane=group)

        def write(action: str, node: str, run: Callable[[], None]) -> _Task:
            return _Task(action=action, target=node, run=run, lane=f"node {node}", pool="nodes")

        yield [write("restore", each.node, partial(self._nodes.unmark, each.node)) for each in decision.restore]
        yield [change("shrink", each.group, partial(self._shrink, each.group, each.count)) for each in decision.shrink]
        yield [change("grow", each.group, partial(self._grow, each)) for each in decision.grow]
        yield [
            change("delete-instances", each.group, partial(self._delete, each, nodes), each.target)
            for each in decision.delete
        ]
        mark = partial(self._nodes.mark, now=decision.at)
        yield [write("drain", each.node, partial(mark, each.node)) for each in decision.drain]
        yield [
            _Task(
                action="evict",
                target=pod,
                run=partial(self._evictor.evict, pod, grace, each.uids.get(pod, "")),
                lane=f"pod {pod}",
                pool="evictions",
            )
            for each in decision.evict
            for pod, grace in each.pods.items()
        ]

    def _give_hints(self, decision: Decision) -> None:
        # The nodes show what came of late hints.
        self._hints.ended()
        hints = {each.node: partial(self._nodes.soft_untaint, each.node) for each in decision.soft_untaint}
        hints |= {each.node: partial(self._nodes.soft_taint, each.node, each.since) for each in decision.soft_taint}
        self._hints.run(
            {node: Job(steps=[partial(self._try_hint, node, write)]) for node, write in hints.items()},
            self._time_for_hints,
        )

    def _run(self, tasks: Sequence[_Task], sizes: Mapping[str, int]) -> list[Outcome]:
        """Do *tasks* and return the outcomes of those that ended in time; *sizes* are those that groups grow to."""
        lanes: dict[str, list[_Task]] = {}
        for task in tasks:
            lanes.setdefault(task.lane, []).append(task)
        jobs = {
            lane: Job(steps=[partial(self._do, task) for task in own], pool=self._pool(own[0]))
            for lane, own in lanes.items()
        }
        results = self._lanes.run(jobs, self._timeout)
        for lane in results.late:
            self._hold(lanes[lane][0], sizes)
        return [
            outcome
            for lane, own in lanes.items()
            for outcome in results.done.get(lane, map(self._not_begun, own) if lane in results.cancelled else ())
            if outcome is not None
        ]

    def _pool(self, task: _Task) -> str:
        try:
            return f"provider-{self._providers.name_of(task.group)}" if task.group else task.pool
        except NodewrightError:
            # The group is gone: acting on it fails and says so.
            return ""

    def _hold(self, task: _Task, sizes: Mapping[str, int]) -> None:
        if not task.group:
            _log.warning(
                "%s %s is still under way: no answer within %s", task.action, task.target, _seconds(self._timeout)
            )
            return
        why = f"the cloud has not answered its last order ({task.action}) within {_seconds(self._timeout)}"
        _log.warning("group %s is left alone until the cloud answers: %s", task.group, why)
        self._held.begin(task.group, Hold(why=why, size=sizes.get(task.group, 0) if task.action == "grow" else 0))

    def _not_begun(self, task: _Task) -> Outcome:
        busy = "its provider" if task.group else "the API server"
        return self._not_tried(task, f"{busy} was busy for {_seconds(self._timeout)}")

    def _not_tried(self, task: _Task, why: str, *, not_before: datetime | None = None) -> Outcome:
        return self._outcome(task, f"not tried: {why}", temporary=True, tried=False, not_before=not_before)

    def _outcome(
        self,
        task: _Task,
        error: str = "",
        *,
        cause: InstanceError | None = None,
        temporary: bool = False,
        tried: bool = True,
        not_before: datetime | None = None,
    ) -> Outcome:
        return Outcome(
            at=self._clock.now(),
            action=task.action,
            target=task.target,
            ok=not error,
            error=error,
            cause=cause,
            temporary=temporary,
            group=task.group,
            tried=tried,
            not_before=not_before,
        )

    def _do(self, task: _Task) -> Outcome | None:
        """Do *task* and return its outcome; None if this replica must not do it any more."""
        pace, provider = self._providers.pace, ""
        try:
            self._permit()
            if task.group:
                provider = self._providers.name_of(task.group)
                if (until := pace.until(provider, task.group, task.action)) is not None:
                    why = f"{provider} asked for fewer calls until {until:%H:%M:%S}"
                    # A moment is over before the next decision.
                    lasting = until if until > self._clock.now() + BREATHER else None
                    return self._not_tried(task, why, not_before=lasting)
            task.run()
        except NotLeaderError as error:
            _log.debug("%s %s is not done: %s", task.action, task.target, error)
            return None
        except Exception as error:
            return self._refused(task, provider, error)
        return self._outcome(task)

    def _refused(self, task: _Task, provider: str, error: Exception) -> Outcome:
        """Return the outcome of *task*, which *error* ended."""
        if isinstance(error, PartialIncreaseError):
            rest = self._refused(task, provider, error.cause)
            return replace(rest, error=text_of(error) or rest.error, increased=error.increased)
        if isinstance(error, CapacityError):
            return self._outcome(task, text_of(error) or describe(error), cause=error.cause)
        if isinstance(error, ThrottledError):
            asked = self._providers.pace.refused(provider, error, task.group, task.action)
            return self._outcome(task, describe(error), temporary=True, not_before=asked)
        if isinstance(error, NodewrightError):
            passes = self._faults.call(provider, task.action, _temporary, error, default=False)
            return self._outcome(task, missing_right(error) or describe(error), temporary=passes)
        _log.error("%s %s failed", task.action, task.target, exc_info=error)
        return self._outcome(task, describe(error))

    def _try_hint(self, node: str, write: Callable[[], None]) -> None:
        try:
            self._permit()
            write()
        except NotLeaderError:
            return
        except NodewrightError as error:
            # A missing right was reported once.
            level = logging.DEBUG if getattr(error, "right", None) else logging.WARNING
            _log.log(
                level, "the soft taint of node %s could not be changed, the next loop tries again: %s", node, error
            )
        except Exception:
            _log.exception("the soft taint of node %s could not be changed", node)

    @contextmanager
    def _group(self, group_id: str, call: str) -> Iterator[NodeGroup]:
        """Yield the group for a *call*. What that raises against the contract is noted as its provider's fault."""
        group, provider = self._providers.group(group_id), self._providers.name_of(group_id)
        try:
            with self._faults.calling(provider, call):
                yield group
        except (CapacityError, PartialIncreaseError) as error:
            if not self._faults.call(provider, call, _is_sound, error, default=False):
                raise PluginError(provider, describe(error)) from error
            raise
        except Exception as error:
            # Only the core knows whether this replica leads.
            if isinstance(error, NodewrightError) and not isinstance(error, NotLeaderError):
                raise
            fault = PluginError(provider, f"group {group_id}: {describe(error)}")
            fault.__cause__ = error
            self._faults.note(provider, call, fault)
            raise PluginError(provider, describe(error)) from error

    def _shrink(self, group_id: str, count: int) -> None:
        with self._group(group_id, "decrease_target") as group:
            group.decrease_target(count)

    def _grow(self, action: Grow) -> None:
        # If the cloud can't do it in one piece, ask for as many in the ordinary way.
        if action.atomic and self._providers.can_increase_atomically(action.group):
            with self._group(action.group, "increase_atomically") as group:
                group.increase_atomically(action.count)
        else:
            with self._group(action.group, "increase") as group:
                group.increase(action.count)

    def _delete(self, action: DeleteInstances, nodes: Mapping[str, Node]) -> None:
        names = action.nodes or action.instances
        going = [
            nodes.get(name) or Node(metadata=ObjectMeta(name=name), spec=NodeSpec(provider_id=instance))
            for name, instance in zip(names, action.instances, strict=True)
        ]
        if not (action.force and self._force_delete(action.group, going)):
            with self._group(action.group, "delete_nodes") as group:
                group.delete_nodes(going)

    def _force_delete(self, group_id: str, going: list[Node]) -> bool:
        """Delete by force; return False if the provider can do that, but not for this group."""
        with self._group(group_id, "force_delete_nodes") as group:
            try:
                group.force_delete_nodes(going)
            except (UnsupportedError, NotImplementedError):
                return False
        return True


class DryRunExecutor:
    """Takes the place of `Executor` in a dry run and does nothing: it has no provider and no writer."""

    busy = active = False

    def carry_out(self, decision: Decision, nodes: Mapping[str, Node]) -> Execution:
        """Try nothing of *decision*."""
        return Execution(decision=decision, withheld=True)

    def late_outcomes(self) -> tuple[Outcome, ...]:
        """Return nothing: nothing ever began."""
        return ()

    def close(self) -> None:
        """Do nothing: no thread runs."""


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():g} s"


def _is_sound(error: CapacityError | PartialIncreaseError) -> bool:
    """Check what *error* carries; raises a `TypeError` that says what is wrong with it."""
    if isinstance(error, CapacityError):
        _CAUSE(error.cause)
        return True
    if whole_number(error.increased) < 0 or not isinstance(error.cause, NodewrightError):
        raise TypeError(f"raised {describe(error)} without a count and a cause")
    return not isinstance(error.cause, CapacityError | PartialIncreaseError) or _is_sound(error.cause)


def _temporary(error: NodewrightError) -> bool:
    # A refused eviction or a conflict passes. An invalid request stays invalid.
    if isinstance(error, ApiServerError):
        return error.status in (0, 409, 429) or error.status >= 500
    return isinstance(error, TemporaryError)
