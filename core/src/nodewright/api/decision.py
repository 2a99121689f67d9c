"""Decisions: plain values that say what to do and why, and that can be written to JSON and read back."""

from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.instance import InstanceError
from nodewright.api.notice import Notice
from nodewright.api.template import TemplateDifference
from nodewright.api.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Grow:
    """Ask *group* for *count* more machines."""

    group: str
    count: int
    from_size: int
    #: Pods that wait for it, ``namespace/name``.
    pods: tuple[str, ...] = ()
    atomic: bool = False
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Shrink:
    """Give up *count* machines that *group* was asked for and that never came."""

    group: str
    count: int
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class DeleteInstances:
    """Delete machines of *group*: drained nodes, or machines that never became nodes."""

    group: str
    #: Provider IDs.
    instances: tuple[str, ...]
    #: Names of the nodes that go with them, in the same order, a machine's ID where it has none; empty if none has.
    nodes: tuple[str, ...] = ()
    #: Whether they go whatever the group's minimum and their state, by `NodeGroup.force_delete_nodes`.
    force: bool = False
    verdict: Verdict

    @property
    def target(self) -> str:
        """What its outcome names: the first node, or the group that stands for machines without one."""
        return self.nodes[0] if self.nodes else self.group


@dataclass(frozen=True, kw_only=True)
class Drain:
    """Start to take *node* out of service: taint and cordon it."""

    node: str
    group: str
    #: Pods that will have to move, ``namespace/name``.
    pods: tuple[str, ...] = ()
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Evict:
    """Ask pods to leave a node that is being drained."""

    node: str
    #: Grace period in seconds by pod, ``namespace/name``.
    pods: dict[str, int]
    #: Their uids: another pod may have the name of one that has left.
    uids: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Restore:
    """Give up on draining *node*: take off taint and cordon."""

    node: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class SoftTaint:
    """Let the scheduler prefer other nodes to *node*, as it is not needed."""

    node: str
    #: Since when it is not; the taint says so, and a later life can go by it.
    since: datetime


@dataclass(frozen=True, kw_only=True)
class SoftUntaint:
    """Let the scheduler treat *node* as any other again."""

    node: str


@dataclass(frozen=True, kw_only=True)
class OptionVerdict:
    """One way to grow, and whether it was taken."""

    group: str
    nodes: int
    pods: int
    #: Options are found anew for the pods that are left after one was taken; this counts from 1.
    round: int = 1
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an expander that asks outside answered, on record: a replay takes it in place of asking again."""

    #: The expander's name, as in YAML.
    expander: str
    #: Ids of the groups that it could choose from.
    offered: tuple[str, ...]
    #: A digest of all that was offered, groups with nodes and pods: the answer is to this and to nothing else.
    question: str
    #: Ids of the groups that it kept, in its order; all of them if it failed.
    kept: tuple[str, ...]
    #: Why it could not answer; empty if it did.
    error: str = ""
    #: What it had to tell besides.
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """All that one loop decided. Carried out in the order of the fields; each verdict explains itself."""

    at: datetime
    restore: tuple[Restore, ...] = ()
    shrink: tuple[Shrink, ...] = ()
    grow: tuple[Grow, ...] = ()
    delete: tuple[DeleteInstances, ...] = ()
    drain: tuple[Drain, ...] = ()
    evict: tuple[Evict, ...] = ()
    #: Hints to the scheduler. Best effort: what of them is not done in time, or fails, is decided again.
    soft_untaint: tuple[SoftUntaint, ...] = ()
    soft_taint: tuple[SoftTaint, ...] = ()

    #: Why nothing but what was under way goes on in this loop; None if it looked at everything.
    halted: Verdict | None = None
    #: Verdict by pending pod, ``namespace/name``.
    pods: dict[str, Verdict] = field(default_factory=dict)
    #: Why each pod without help fits no group: verdict by group, by pod.
    rejections: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    #: Verdict by node.
    nodes: dict[str, Verdict] = field(default_factory=dict)
    #: Verdict by group that took no part in scale-up.
    groups: dict[str, Verdict] = field(default_factory=dict)
    options: tuple[OptionVerdict, ...] = ()
    #: What strategies had to tell besides.
    notices: tuple[Notice, ...] = ()
    #: What was heard from outside on the way, in the order in which it was asked: see `Expander.asks_outside`.
    answers: tuple[Answer, ...] = ()
    #: When something that waits for the time will have changed; None if that is nothing to decide earlier for.
    again: datetime | None = None
    #: What was found out in this loop about nodes that are not as their provider promises; told once.
    learnt: tuple[TemplateDifference, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to do, but for hints to the scheduler."""
        return not (self.restore or self.shrink or self.grow or self.delete or self.drain or self.evict)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one action of a decision went; the next decision learns from it."""

    at: datetime
    #: The action's class in kebab-case: grow, shrink, delete-instances, drain, evict, restore.
    action: str
    #: The group or node acted on.
    target: str
    ok: bool
    error: str = ""
    #: What stood in the way, where the cloud told.
    cause: InstanceError | None = None
    #: Whether trying again may help.
    temporary: bool = False
