"""How pending pods lead to new nodes."""

from datetime import timedelta

from nodewright.config.model.base import Section
from nodewright.config.reference import Reference
from nodewright.config.slots import ChosenEstimator, Expanders
from nodewright.config.values import Count, Duration, Names, Ratio, Switch, Whole


class Balancing(Section):
    """When two node groups count as similar, so that a scale-up is spread over both."""

    ignore_labels: Names = ()
    """Labels that may differ, in addition to the default ones and those of the provider."""
    labels: Names = ()
    """Compare these labels and nothing else. Can't be combined with ignoreLabels."""
    memory_difference_ratio: Ratio = 0.015
    """By which fraction the memory of similar groups may differ."""
    max_free_difference_ratio: Ratio = 0.05
    """By which fraction the free resources of similar groups may differ."""
    max_allocatable_difference_ratio: Ratio = 0.05
    """By which fraction the allocatable resources of similar groups may differ."""


class Proactive(Section):
    """Nodes for pods that controllers have not created yet."""

    enabled: Switch = False
    """Treat replicas that a controller has yet to create as pending pods."""
    pod_limit: Count = 5000
    """Add such pods only up to this total number of pending pods."""


class ScaleUp(Section):
    """How pending pods lead to new nodes."""

    estimator: ChosenEstimator = Reference(name="binpacking")
    """The plugin that computes how many nodes a set of pods needs."""
    expanders: Expanders = (Reference(name="least-waste"),)
    """The plugins that choose among the groups that could grow, in order. A tie is broken at random."""
    options_per_loop: Count = 0
    """How many options one loop may take, one after the other. 0 means as many as help."""
    time_budget: Duration = timedelta(minutes=1)
    """How long one loop may keep choosing further groups to grow."""
    max_nodes_per_scale_up: Count = 1000
    """The maximum number of nodes of one option, and by which one group grows in one loop. 0 means no limit."""
    max_binpacking_time: Duration = timedelta(minutes=5)
    """How long the estimation of one scale-up may take, over all groups."""
    from_zero: Switch = True
    """Scale up even if the cluster has no ready node."""
    new_pod_delay: Duration = timedelta(0)
    """How old a pod must be before it leads to new nodes. An annotation on the pod can only make this longer."""
    expendable_priority_cutoff: Whole = -10
    """Pods of a lower priority neither lead to new nodes nor keep a node."""
    balance_similar_groups: Switch = False
    """Spread a scale-up over similar groups."""
    balancing: Balancing = Balancing()
    """When two groups count as similar."""
    parallel: Switch = True
    """Grow several groups at the same time. If off, they grow one after the other, up to the first that fails."""
    enforce_min_size: Switch = False
    """Grow groups that are below their minimum."""
    force_daemonsets: Switch = False
    """Count all DaemonSets that suit a new node, even those without a pod on the node that serves as template."""
    async_group_creation: Switch = False
    """Create and delete node groups without waiting for them."""
    explain_skipped_groups: Switch = False
    """Also find out which pods would fit the groups that are skipped."""
    bypassed_schedulers: Names = ()
    """Pods of these schedulers count as pending even before the scheduler has looked at them."""
    allowed_schedulers: Names = ()
    """Look only at pods of these schedulers. If empty, look at all pods."""
    proactive: Proactive = Proactive()
    """Nodes for pods that do not exist yet."""
