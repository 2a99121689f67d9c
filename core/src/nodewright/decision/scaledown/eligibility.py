"""Eligibility: which nodes are worth a closer look."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from functools import lru_cache

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.selection.protection import pause_of, protection
from nodewright.decision.scaledown.utilization import Utilizations
from nodewright.decision.steps import Steps
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.plugins.results import part_of

#: What a faulty step keeps: it must never cause a removal.
_NONE: Sequence[Node] = ()
_NOT_STARTED = Verdict(reason=Reason.NOT_STARTED)


def filter_candidates(candidates: list[Node], verdicts: dict[str, Verdict], steps: Steps) -> list[Node]:
    """Return the *candidates* that processors and hooks keep. The verdicts on the others are added to *verdicts*."""
    policy = steps.policy
    for step, processor in policy.scale_down_candidates.items():
        subset = part_of(candidates, Node, lambda node: f"node {node.name}")
        kept = steps.take(step, processor.process, candidates, default=_NONE, returns=subset)
        candidates = _keep(candidates, kept, verdicts, Verdict(reason=steps.reason(step, processor), detail=step))
    kept = policy.hooks.adjust_candidates(candidates, steps.context.now)
    return _keep(candidates, kept, verdicts, Verdict(reason=Reason.FILTERED, detail="a hook"))


class Eligibility:
    """What a node has to pass at *now* to be worth a closer look.

    *growing* is by how much groups grow in this loop: their nodes are judged by the size that they will have.
    """

    def __init__(
        self,
        world: World,
        unneeded: UnneededMemory,
        leaving: RemovalMemory,
        growing: Mapping[str, int],
        policy: Policy,
        now: datetime,
    ) -> None:
        self._world = world
        self._growing = growing
        self._unremovable_until = unneeded.unremovable_until
        self._removals = leaving.removals
        self._policy = policy
        self._settings = policy.settings
        self._now = now
        self._stopped = world.stopped_nodes
        self._ending = world.ending(now)
        self._utilizations = Utilizations(world.cluster, policy.settings.scale_down, now)

    def candidates(self, excluded: Set[str], steps: Steps) -> tuple[list[Node], dict[str, Verdict]]:
        """Return the nodes that may be unneeded, in order of name, and why each other node is not among them.

        Nodes that are *excluded* are starting, or are looked at for other reasons.
        """
        verdicts: dict[str, Verdict] = {}
        found: list[Node] = []
        for name, node in self._world.cluster.nodes.items():
            verdict = self._objection(node, starting=name in excluded)
            if verdict is None:
                found.append(node)
            else:
                verdicts[name] = verdict
        # The API server lists nodes in any order, which must not change the choice.
        found.sort(key=lambda node: node.name)
        return filter_candidates(found, verdicts, steps), verdicts

    def _objection(self, node: Node, *, starting: bool) -> Verdict | None:
        """Return why *node* is not worth a closer look; None if it is."""
        world, group = self._world, self._world.group_on(node.name)
        if group is None:
            return Verdict(reason=Reason.NOT_OURS)
        removal = self._removals.get(node.name)
        if removal is not None or node.spec.provider_id in world.deleting:
            waits_for = removal.put_off if removal is not None and removal.deleted_at is None else ""
            return Verdict(reason=Reason.BEING_DELETED, detail=waits_for)
        if node.name in self._stopped:
            return Verdict(reason=Reason.MACHINE_STOPPED)
        if starting:
            return _NOT_STARTED
        if group.error:
            return Verdict(reason=Reason.GROUP_FAULTY, detail=group.error)
        if (end := self._ending.get(node.name)) is not None:
            return Verdict(reason=Reason.MACHINE_ENDS, detail=f"at {end:%H:%M:%S}")
        if group.pause is not None and (paused := pause_of(group)) is not None:
            return paused
        until = self._unremovable_until.get(node.name)
        if until is not None and self._now <= until:
            return Verdict(reason=Reason.RECENTLY_UNREMOVABLE, detail=f"until {until:%H:%M:%S}", until=until)
        size = group.target_size + self._growing.get(group.id, 0)
        if size <= group.min_size:
            return Verdict(reason=Reason.GROUP_AT_MIN, detail=f"{size} of {group.min_size}")
        protected = protection(node, self._now)
        if protected is not None:
            return protected
        if not self._settings.scale_down.unready_enabled and not is_ready(node, world, self._settings.templates):
            return Verdict(reason=Reason.SCALE_DOWN_UNREADY_DISABLED)
        options = group.options
        used = self._utilizations.of(
            node, gpu=world.gpus.get(node.name), ignore_daemons=options.ignore_daemonsets_utilization
        )
        threshold = (
            options.scale_down_utilization_threshold
            if used.gpu is None
            else options.scale_down_gpu_utilization_threshold
        )
        return _needed(used.value, threshold) if used.value > threshold else None


@lru_cache(maxsize=65_536)
def _needed(used: float, threshold: float) -> Verdict:
    # Most nodes are needed, with the same utilization as in the last loop.
    return Verdict(reason=Reason.NEEDED, detail=f"{used:.0%} of {threshold:.0%}")


def _keep(before: list[Node], after: Sequence[Node], verdicts: dict[str, Verdict], verdict: Verdict) -> list[Node]:
    left = {node.name for node in after}
    verdicts.update({node.name: verdict for node in before if node.name not in left})
    return list(after)
