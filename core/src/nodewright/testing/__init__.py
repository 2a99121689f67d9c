"""Help for plugin authors' tests: builders of small worlds, clocks, contexts, and the whole autoscaler.

What needs more of Nodewright than the contract is imported when it is first used: `Harness`, worlds and policies.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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
from nodewright.testing.storage import a_claim, a_csi_node, a_storage_class, a_volume, with_claims, with_volumes

if TYPE_CHECKING:
    from nodewright.testing.harness import Harness
    from nodewright.testing.narrative import describe_actions, describe_failure
    from nodewright.testing.worlds import a_policy, a_world, built_in_drain_rules

__all__ = [
    "EPOCH",
    "FastClock",
    "Harness",
    "Nodes",
    "SteppedClock",
    "a_claim",
    "a_csi_node",
    "a_daemon_set",
    "a_drain_context",
    "a_failed_instance",
    "a_group",
    "a_node",
    "a_pod",
    "a_policy",
    "a_processor_context",
    "a_simulation",
    "a_storage_class",
    "a_template",
    "a_volume",
    "a_world",
    "an_expander_context",
    "an_instance",
    "an_option",
    "built_in_drain_rules",
    "describe_actions",
    "describe_failure",
    "keeping_apart",
    "pods_like",
    "with_claims",
    "with_volumes",
]

_HOMES = {
    "Harness": "harness",
    "a_policy": "worlds",
    "a_world": "worlds",
    "built_in_drain_rules": "worlds",
    "describe_actions": "narrative",
    "describe_failure": "narrative",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
