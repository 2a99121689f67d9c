"""How unneeded nodes are removed."""

from datetime import timedelta
from typing import Literal

from nodewright.config.model.base import Section
from nodewright.config.reference import Reference
from nodewright.config.slots import DrainRules
from nodewright.config.values import (
    Count,
    Cron,
    Duration,
    Money,
    Names,
    NodeShare,
    Percentage,
    Positive,
    PositiveDuration,
    Ratio,
    Switch,
    TimeZone,
    Whole,
)

#: Why nodes are removed: no pod has to move; few have to; the node is not ready; another node is cheaper.
DisruptionReason = Literal["empty", "underused", "unready", "consolidation"]


class SoftTaints(Section):
    """The PreferNoSchedule taint on unneeded nodes."""

    max_count: Count = 10
    """The maximum number of nodes that one loop taints or untaints. 0 turns these taints off."""
    max_time: Duration = timedelta(seconds=3)
    """How long a loop may spend on them."""


class DrainPriority(Section):
    """How long pods of this priority and higher may take to terminate."""

    priority: Whole
    """Pods of this priority and higher, below the priority of the next entry."""
    max_graceful_termination: Duration
    """How long these pods may take to terminate."""


class Consolidation(Section):
    """The replacement of needed nodes by cheaper ones."""

    enabled: Switch = False
    """Replace nodes by cheaper ones if their pods fit there."""
    threshold: Ratio = 0.5
    """The minimum value of a replacement: its share of the groups' cost divided by its share of their disruption."""
    min_saving_percentage: Percentage = 10
    """The minimum saving, as a percentage of the cost of the nodes that are replaced."""
    after: PositiveDuration = timedelta(hours=1)
    """How long a node stays after it was created, after pods moved to it, or after a replacement failed."""
    max_underway: Positive = 1
    """The maximum number of replacements at the same time."""
    max_nodes: Positive = 5
    """The maximum number of nodes that one replacement removes."""
    search_time: PositiveDuration = timedelta(milliseconds=500)
    """How long one loop may search for replacements. The next loop continues the search."""
    recheck: Duration = timedelta(minutes=5)
    """How long to wait before the next search, once all nodes were examined and no replacement was worth it."""
    reserve: Duration = timedelta(hours=1)
    """Keep as much free room as before for pods like those that arrived in this period."""


class Schedule(Section):
    """A window of time that opens again and again."""

    from_: Cron
    """When the window opens, as in cron: minute, hour, day of month, month, day of week."""
    for_: PositiveDuration
    """How long the window stays open."""
    time_zone: TimeZone = "UTC"
    """The time zone of the schedule."""


class DisruptionBudget(Section):
    """A limit on nodes that are being removed at the same time, for some groups and some reasons."""

    nodes: NodeShare
    """The maximum number of nodes, or a percentage of the nodes of these groups, rounded up. 0 allows none."""
    reasons: tuple[DisruptionReason, ...] = ()
    """The reasons for removal that the budget covers. If empty, it covers all."""
    groups: Names = ()
    """Patterns for the names of the groups that the budget covers together. If empty, it covers all."""
    schedule: Schedule | None = None
    """When the budget applies. Without a schedule, it always applies."""


class Disruption(Section):
    """Limits on removals that Cluster Autoscaler does not have. All that apply at a time are kept."""

    budgets: tuple[DisruptionBudget, ...] = ()
    """How many nodes may be removed at the same time."""
    min_saving: Money = 0
    """A node with pods to move is removed only if it costs at least this much per hour. 0 means no limit."""
    max_evictions_per_hour: Count = 0
    """The maximum number of pods to move for the removals that begin within an hour. 0 means no limit."""


class ScaleDown(Section):
    """How unneeded nodes are removed."""

    enabled: Switch = True
    """Whether nodes are removed at all."""
    unneeded_time: Duration = timedelta(minutes=10)
    """How long a node must be unneeded before it is removed."""
    unready_enabled: Switch = True
    """Also remove unready nodes."""
    unready_time: Duration = timedelta(minutes=20)
    """How long an unready node must be unneeded before it is removed."""
    utilization_threshold: Ratio = 0.5
    """A node can be unneeded only while pods request less than this fraction of its cpu and memory."""
    gpu_utilization_threshold: Ratio = 0.5
    """The same for the GPUs of a node that has GPUs."""
    ignore_daemonsets_utilization: Switch = False
    """Do not count DaemonSet pods in a node's utilization."""
    ignore_mirror_pods_utilization: Switch = False
    """Do not count static pods in a node's utilization."""
    delay_after_add: Duration = timedelta(minutes=10)
    """How long after a scale-up no node is removed."""
    delay_after_delete: Duration = timedelta(0)
    """How long after a removal no other node is removed."""
    delay_after_failure: Duration = timedelta(minutes=3)
    """How long after a failed removal no node is removed."""
    delay_per_group: Switch = False
    """Apply these delays only to the group concerned, not to all groups."""
    simulation_timeout: Duration = timedelta(seconds=30)
    """How long one loop may search for unneeded nodes."""
    unremovable_recheck: Duration = timedelta(minutes=5)
    """How long to wait before a node that could not be removed is examined again."""
    max_parallelism: Count = 10
    """The maximum number of nodes that are removed at the same time."""
    max_drain_parallelism: Count = 1
    """How many of these may have pods to move."""
    max_graceful_termination: Duration = timedelta(seconds=600)
    """How long a pod may take to terminate when its node is drained."""
    drain_priorities: tuple[DrainPriority, ...] = ()
    """The same by the priority of pods. Can't be combined with maxGracefulTermination."""
    max_pod_eviction_time: Duration = timedelta(minutes=2)
    """How long a refused eviction is retried."""
    deletion_delay_timeout: Duration = timedelta(minutes=2)
    """How long to wait until delay-deletion annotations are removed from a node."""
    deletion_batch_interval: Duration = timedelta(0)
    """How long to collect nodes of a group, to delete them in one call."""
    delay_after_taint: Duration = timedelta(seconds=5)
    """How long to wait between tainting a node and draining it."""
    dynamic_delay_after_taint: Switch = False
    """Adapt this wait to how fast the API server answers."""
    cordon: Switch = True
    """Also mark nodes as unschedulable while they are removed."""
    evict_daemonsets: Switch = True
    """Evict DaemonSet pods from nodes that have other pods to move."""
    evict_daemonsets_from_empty_nodes: Switch = False
    """Evict DaemonSet pods from nodes that have no other pods to move."""
    drain_rules: DrainRules = (
        Reference(name="mirror"),
        Reference(name="long-terminating"),
        Reference(name="do-not-disrupt"),
        Reference(name="replica-count"),
        Reference(name="daemon-set"),
        Reference(name="safe-to-evict"),
        Reference(name="terminal"),
        Reference(name="on-completion"),
        Reference(name="not-replicated"),
        Reference(name="system"),
        Reference(name="not-safe-to-evict"),
        Reference(name="local-storage"),
        Reference(name="disruption-budget"),
    )
    """The plugins that say what draining a node means for a pod. The first one with a verdict decides."""
    skip_system_pods: Switch = True
    """Keep nodes with kube-system pods that have no disruption budget."""
    system_pods_block_for: Duration = timedelta(hours=1)
    """How long such a pod keeps its node."""
    skip_local_storage: Switch = True
    """Keep nodes with pods that have local storage."""
    skip_custom_controller_pods: Switch = True
    """Keep nodes with pods of a controller that is not part of Kubernetes."""
    min_replicas: Count = 0
    """Keep nodes with pods of controllers that have fewer replicas than this."""
    soft_taints: SoftTaints = SoftTaints()
    """The PreferNoSchedule taint on unneeded nodes."""
    candidate_ttl: Duration = timedelta(0)
    """After a restart, nodes with a younger PreferNoSchedule taint count as unneeded since it was set. 0 ignores it."""
    disruption: Disruption = Disruption()
    """Limits on removals that Cluster Autoscaler does not have."""
    consolidation: Consolidation = Consolidation()
    """The replacement of needed nodes by cheaper ones."""
