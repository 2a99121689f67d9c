"""The actor of a dry run: it has nothing to act with."""

from collections.abc import Mapping

from nodewright.api.decision import Decision, Outcome
from nodewright.decision.aftermath import Aftermath, Held
from nodewright.objects import Node


class WithheldActor:
    """Takes the place of `nodewright.runtime.actor.Actor` and does nothing: no provider and no writer reaches it."""

    busy = False

    @property
    def held(self) -> Mapping[str, Held]:
        """No group: none has an order that could be late."""
        return {}

    def carry_out(self, decision: Decision, nodes: Mapping[str, Node]) -> Aftermath:
        """Try nothing of *decision*."""
        return Aftermath(decision=decision, withheld=True)

    def ended(self) -> tuple[Outcome, ...]:
        """Return nothing: nothing ever began."""
        return ()

    def close(self) -> None:
        """There is nothing to wait for."""
