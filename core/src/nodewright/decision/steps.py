"""Processors as steps of a chain: each has the simulation for one call, and leaves changes only with a sound answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from nodewright.api.processor import PendingPodsProcessor, ProcessorContext, ScaleDownCandidatesProcessor
from nodewright.api.reasons import Reason
from nodewright.decision.policy import Policy
from nodewright.plugins.results import instance_of
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.lent import lend

T = TypeVar("T")


class Steps:
    """Calls the processors of *policy* with what is in *context* and with *simulation*."""

    def __init__(self, policy: Policy, simulation: ClusterSimulation, context: ProcessorContext) -> None:
        self.policy = policy
        self.context = context
        self._simulation = simulation

    def take(
        self,
        name: str,
        process: Callable[[Sequence[T], ProcessorContext], object],
        items: Sequence[T],
        *,
        default: Sequence[T],
        returns: Callable[[object], Sequence[T]],
    ) -> Sequence[T]:
        """Return what the step *name* makes of *items*; *default*, with the simulation as it was, if it fails."""

        def take() -> Sequence[T]:
            with lend(self._simulation) as simulation:
                kept = returns(process(tuple(items), replace(self.context, simulation=simulation)))
                self._simulation.keep()
                return kept

        return self.policy.faults.call(name, "process", take, default=default)

    def reason(self, name: str, processor: PendingPodsProcessor | ScaleDownCandidatesProcessor) -> Reason:
        """Return why *processor* leaves things out, in its own words."""
        of = instance_of(Reason)
        return self.policy.faults.call(
            name, "reason", getattr, processor, "reason", default=Reason.FILTERED, returns=of
        )
