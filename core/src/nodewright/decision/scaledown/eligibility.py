"""Eligibility: which nodes are worth a closer look."""

from collections.abc import Sequence, Set
from datetime import datetime
from functools import lru_cache

from nodewright.api.group import GroupFacts
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.selection.protection import protection
from nodewright.decision.scaledown.utilization import Utilizations
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.plugins.results import part_of

#: What a faulty step leaves over: it must never cause a removal.
_NOBODY: Sequence[Node] = ()


def find_candidates(
    world: World,
    starting: Set[str],
    memory: Memory,
    policy: Policy,
    groups: dict[str, GroupFacts],
    context: ProcessorContext,
) -> tuple[list[Node], dict[str, Verdict]]:
    """Return the nodes that may be unneeded, in order of name, and why each other node is not among them."""
    verdicts: dict[str, Verdict] = {}
    candidates: list[Node] = []
    utilizations = Utilizations(world.cluster, policy.settings.scale_down, context.now)
    for name in world.cluster.nodes:
        node = world.cluster.nodes[name]
        group = groups.get(world.group_of.get(name, ""))
        verdict = (
            Verdict(reason=Reason.NOT_STARTED)
            if name in starting
            else _objection(node, group, world, memory, policy, utilizations, context.now)
        )
        if verdict is None:
            candidates.append(node)
        else:
            verdicts[name] = verdict
    # Nodes come as the API server told of them: another order must not lead to another choice.
    candidates.sort(key=lambda node: node.name)
    return filter_candidates(candidates, verdicts, policy, context), verdicts


def filter_candidates(
    candidates: list[Node], verdicts: dict[str, Verdict], policy: Policy, context: ProcessorContext
) -> list[Node]:
    """Return those of *candidates* that processors and hooks let go; *verdicts* gets the others."""
    for step, processor in policy.scale_down_candidates.items():
        subset = part_of(candidates, Node, lambda node: f"node {node.name}")
        kept = policy.faults.call(
            step, "process", processor.process, candidates, context, default=_NOBODY, returns=subset
        )
        candidates = _keep(candidates, kept, verdicts, Verdict(reason=processor.reason, detail=step))
    kept = policy.hooks.adjust_candidates(candidates, context.now)
    return _keep(candidates, kept, verdicts, Verdict(reason=Reason.FILTERED, detail="a hook"))


def _objection(
    node: Node,
    group: GroupFacts | None,
    world: World,
    memory: Memory,
    policy: Policy,
    utilizations: Utilizations,
    now: datetime,
) -> Verdict | None:
    if group is None:
        return Verdict(reason=Reason.NOT_OURS)
    if node.name in memory.removals or node.spec.provider_id in world.deleting:
        return Verdict(reason=Reason.BEING_DELETED)
    if group.error:
        return Verdict(reason=Reason.GROUP_FAULTY, detail=group.error)
    until = memory.unremovable_until.get(node.name)
    if until is not None and now <= until:
        return Verdict(reason=Reason.RECENTLY_UNREMOVABLE, detail=f"until {until:%H:%M:%S}", until=until)
    if group.target_size <= group.min_size:
        return Verdict(reason=Reason.GROUP_AT_MIN, detail=f"{group.target_size} of {group.min_size}")
    protected = protection(node, now)
    if protected is not None:
        return protected
    if not policy.settings.scale_down.unready_enabled and not is_ready(node, world, policy.settings.templates):
        return Verdict(reason=Reason.SCALE_DOWN_UNREADY_DISABLED)
    options = group.options
    used = utilizations.of(node, gpu=world.gpus.get(node.name), ignore_daemons=options.ignore_daemonsets_utilization)
    threshold = (
        options.scale_down_utilization_threshold if used.gpu is None else options.scale_down_gpu_utilization_threshold
    )
    if used.value > threshold:
        return _needed(used.value, threshold)
    return None


@lru_cache(maxsize=65_536)
def _needed(used: float, threshold: float) -> Verdict:
    # Most nodes are needed, and as much in one loop as in the last.
    return Verdict(reason=Reason.NEEDED, detail=f"{used:.0%} of {threshold:.0%}")


def _keep(before: list[Node], after: Sequence[Node], verdicts: dict[str, Verdict], verdict: Verdict) -> list[Node]:
    left = {node.name for node in after}
    verdicts.update({node.name: verdict for node in before if node.name not in left})
    return list(after)
