"""Readiness: whether a node is in service, and which of its taints only tell a passing state."""

from nodewright.config.model import Templates
from nodewright.objects import Node, Taint
from nodewright.objects.node import DELETION_CANDIDATE, TO_BE_DELETED
from nodewright.world import World

_PASSING_TAINTS = frozenset(
    [
        TO_BE_DELETED,
        DELETION_CANDIDATE,
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
    ]
    + [
        f"node.kubernetes.io/{state}"
        for state in (
            "not-ready",
            "unreachable",
            "unschedulable",
            "memory-pressure",
            "disk-pressure",
            "pid-pressure",
            "network-unavailable",
        )
    ]
)
_STARTUP_PREFIXES = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)
_STATUS_PREFIX = "status-taint.cluster-autoscaler.kubernetes.io/"


def is_ready(node: Node, world: World, settings: Templates) -> bool:
    """Tell whether *node* is in service: ready, without startup taints, and its GPUs, if it has some, are there."""
    if not node.ready:
        return False
    # Most nodes have no taints, and every loop asks of every node.
    if node.spec.taints and any(_tells_startup(taint, settings) for taint in node.spec.taints):
        return False
    gpu = world.gpus.get(node.name)
    return gpu is None or node.allocatable.get(gpu.resource, 0) > 0


def lasting(taints: tuple[Taint, ...], settings: Templates) -> tuple[Taint, ...]:
    """Return those of *taints* that a node has for good, without those that tell its state or that it starts."""
    return tuple(taint for taint in taints if not _passes(taint, settings))


def _passes(taint: Taint, settings: Templates) -> bool:
    return (
        taint.key in _PASSING_TAINTS
        or _tells_startup(taint, settings)
        or taint.key in settings.status_taints
        or taint.key.startswith(_STATUS_PREFIX)
    )


def _tells_startup(taint: Taint, settings: Templates) -> bool:
    return taint.key in settings.startup_taints or taint.key.startswith(
        (*_STARTUP_PREFIXES, *settings.startup_taint_prefixes)
    )
