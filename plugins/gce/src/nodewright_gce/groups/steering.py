"""Settings of MIGs that take groups out of Nodewright's hands, or get in its way."""

from collections.abc import Iterator

from nodewright.api import Pause

from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.mig import Mig
from nodewright_gce.resources.resource import last_part


def pause_of(mig: Mig) -> Pause | None:
    """Return why Nodewright leaves a MIG alone; None if it does not."""
    if mig.status.autoscaler:
        return Pause(
            why=f"Google's autoscaler {last_part(mig.status.autoscaler)} steers it: delete that autoscaler, or leave "
            "the group out here"
        )
    if mig.stateful_policy and mig.stateful_policy.get("preservedState"):
        return Pause(
            why="its machines keep disks or addresses by a stateful policy, and are not interchangeable: remove the "
            "policy, or leave the group out here"
        )
    return None


def notes(group: ManagedGroup, *, queues: bool = False) -> tuple[str, ...]:
    """Return what people should know about the group's settings, in sentences.

    With *queues*, its machines may be waiting in a queue of Google's.
    """
    return tuple(_notes(group, queues=queues))


def _notes(group: ManagedGroup, *, queues: bool) -> Iterator[str]:
    mig = group.mig
    pause = pause_of(mig)
    if pause is not None:
        yield f"it is left alone: {pause.why}"
    if mig.region and mig.update_policy.instance_redistribution_type == "PROACTIVE":
        yield (
            "Google may delete nodes, without draining them, to spread machines evenly over its zones: set its"
            " instanceRedistributionType to NONE, or make a MIG for each zone"
        )
    if mig.update_policy.type == "PROACTIVE":
        yield (
            "Google replaces nodes, without draining them, whenever its template changes: set the type of its update"
            " policy to OPPORTUNISTIC"
        )
    if sum(1 for each in mig.versions if each.instance_template) > 1:
        yield (
            "it has several versions at once: new nodes are foreseen as the version without a target size makes them,"
            f" {last_part(mig.template)}"
        )
    if mig.region and mig.distribution_policy.target_shape == "ANY_SINGLE_ZONE":
        yield "Google puts all its machines into one zone, and nobody knows beforehand into which"
    if queues:
        yield (
            "its machines may wait for hours in a queue, but are given up after the group's maxNodeProvisionTime: raise"
            " that for this group"
        )
