"""Help for plugin authors' tests."""

from nodewright.testing.builders import (
    a_group,
    a_node,
    a_pod,
    a_template,
    an_expander_context,
    an_option,
    pods_like,
)
from nodewright.testing.clock import EPOCH, FastClock, SteppedClock

__all__ = [
    "EPOCH",
    "FastClock",
    "SteppedClock",
    "a_group",
    "a_node",
    "a_pod",
    "a_template",
    "an_expander_context",
    "an_option",
    "pods_like",
]
