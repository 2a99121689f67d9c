"""The actor of a dry run: it has nothing to act with."""

from collections.abc import Mapping

from nodewright.api.decision import Decision, Outcome
from nodewright.decision.execution import Execution, Hold
from nodewright.objects import Node


class WithheldActor:
    """Takes the place of `nodewright.runtime.actor.Actor` and does nothing: no provider and no writer reaches it."""

    busy = False

    @property
    def held(self) -> Mapping[str, Hold]:
        """No group: none has an order that could be late."""
        return {}

    def carry_out(self, decision: Decision, nodes: Mapping[str, Node]) -> Execution:
        """Try nothing of *decision*."""
        return Execution(decision=decision, withheld=True)

    def ended(self) -> tuple[Outcome, ...]:
        """Return nothing: nothing ever began."""
        return ()

    def close(self) -> None:
        """There is nothing to wait for."""
