"""The loop, and when the cluster or a group is not well."""

from datetime import timedelta

from nodewright.config.model.base import Section
from nodewright.config.values import Count, Duration, Percentage, PositiveDuration, Switch


class Loop(Section):
    """How often it is decided, and when the process counts as stuck."""

    scan_interval: PositiveDuration = timedelta(seconds=10)
    """How long to wait between two loops."""
    frequent: Switch = True
    """Begin the next loop at once when the last one did something or a pod became pending."""
    refresh_timeout: PositiveDuration = timedelta(seconds=60)
    """How long a provider may take to read its cloud before its groups are left alone for a loop."""
    action_timeout: PositiveDuration = timedelta(seconds=60)
    """How long a provider may take for a change of a group before the loop goes on and the group is left alone."""
    max_inactivity: Duration = timedelta(minutes=10)
    """The health check fails if no loop began for so long."""
    max_failing_time: Duration = timedelta(minutes=15)
    """The health check fails if no loop ended well for so long."""
    max_startup_time: Duration = timedelta(minutes=20)
    """How long the first loop may take to end well."""
    graceful_degradation: Switch = False
    """Leave pods for the next loop, and take turns with scale-down, when there are too many to look at."""
    pending_pods_timeout: Duration = timedelta(minutes=4)
    """How long a loop looks at pending pods then."""


class BackoffSettings(Section):
    """How long a group is left alone after it failed to deliver; doubles with each failure."""

    initial: Duration = timedelta(minutes=5)
    """After the first failure."""
    max: Duration = timedelta(minutes=30)
    """At most."""
    reset_after: Duration = timedelta(hours=3)
    """So long without a failure, and the next one counts as the first."""


class Health(Section):
    """When the cluster or a group is not well, and what is done then."""

    ok_total_unready_count: Count = 3
    """So many unready nodes are always fine."""
    max_total_unready_percentage: Percentage = 45
    """Nothing is done while more of the nodes are unready."""
    max_node_provision_time: Duration = timedelta(minutes=15)
    """How long an ordered machine may take to become a node."""
    max_node_startup_time: Duration = timedelta(minutes=15)
    """How long a new node may take to become ready."""
    backoff: BackoffSettings = BackoffSettings()
    """How long a group is left alone after it failed to deliver."""
    force_delete_unregistered: Switch = False
    """Delete machines that never became nodes even below the group's minimum."""
    force_delete_failed: Switch = False
    """Delete machines that the cloud failed to make even below the group's minimum."""
