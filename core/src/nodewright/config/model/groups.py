"""Settings for single node groups, by pattern."""

from nodewright.config.model.base import Section
from nodewright.config.values import Duration, Name, Ratio, Switch


class GroupScaleDown(Section):
    """What may differ in scaleDown."""

    unneeded_time: Duration | None = None
    """How long a node has to be unneeded before it is removed."""
    unready_time: Duration | None = None
    """How long an unready node has to be unneeded before it is removed."""
    utilization_threshold: Ratio | None = None
    """A node is unneeded only if less than this part of its cpu and memory is requested."""
    gpu_utilization_threshold: Ratio | None = None
    """The same for the GPUs of a node that has some."""
    ignore_daemonsets_utilization: Switch | None = None
    """Leave DaemonSet pods out of the utilization."""


class GroupRule(Section):
    """Settings of the groups whose name matches; the first rule that matches is taken, as a whole."""

    match: Name
    """A pattern for the group's name, with * and ? and [abc]."""
    scale_down: GroupScaleDown = GroupScaleDown()
    """What differs in scaleDown."""
    max_node_provision_time: Duration | None = None
    """How long an ordered machine may take to become a node."""
    max_node_startup_time: Duration | None = None
    """How long a new node may take to become ready."""
    zero_or_max: Switch | None = None
    """Use the group whole or not at all."""
    allow_non_atomic_scale_up_to_max: Switch | None = None
    """With zeroOrMax: it may grow to its maximum node by node."""
