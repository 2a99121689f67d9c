"""The actor: carries a decision out and tells how it went."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, DeleteInstances, Grow, Outcome
from nodewright.api.errors import (
    ApiServerError,
    CapacityError,
    NodewrightError,
    PluginError,
    TemporaryError,
    UnsupportedError,
)
from nodewright.api.group import NodeGroup
from nodewright.kube.evictions import Evictor
from nodewright.kube.nodes import NodeWriter
from nodewright.objects import Node, NodeSpec, ObjectMeta
from nodewright.plugins.faults import Faults, describe
from nodewright.runtime.providers import Providers

_WORKERS = 8

_log = logging.getLogger(__name__)

#: What is acted on, and how.
_Task = tuple[str, Callable[[], None]]


class Actor:
    """Does what decisions say. `carry_out` blocks until everything was done or has failed; one call at a time."""

    def __init__(
        self, providers: Providers, nodes: NodeWriter, evictor: Evictor, clock: Clock, faults: Faults, *, cordon: bool
    ) -> None:
        self._providers = providers
        self._nodes = nodes
        self._evictor = evictor
        self._clock = clock
        self._faults = faults
        self._cordon = cordon
        self._pool = ThreadPoolExecutor(_WORKERS, "actor")

    def carry_out(self, decision: Decision, nodes: Mapping[str, Node]) -> tuple[Outcome, ...]:
        """Carry *decision* out; *nodes* are those it was made on.

        Kinds of actions follow one another in the order of the decision's fields; those of one kind run in parallel.
        """
        outcomes: list[Outcome] = []
        for action, tasks in self._tasks(decision, nodes):
            outcomes.extend(self._pool.map(partial(self._do, action), tasks))
        return tuple(outcomes)

    def close(self) -> None:
        """Wait for what is under way and end the threads."""
        self._pool.shutdown()

    def _tasks(self, decision: Decision, nodes: Mapping[str, Node]) -> Iterator[tuple[str, Iterable[_Task]]]:
        yield "restore", [(each.node, partial(self._nodes.unmark, each.node)) for each in decision.restore]
        yield "shrink", [(each.group, partial(self._shrink, each.group, each.count)) for each in decision.shrink]
        yield "grow", [(each.group, partial(self._grow, each)) for each in decision.grow]
        yield (
            "delete-instances",
            # A machine that never registered has no node to name: its group stands for it.
            [
                (each.nodes[0] if each.nodes else each.group, partial(self._delete, each, nodes))
                for each in decision.delete
            ],
        )
        mark = partial(self._nodes.mark, now=decision.at, cordon=self._cordon)
        yield "drain", [(each.node, partial(mark, each.node)) for each in decision.drain]
        yield (
            "evict",
            [
                (pod, partial(self._evictor.evict, pod, grace))
                for each in decision.evict
                for pod, grace in each.pods.items()
            ],
        )

    def _do(self, action: str, task: _Task) -> Outcome:
        target, run = task
        outcome = partial(Outcome, at=self._clock.now(), action=action, target=target)
        try:
            run()
        except CapacityError as error:
            return outcome(ok=False, error=str(error), cause=error.cause)
        except NodewrightError as error:
            return outcome(ok=False, error=str(error), temporary=_temporary(error))
        except Exception as error:
            _log.exception("%s %s failed", action, target)
            return outcome(ok=False, error=describe(error))
        return outcome(ok=True)

    @contextmanager
    def _group(self, group_id: str) -> Iterator[NodeGroup]:
        """Give the group to act on; what it raises against the contract is its provider's fault."""
        group, provider = self._providers.group(group_id), self._providers.name_of(group_id)
        try:
            yield group
        except NodewrightError:
            raise
        except Exception as error:
            self._faults.note(provider, f"group {group_id}", error)
            raise PluginError(provider, describe(error)) from error

    def _shrink(self, group_id: str, count: int) -> None:
        with self._group(group_id) as group:
            group.decrease_target(count)

    def _grow(self, action: Grow) -> None:
        with self._group(action.group) as group:
            if action.atomic:
                group.increase_atomically(action.count)
            else:
                group.increase(action.count)

    def _delete(self, action: DeleteInstances, nodes: Mapping[str, Node]) -> None:
        names = action.nodes or action.instances
        going = [
            nodes.get(name) or Node(metadata=ObjectMeta(name=name), spec=NodeSpec(provider_id=instance))
            for name, instance in zip(names, action.instances, strict=True)
        ]
        with self._group(action.group) as group:
            if action.force:
                self._force_delete(group, going)
            else:
                group.delete_nodes(going)

    def _force_delete(self, group: NodeGroup, going: list[Node]) -> None:
        try:
            group.force_delete_nodes(going)
        except (UnsupportedError, NotImplementedError):
            # The provider can, but not for this group.
            group.delete_nodes(going)


def _temporary(error: NodewrightError) -> bool:
    # A refused eviction or a conflict passes; what the API server calls wrong stays wrong.
    if isinstance(error, ApiServerError):
        return error.status in (0, 409, 429) or error.status >= 500
    return isinstance(error, TemporaryError)
