"""The execution of a decision: its outcomes, and what follows from them for the world and for memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nodewright.api.decision import Decision, DeleteInstances, Outcome
from nodewright.api.group import GroupFacts
from nodewright.decision.memory import Memory
from nodewright.decision.world import World, deleting


@dataclass(frozen=True, kw_only=True)
class Hold:
    """Why a group is held: it is not known yet whether it took its last order."""

    why: str
    #: The size that the order asked for.
    size: int = 0

    def over(self, facts: GroupFacts) -> GroupFacts:
        """Return *facts* as those of a group that may have the size by now and takes no other order."""
        return replace(facts, error=self.why, target_size=max(facts.target_size, self.size))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The outcomes of *decision*. An action without an outcome was not tried, or its group is *held*."""

    decision: Decision
    outcomes: tuple[Outcome, ...] = ()
    #: Groups with a call under way that takes too long, by id.
    held: Mapping[str, Hold] = field(default_factory=dict)
    #: Whether nothing is to be tried: a dry run.
    withheld: bool = False

    @property
    def fruitful(self) -> bool:
        """Whether anything was done."""
        return any(outcome.ok for outcome in self.outcomes)

    @cached_property
    def undone(self) -> frozenset[str]:
        """Groups that certainly did not grow as decided: the order was refused for good, or partly, or not tried."""
        doubtful = {each.target for each in self._growth if each.ok or _is_doubtful(each)}
        return frozenset(grow.group for grow in self.decision.grow) - doubtful - self.held.keys()

    @property
    def calls_for_another(self) -> bool:
        """Whether other groups should grow instead of those that did not. One that was not tried has its turn soon."""
        waiting = {outcome.target for outcome in self._growth if not outcome.tried}
        return bool(self.undone - waiting) and not self.withheld

    def world(self, world: World) -> World:
        """Return the *world* of the decision as it is now, with the outcomes of growth, without reading it again.

        A group that may have taken its order is held: its nodes count as on their way, and it gets no other order.
        """
        changes = self._changes()
        deleted = {instance for delete in self._deleted for instance in delete.instances}
        doubts = self.doubts
        groups = []
        for facts in world.groups:
            facts = replace(facts.grown(changes[facts.id]), instances=deleting(facts.instances, deleted))
            groups.append(doubts[facts.id].over(facts) if facts.id in doubts else facts)
        return replace(world, groups=tuple(groups), outcomes=self._growth)

    def memory(self, memory: Memory, before: Memory) -> Memory:
        """Return *memory*, which the decision left when it was made on that of *before*, without what is undone."""
        grow = {grow.group for grow in self.decision.grow}
        partly = {outcome.target: outcome.increased for outcome in self._growth if outcome.increased}
        done = {outcome.target for outcome in self._growth if outcome.ok} | self.held.keys() | partly.keys()
        orders = memory.orders.reverted(before.orders, self.undone | self._not_given_up)
        orders = orders.raised(partly, self.decision.at)
        cooldown = memory.cooldown.not_grown(before.cooldown, grow - done, at_all=not grow or bool(grow & done))
        kept = replace(memory, orders=orders, cooldown=cooldown)
        if not self.withheld:
            return kept
        return replace(
            kept,
            orders=orders.with_turn(before.orders.turn),
            leaving=memory.leaving.not_begun(before.leaving),
            consolidation=memory.consolidation.not_begun(before.consolidation),
        )

    @property
    def _not_given_up(self) -> frozenset[str]:
        """Groups whose missing machines are still ordered: the cloud, which asked for fewer calls, was not told yet."""
        return frozenset(
            each.target
            for each in self.outcomes
            if each.action == "shrink" and not each.ok and (not each.tried or each.not_before is not None)
        )

    @property
    def sizes(self) -> dict[str, int]:
        """How much larger each group is that was certainly resized; negative if it is smaller."""
        return {group: change for group, change in self._changes().items() if change}

    @property
    def doubts(self) -> dict[str, Hold]:
        """The groups that may have taken an order, by id: they are held until their provider is read again."""
        sizes = {grow.group: grow.from_size + grow.count for grow in self.decision.grow}
        unsure = {
            outcome.target: Hold(why=outcome.error, size=sizes.get(outcome.target, 0))
            for outcome in self._growth
            if _is_doubtful(outcome)
        }
        return {**unsure, **self.held}

    @cached_property
    def _growth(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.action == "grow")

    @property
    def _deleted(self) -> list[DeleteInstances]:
        kept = {each.target for each in self.outcomes if each.action == "delete-instances" and not each.ok}
        tried = {each.target for each in self.outcomes if each.action == "delete-instances"}
        return [each for each in self.decision.delete if (key := each.target) in tried and key not in kept]

    def _changes(self) -> Counter[str]:
        done = {(outcome.action, outcome.target) for outcome in self.outcomes if outcome.ok}
        changes: Counter[str] = Counter()
        for grow in self.decision.grow:
            changes[grow.group] += grow.count * (("grow", grow.group) in done)
        for outcome in self._growth:
            changes[outcome.target] += outcome.increased
        for shrink in self.decision.shrink:
            changes[shrink.group] -= shrink.count * (("shrink", shrink.group) in done)
        for delete in self._deleted:
            changes[delete.group] -= len(delete.instances)
        return changes


def _is_doubtful(outcome: Outcome) -> bool:
    """Tell whether the order may have been taken all the same, nobody knows how much of it."""
    return outcome.temporary and outcome.tried and not outcome.ok and not outcome.increased


def to_be_kept(
    memory: Memory, held: Mapping[str, Hold], decision: Decision | None = None, outcomes: Sequence[Outcome] = ()
) -> Memory:
    """Return *memory* with a note of all unanswered calls, for the next process if this one ends now.

    These are the orders that *held* groups may have taken, the deletions that failed by *outcomes* that no decision
    knows of yet, and what is about to be done if *decision* is carried out. What clouds asked for is noted as well.
    """
    sizes = {group: each.size for group, each in held.items()}
    going = set(memory.leaving.undeleted(outcomes))
    if decision is not None:
        sizes |= {grow.group: grow.from_size + grow.count for grow in decision.grow}
        going |= {each.node for each in decision.drain} | {name for each in decision.delete for name in each.nodes}
    orders, leaving = memory.orders.unanswered(sizes), memory.leaving.unanswered(going)
    health = memory.health.respited(outcomes)
    if orders is memory.orders and leaving is memory.leaving and health is memory.health:
        return memory
    return replace(memory, orders=orders, leaving=leaving, health=health)
