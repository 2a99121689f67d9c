"""The loop, and when the cluster or a group counts as unhealthy."""

from datetime import timedelta

from nodewright.config.model.base import Section
from nodewright.config.values import Count, Duration, Percentage, PositiveDuration, Switch


class Loop(Section):
    """How often the loop runs, and when the process counts as stuck."""

    scan_interval: PositiveDuration = timedelta(seconds=10)
    """How long to wait between two loops."""
    frequent: Switch = True
    """Begin the next loop at once if something was done, a pod has become pending, or nodes changed that pods need."""
    refresh_timeout: PositiveDuration = timedelta(seconds=60)
    """How long a provider may take to read its cloud. If it takes longer, the loop leaves its groups alone."""
    action_timeout: PositiveDuration = timedelta(seconds=60)
    """How long the loop waits for a change of a group. After that, it leaves the group alone until it is done."""
    max_inactivity: Duration = timedelta(minutes=10)
    """The health check fails if no loop has begun for this long."""
    max_failing_time: Duration = timedelta(minutes=15)
    """The health check fails if no loop has succeeded for this long."""
    max_startup_time: Duration = timedelta(minutes=20)
    """How long after the start the first loop may take to succeed."""
    graceful_degradation: Switch = False
    """If there are too many pending pods, leave some for the next loop, and alternate with scale-down."""
    pending_pods_timeout: Duration = timedelta(minutes=4)
    """How long such a loop looks at pending pods."""


class BackoffSettings(Section):
    """How long a group is left alone after a failed scale-up. The time doubles with each failure."""

    initial: Duration = timedelta(minutes=5)
    """The time after the first failure."""
    max: Duration = timedelta(minutes=30)
    """The longest time."""
    reset_after: Duration = timedelta(hours=3)
    """After this long without a failure, the next failure counts as the first again."""


class Health(Section):
    """When the cluster or a group counts as unhealthy, and what happens then."""

    ok_total_unready_count: Count = 3
    """This many unready nodes never stop the autoscaler."""
    max_total_unready_percentage: Percentage = 45
    """The autoscaler does nothing while a larger percentage of the nodes is unready."""
    max_node_provision_time: Duration = timedelta(minutes=15)
    """How long a new machine may take to become a node."""
    max_node_startup_time: Duration = timedelta(minutes=15)
    """How long a new node may take to become ready."""
    backoff: BackoffSettings = BackoffSettings()
    """How long a group is left alone after a failed scale-up."""
    force_delete_unregistered: Switch = False
    """Delete machines that never became nodes, even if the group falls below its minimum."""
    force_delete_failed: Switch = False
    """Delete machines that the cloud failed to create, even if the group falls below its minimum."""
