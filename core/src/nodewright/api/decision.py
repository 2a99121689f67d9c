"""Decisions: plain values that say what to do and why. They can be written to JSON and read back."""

from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.instance import InstanceError
from nodewright.api.notice import Notice
from nodewright.api.template import TemplateDifference
from nodewright.api.verdict import Verdict
from nodewright.objects.frozen import freeze_fields


@dataclass(frozen=True, kw_only=True)
class Grow:
    """Ask *group* for *count* more machines."""

    group: str
    count: int
    from_size: int
    #: The pods that it is for, ``namespace/name``.
    pods: tuple[str, ...] = ()
    atomic: bool = False
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Shrink:
    """Lower the target of *group* by *count* machines that never came."""

    group: str
    count: int
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class DeleteInstances:
    """Delete machines of *group*: of drained nodes, or such that never became nodes."""

    group: str
    #: Provider IDs.
    instances: tuple[str, ...]
    #: Names of their nodes, in the same order; a machine without a node has its ID here. Empty if none has a node.
    nodes: tuple[str, ...] = ()
    #: Whether to delete them by `NodeGroup.force_delete_nodes`, whatever the group's minimum and their state.
    force: bool = False
    verdict: Verdict

    @property
    def target(self) -> str:
        """The target that its `Outcome` names: the first node, or the group if no machine has a node."""
        return self.nodes[0] if self.nodes else self.group


@dataclass(frozen=True, kw_only=True)
class Drain:
    """Begin to remove *node*: taint and cordon it."""

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
    #: Their uids: a new pod may have the name of one that has left.
    uids: dict[str, str] = field(default_factory=dict)
    #: How many of them belong to DaemonSets: these go along with their node.
    daemons: int = 0

    def __post_init__(self) -> None:
        freeze_fields(self, "pods", "uids")


@dataclass(frozen=True, kw_only=True)
class Restore:
    """Give up the removal of *node*: take its taint and cordon off."""

    node: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class SoftTaint:
    """Ask the scheduler to prefer other nodes to *node*, which is unneeded."""

    node: str
    #: Since when it is unneeded. The taint carries this time, so that a later process can go on from it.
    since: datetime


@dataclass(frozen=True, kw_only=True)
class SoftUntaint:
    """Ask the scheduler to treat *node* like any other again."""

    node: str


@dataclass(frozen=True, kw_only=True)
class OptionVerdict:
    """One way to grow, and whether it was taken."""

    group: str
    nodes: int
    pods: int
    #: After an option is taken, options are computed again for the remaining pods. Counts these rounds from 1.
    round: int = 1
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of an expander that asks outside. A replay uses it instead of asking again."""

    #: The expander's name, as in YAML.
    expander: str
    #: Ids of the groups that it could choose from.
    offered: tuple[str, ...]
    #: A digest of everything that was offered: groups, nodes and pods. The answer is valid for this question only.
    question: str
    #: Ids of the groups that it kept, in its own order; all of them if it failed.
    kept: tuple[str, ...]
    #: Why it could not answer; empty if it did.
    error: str = ""
    #: What it reported besides.
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Everything that one loop decided. Actions are carried out in the order of the fields."""

    at: datetime
    restore: tuple[Restore, ...] = ()
    shrink: tuple[Shrink, ...] = ()
    grow: tuple[Grow, ...] = ()
    delete: tuple[DeleteInstances, ...] = ()
    drain: tuple[Drain, ...] = ()
    evict: tuple[Evict, ...] = ()
    #: Hints to the scheduler, at best effort: those that fail, or are not done in time, are decided again.
    soft_untaint: tuple[SoftUntaint, ...] = ()
    soft_taint: tuple[SoftTaint, ...] = ()

    #: Why this loop only continued what was under way; None if it looked at everything.
    halted: Verdict | None = None
    #: Verdict by pending pod, ``namespace/name``.
    pods: dict[str, Verdict] = field(default_factory=dict)
    #: Why pods fit no new node of a group: verdict by group, by pod. A pod that found a place after others were helped
    #: has none, and no pod is refused by the group that grows for it.
    rejections: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    #: Verdict by node.
    nodes: dict[str, Verdict] = field(default_factory=dict)
    #: Verdict by group, for groups that took no part in scale-up.
    groups: dict[str, Verdict] = field(default_factory=dict)
    options: tuple[OptionVerdict, ...] = ()
    #: What strategies reported besides their answers.
    notices: tuple[Notice, ...] = ()
    #: Answers that came from outside, in the order of the questions; see `Expander.asks_outside`.
    answers: tuple[Answer, ...] = ()
    #: When to decide again because something waits for that time; None if nothing does.
    again: datetime | None = None
    #: Differences between nodes and their provider's template that this loop found; each is reported once.
    learnt: tuple[TemplateDifference, ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self, "pods", "rejections", "nodes", "groups")

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to do except hints to the scheduler."""
        return not (self.restore or self.shrink or self.grow or self.delete or self.drain or self.evict)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one action of a decision. The next decision takes it into account."""

    at: datetime
    #: The action's class in kebab-case: grow, shrink, delete-instances, drain, evict, restore.
    action: str
    #: The group or node acted on.
    target: str
    ok: bool
    error: str = ""
    #: Why the cloud could not deliver, if it said so.
    cause: InstanceError | None = None
    #: Whether trying again may help.
    temporary: bool = False
    #: How many machines a refused order got all the same.
    increased: int = 0
    #: The node group whose cloud was asked; empty if only an object of the API server was to be changed.
    group: str = ""
    #: False if it was not even begun, so that it certainly had no effect.
    tried: bool = True
    #: When it may be tried again because the cloud asked to wait until then; None if it did not.
    not_before: datetime | None = None
