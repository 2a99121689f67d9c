"""How nodes that are not needed go away."""

from datetime import timedelta

from nodewright.config.model.base import Section
from nodewright.config.model.disruption import Disruption
from nodewright.config.reference import Reference
from nodewright.config.values import (
    Count,
    DrainRules,
    Duration,
    Percentage,
    Positive,
    PositiveDuration,
    Ratio,
    Switch,
    Whole,
)


class SoftTaints(Section):
    """The PreferNoSchedule taint on nodes that are not needed."""

    max_count: Count = 10
    """Most nodes that are tainted or untainted in one loop; 0 sets no such taints."""
    max_time: Duration = timedelta(seconds=3)
    """How long a loop may spend on them."""


class DrainPriority(Section):
    """How long pods from one priority upwards may take to end."""

    priority: Whole
    """Pods of this priority and higher, up to the next one listed."""
    max_graceful_termination: Duration
    """How long they may take to end."""


class Consolidation(Section):
    """Nodes that give way to cheaper ones, though they are needed."""

    enabled: Switch = False
    """Replace nodes by cheaper ones when their pods fit there."""
    threshold: Ratio = 0.5
    """What a replacement has to be worth: its share in the groups' cost, divided by its share in their disruption."""
    min_saving_percentage: Percentage = 10
    """Least part of the cost of the nodes that go, which has to be saved."""
    after: PositiveDuration = timedelta(hours=1)
    """Younger nodes stay; so do those that pods were moved to, or that could not be replaced, for so long."""
    max_underway: Positive = 1
    """Most replacements at the same time."""
    max_nodes: Positive = 5
    """Most nodes that one replacement takes away."""
    search_time: PositiveDuration = timedelta(milliseconds=500)
    """How long a loop may search for replacements; the next one goes on where it ended."""
    recheck: Duration = timedelta(minutes=5)
    """How long not to search again, once all nodes were looked at and nothing was worth it."""
    reserve: Duration = timedelta(hours=1)
    """Pods like those that came in this time must find as much free room after a replacement as before."""


class ScaleDown(Section):
    """How nodes that are not needed go away."""

    enabled: Switch = True
    """Remove nodes at all."""
    unneeded_time: Duration = timedelta(minutes=10)
    """How long a node has to be unneeded before it is removed."""
    unready_enabled: Switch = True
    """Remove unready nodes, too."""
    unready_time: Duration = timedelta(minutes=20)
    """How long an unready node has to be unneeded before it is removed."""
    utilization_threshold: Ratio = 0.5
    """A node is unneeded only if less than this part of its cpu and memory is requested."""
    gpu_utilization_threshold: Ratio = 0.5
    """The same for the GPUs of a node that has some."""
    ignore_daemonsets_utilization: Switch = False
    """Leave DaemonSet pods out of the utilization."""
    ignore_mirror_pods_utilization: Switch = False
    """Leave static pods out of the utilization."""
    delay_after_add: Duration = timedelta(minutes=10)
    """No removal for so long after a scale-up."""
    delay_after_delete: Duration = timedelta(0)
    """No removal for so long after a removal."""
    delay_after_failure: Duration = timedelta(minutes=3)
    """No removal for so long after a failed one."""
    delay_per_group: Switch = False
    """Let these delays hold for the group concerned instead of all."""
    simulation_timeout: Duration = timedelta(seconds=30)
    """How long a loop may search for nodes that are not needed."""
    unremovable_recheck: Duration = timedelta(minutes=5)
    """How long a node that could not be removed is not looked at again."""
    max_parallelism: Count = 10
    """Most nodes that are being removed at the same time."""
    max_drain_parallelism: Count = 1
    """Most of these that have pods to be moved."""
    max_graceful_termination: Duration = timedelta(seconds=600)
    """How long a pod may take to end when its node is drained."""
    drain_priorities: tuple[DrainPriority, ...] = ()
    """The same by priority; not together with maxGracefulTermination."""
    max_pod_eviction_time: Duration = timedelta(minutes=2)
    """How long an eviction that is refused is tried again."""
    deletion_delay_timeout: Duration = timedelta(minutes=2)
    """How long to wait for delay-deletion annotations to go away from a node."""
    deletion_batch_interval: Duration = timedelta(0)
    """How long to gather nodes of a group to delete them in one call."""
    delay_after_taint: Duration = timedelta(seconds=5)
    """How long to wait between tainting a node and draining it."""
    dynamic_delay_after_taint: Switch = False
    """Adapt that wait to how fast the API server answers."""
    cordon: Switch = True
    """Also mark nodes that are being removed as unschedulable."""
    evict_daemonsets: Switch = True
    """Evict DaemonSet pods from nodes with pods to be moved."""
    evict_daemonsets_from_empty_nodes: Switch = False
    """Evict DaemonSet pods from all other nodes, too."""
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
    """The plugins that tell what draining a node means for a pod; the first with an opinion decides."""
    skip_system_pods: Switch = True
    """Keep nodes with pods of kube-system that have no disruption budget."""
    system_pods_block_for: Duration = timedelta(hours=1)
    """How long such a pod keeps its node."""
    skip_local_storage: Switch = True
    """Keep nodes with pods that have local storage."""
    skip_custom_controller_pods: Switch = True
    """Keep nodes with pods that belong to a controller Kubernetes does not come with."""
    min_replicas: Count = 0
    """Keep nodes with pods of controllers that have fewer replicas."""
    soft_taints: SoftTaints = SoftTaints()
    """The PreferNoSchedule taint on nodes that are not needed."""
    candidate_ttl: Duration = timedelta(0)
    """After a restart, take nodes whose PreferNoSchedule taint is younger as unneeded since then; 0 takes none."""
    disruption: Disruption = Disruption()
    """Limits on removals beyond Cluster Autoscaler's."""
    consolidation: Consolidation = Consolidation()
    """Nodes that give way to cheaper ones, though they are needed."""
