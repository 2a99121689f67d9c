"""How pending pods bring nodes."""

from datetime import timedelta

from nodewright.config.model.base import Section
from nodewright.config.reference import Reference
from nodewright.config.values import ChosenEstimator, Count, Duration, Expanders, Names, Ratio, Switch, Whole


class Balancing(Section):
    """When two node groups are alike, so that a scale-up is spread over both."""

    ignore_labels: Names = ()
    """Labels that may differ, beyond the usual ones and those the provider names."""
    labels: Names = ()
    """Compare these labels and nothing else; not together with ignoreLabels."""
    memory_difference_ratio: Ratio = 0.015
    """How far the memory of like groups may differ."""
    max_free_difference_ratio: Ratio = 0.05
    """How far the free resources of like groups may differ."""
    max_allocatable_difference_ratio: Ratio = 0.05
    """How far the allocatable resources of like groups may differ."""


class Proactive(Section):
    """Nodes for pods that controllers have not created yet."""

    enabled: Switch = False
    """Count the replicas that a controller still has to create as pending pods."""
    pod_limit: Count = 5000
    """No pods are added beyond this many pending ones."""


class ScaleUp(Section):
    """How pending pods bring nodes."""

    estimator: ChosenEstimator = Reference(name="binpacking")
    """The plugin that computes how many nodes a set of pods needs."""
    expanders: Expanders = (Reference(name="least-waste"),)
    """The plugins that choose among the groups that could grow, in order; chance decides between the last ones."""
    options_per_loop: Count = 0
    """How many options may be taken in one loop, one after the other; 0 is as many as help."""
    time_budget: Duration = timedelta(minutes=1)
    """How long one loop may go on choosing further groups to grow."""
    max_nodes_per_scale_up: Count = 1000
    """Most nodes of one option, and most that a group is chosen for in one loop; 0 is no limit."""
    max_binpacking_time: Duration = timedelta(minutes=5)
    """How long one scale-up may be estimated, over all groups."""
    from_zero: Switch = True
    """Act even while the cluster has no ready node."""
    new_pod_delay: Duration = timedelta(0)
    """How old a pod has to be before it brings nodes; an annotation on the pod can only make it longer."""
    expendable_priority_cutoff: Whole = -10
    """Pods of a lower priority bring no nodes and do not keep one."""
    balance_similar_groups: Switch = False
    """Spread a scale-up over groups that are alike."""
    balancing: Balancing = Balancing()
    """When two groups are alike."""
    parallel: Switch = True
    """Ask for the nodes of several groups at the same time; if not, one after another up to the first that fails."""
    enforce_min_size: Switch = False
    """Grow groups that are below their minimum."""
    force_daemonsets: Switch = False
    """Count all DaemonSets that suit a new node, also those with no pod on the node taken as its template."""
    async_group_creation: Switch = False
    """Create and delete node groups without waiting for them."""
    explain_skipped_groups: Switch = False
    """Find out for groups that are left out, too, which pods they would fit."""
    bypassed_schedulers: Names = ()
    """Schedulers whose pods count as pending before the scheduler has looked at them."""
    allowed_schedulers: Names = ()
    """Look at pods of these schedulers only; empty is all."""
    proactive: Proactive = Proactive()
    """Nodes for pods that do not exist yet."""
