"""What Nodewright remembers from loop to loop, and over restarts."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import msgspec

from nodewright.api.instance import ErrorClass
from nodewright.api.reasons import Reason
from nodewright.api.template import NodeTemplate, TemplateDifference


@dataclass(frozen=True, kw_only=True)
class ScaleUpRequest:
    """Machines that a group was asked for and that are not all nodes yet."""

    at: datetime
    count: int
    #: False if somebody else asked for them: they are waited for, but not counted on before they exist.
    ours: bool = True
    #: In stored memory: the size that the group was to get by a call that was not answered yet; 0 if all were.
    unanswered: int = 0


@dataclass(frozen=True, kw_only=True)
class Intention:
    """Pods that were placed on machines when these were ordered."""

    group: str
    #: Tells pods of one controller that nobody can tell apart.
    kind: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """A group that failed to grow, or a pool that ran dry, and is left alone for a while."""

    until: datetime
    pause: timedelta
    failed_at: datetime
    error_class: ErrorClass
    code: str
    #: The capacity pool that ran dry, empty if none did or nobody told which.
    pool: str = ""
    #: What the cloud said.
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """A group that has fewer machines than it is wanted to have."""

    #: Since when both numbers are what they are.
    since: datetime
    machines: int
    target: int


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A node that is being taken out of service."""

    group: str
    provider_id: str
    #: When it was marked, or was to be.
    started: datetime
    #: Whether pods have to move.
    drains: bool = False
    #: The lowest priority of the pods that are asked to leave now: those of higher ones have their turn later.
    evicting: int | None = None
    #: When these were first asked.
    evicting_since: datetime | None = None
    #: When they were last asked.
    evicted_at: datetime | None = None
    #: Why one of them was not let go when it was last asked; empty if none was refused.
    refusal: str = ""
    #: Since when nothing is left on it that has to move.
    emptied_at: datetime | None = None
    #: Since when nothing but the rest of its batch keeps it from being deleted.
    ready_at: datetime | None = None
    #: When the cloud was asked to delete the machine.
    deleted_at: datetime | None = None
    #: What went wrong with that, while nobody knows whether it was done all the same.
    error: str = ""
    #: In stored memory: whether the call that marks or deletes it was still to come, or was not answered yet.
    unanswered: bool = False
    #: False if somebody else does it: it is watched, and no step of it is taken.
    ours: bool = True


@dataclass(frozen=True, kw_only=True)
class Standing:
    """For which reason a node stays, or may go."""

    reason: Reason
    #: Since when it has been this one.
    since: datetime
    #: As in the verdict: the pod that is in the way, and what is the matter with it.
    pod: str = ""
    cause: str = ""


@dataclass(frozen=True, kw_only=True)
class GroupChanges:
    """When a group last changed, or would not."""

    grown: datetime | None = None
    shrunk: datetime | None = None
    #: When the removal of one of its nodes last failed.
    stuck: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Evictions:
    """Pods that had to move for removals that began at one time."""

    at: datetime
    count: int


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """Nodes that give way to cheaper ones: these come first, then those go."""

    #: Provider ID of each node that goes, by its name.
    nodes: dict[str, str]
    #: Where new nodes were ordered, and how many; nowhere if the pods fit on nodes that were there.
    group: str = ""
    count: int = 0
    #: When it was decided.
    at: datetime
    #: When it last came a step further.
    since: datetime
    #: What it saves in an hour.
    saving: float = 0.0
    #: Which of the nodes have begun to go.
    begun: tuple[str, ...] = ()
    #: Uids of the controllers whose pods move.
    owners: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KnownTemplate:
    """What a group's nodes were seen to be like."""

    #: Fingerprint of the provider's template, empty if it has none.
    promised: str = ""
    #: Since when it has been this one; None if it was when the group was first seen.
    promised_since: datetime | None = None
    #: Taken from a node of the group.
    likeness: NodeTemplate | None = None
    #: When the last node that could be taken for a likeness went; None while there is one.
    gone_since: datetime | None = None
    #: What is not as the provider promises.
    differences: tuple[TemplateDifference, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One thing that Cluster Autoscaler's status tells of a group or of the cluster."""

    status: str
    #: Since when it has been this one.
    since: datetime


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """All that the status tells of a group or of the cluster."""

    health: Condition
    scale_up: Condition
    scale_down: Condition


@dataclass(frozen=True, kw_only=True)
class Memory:
    """All that survives a loop. Immutable: `decide` returns the next one."""

    unneeded_since: dict[str, datetime] = field(default_factory=dict)
    unremovable_until: dict[str, datetime] = field(default_factory=dict)
    #: Of every node that belongs to a group.
    standings: dict[str, Standing] = field(default_factory=dict)
    #: Nodes that there was no time to look at in the last loop, and that come first in the next one.
    unexamined: tuple[str, ...] = ()
    #: By unneeded node, where its pods went in the last simulation, and how many: there they are tried first the next
    #: time, so that the same nodes can go again.
    hints: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    unregistered_since: dict[str, datetime] = field(default_factory=dict)
    #: When each machine that the cloud could not make was first seen to have failed.
    failed_since: dict[str, datetime] = field(default_factory=dict)
    requests: dict[str, ScaleUpRequest] = field(default_factory=dict)
    #: What the machines of open requests are meant for, in the order in which pods were placed.
    intentions: tuple[Intention, ...] = ()
    shortages: dict[str, Shortage] = field(default_factory=dict)
    backoffs: dict[str, Backoff] = field(default_factory=dict)
    #: Pools that ran dry, by provider and pool.
    pools: dict[str, Backoff] = field(default_factory=dict)
    #: Since when too many nodes of the cluster are unready; None while it is well.
    unhealthy_since: datetime | None = None
    removals: dict[str, Removal] = field(default_factory=dict)
    replacements: tuple[Replacement, ...] = ()
    #: Nodes that consolidation leaves alone, and until when.
    left_alone_until: dict[str, datetime] = field(default_factory=dict)
    #: The last node that consolidation looked at: the next loop goes on behind it. Empty if it begins anew.
    examined: str = ""
    #: Until when consolidation rests, as it has looked at all nodes in vain.
    no_search_until: datetime | None = None
    templates: dict[str, KnownTemplate] = field(default_factory=dict)
    last_scale_up: datetime | None = None
    #: How many ways to grow were taken so far: those that are equally good have their turns.
    turn: int = 0
    last_scale_down: datetime | None = None
    last_scale_down_failure: datetime | None = None
    #: The same by group.
    changes: dict[str, GroupChanges] = field(default_factory=dict)
    #: Of the last hour, oldest first; nothing where there is no limit on them.
    evictions: tuple[Evictions, ...] = ()
    #: What the status told last: of each group, and under the empty name of the cluster.
    conditions: dict[str, Conditions] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Return the memory as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> "Memory":
        """Read what `to_json` wrote, by this or a neighbouring version: unknown fields are ignored.

        Raises `ValueError` if *data* is damaged.
        """
        return msgspec.json.decode(data, type=cls)
