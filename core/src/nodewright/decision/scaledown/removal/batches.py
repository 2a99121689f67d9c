"""Batches: nodes of one group whose machines are deleted in one call."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nodewright.api.decision import DeleteInstances
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import HealthMemory, Removal
from nodewright.decision.world import World


@dataclass(kw_only=True)
class Batches:
    """Gathers the nodes that are ready to be deleted, and deletes batches that are complete."""

    world: World
    #: Knows which groups' clouds asked for fewer calls.
    health: HealthMemory
    #: How long a batch waits for more after its first node is ready.
    interval: timedelta
    now: datetime
    #: Deletions of this loop.
    delete: list[DeleteInstances] = field(default_factory=list)
    #: When the next batch is due; None if none is waiting.
    again: datetime | None = None
    _ready: dict[str, dict[str, Removal]] = field(default_factory=dict)

    def add(self, name: str, removal: Removal) -> None:
        """Put the node *name*, which is ready to be deleted, into its group's batch."""
        self._ready.setdefault(removal.group, {})[name] = removal

    def drop(self, name: str) -> None:
        """Take the node *name* out again, if it is in a batch."""
        for batch in self._ready.values():
            batch.pop(name, None)

    def close(self, removals: dict[str, Removal]) -> None:
        """Delete the batches that are complete, and note that in *removals*, which has all removals under way."""
        for group, batch in self._ready.items():
            if not batch or (self._is_whole(group) and self._has_stragglers(group, removals)):
                continue
            due = min(removal.ready_at or self.now for removal in batch.values()) + self.interval
            due = max(due, self.health.respite(group, "delete-instances") or due)
            if self.now < due:
                self.again = min(due, self.again or due)
                continue
            self._delete(group, batch, removals)

    def _is_whole(self, group: str) -> bool:
        facts = self.world.group(group)
        return facts is not None and facts.options.zero_or_max_node_scaling

    def _has_stragglers(self, group: str, removals: Mapping[str, Removal]) -> bool:
        batch = self._ready[group]
        return any(
            each.group == group and each.deleted_at is None and name not in batch for name, each in removals.items()
        )

    def _delete(self, group: str, batch: Mapping[str, Removal], removals: dict[str, Removal]) -> None:
        drained = any(removal.evicting_since is not None for removal in batch.values())
        self.delete.append(
            DeleteInstances(
                group=group,
                instances=tuple(removal.provider_id for removal in batch.values()),
                nodes=tuple(batch),
                verdict=Verdict(reason=Reason.DRAINED if drained else Reason.EMPTY),
            )
        )
        removals |= {name: replace(removal, deleted_at=self.now) for name, removal in batch.items()}
