"""Help for plugin authors' tests."""

from nodewright.testing.builders import (
    a_daemon_set,
    a_failed_instance,
    a_group,
    a_node,
    a_pod,
    a_template,
    an_instance,
    an_option,
    keeping_apart,
    pods_like,
)
from nodewright.testing.clock import EPOCH, FastClock, SteppedClock
from nodewright.testing.contexts import a_drain_context, a_processor_context, a_simulation, an_expander_context
from nodewright.testing.nodes import Nodes

__all__ = [
    "EPOCH",
    "FastClock",
    "Nodes",
    "SteppedClock",
    "a_daemon_set",
    "a_drain_context",
    "a_failed_instance",
    "a_group",
    "a_node",
    "a_pod",
    "a_processor_context",
    "a_simulation",
    "a_template",
    "an_expander_context",
    "an_instance",
    "an_option",
    "keeping_apart",
    "pods_like",
]
