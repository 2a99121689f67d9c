"""Explanations: what a decision says about one pod, node or group, in lines that a person reads."""

from collections import Counter
from collections.abc import Iterable

from nodewright.api.decision import Decision
from nodewright.api.errors import NodewrightError
from nodewright.api.group import GroupFacts
from nodewright.api.group_name import name_of_group
from nodewright.api.nearest import near
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.decision.health import Readiness
from nodewright.explain.advice import advice, informative_verdict, known_cause
from nodewright.explain.look import Look, goes, unreadable
from nodewright.explain.narrative import describe_difference
from nodewright.explain.settled import describe_done, describe_running, moment
from nodewright.objects import Pod, Resources, format_resource
from nodewright.scheduling.filters import texts

#: Pods that need no more help.
SERVED = (Reason.FITS, Reason.HELPED)
#: Pods that no group is asked about.
_WANTS_NO_GROUP = (Reason.FITS, Reason.DAEMON, Reason.EXPENDABLE, Reason.FILTERED, Reason.TOO_YOUNG)
#: How many of the nodes are named that the pods of another would go to.
_PLACES = 5
#: How many pods of the same controller are suggested for one that is gone.
_SIBLINGS = 3
#: How many capacity pools of a group are named.
_POOLS = 10


class UnknownError(NodewrightError):
    """The object that was asked about does not exist."""


def explain_pod(look: Look, key: str, seen: Pod | None = None) -> list[str]:
    """Return what would happen for the pod ``namespace/name`` and why, or where it runs or how it has ended.

    *seen* is the pod as the API server has it now, which knows more of one that runs, and also one that has ended.
    Raises `UnknownError` if there is none.
    """
    pods = look.world.cluster.pods
    pod = pods.get(key)
    if seen is not None and seen.finished:
        return describe_done(seen)
    if pod is None:
        raise _unknown("pod", key, pods)
    verdict = look.decision.pods.get(key)
    if verdict is None:
        return describe_running(look, pod, seen) if pod.node else [_why_not_pending(pod)]
    lines = [f"pod {key}{f', which has to leave node {pod.node}' if pod.node else ''}: {verdict}"]
    lines += [f"  group {group}: {'; '.join(texts(reason))}" for group, reason in verdicts_of_groups(look, key)]
    if verdict.reason not in SERVED:
        shown = {group.provider for group in look.findings.groups}
        lines += [f"  {fault}; its groups are not known" for name, fault in unreadable(look.world) if name not in shown]
    return lines


def verdicts_of_groups(look: Look, key: str) -> Iterable[tuple[str, Verdict]]:
    """Yield each group with what speaks for or against it as a help for a pod; none if the pod wants no group."""
    if look.decision.pods[key].reason in _WANTS_NO_GROUP:
        return
    against = {**look.decision.groups, **look.decision.rejections.get(key, {})}
    options = _last_words(look.decision)
    for group in look.findings.groups:
        reason = against.get(group.id) or options.get(group.id)
        if reason is not None:
            yield group.id, reason


def _why_not_pending(pod: PodRow) -> str:
    if pod.pending is None or pod.deleted is not None:
        return f"pod {pod.key} has come to its end: nothing is done for it"
    if pod.pending.status.nominated_node_name:
        return f"pod {pod.key} is about to get its place on node {pod.pending.status.nominated_node_name}"
    if pod.pending.marked_unschedulable:
        return f"pod {pod.key} waits for {pod.pending.scheduler}, which is not among scaleUp.allowedSchedulers"
    return f"pod {pod.key} waits, but the scheduler has not said that no node fits: nothing is done for it"


def explain_node(look: Look, name: str) -> list[str]:
    """Return whether a node would stay or go, and why. Raises `UnknownError` if there is none."""
    nodes = look.world.cluster.nodes
    if name not in nodes:
        raise _unknown("node", name, nodes)
    group = look.world.group_of.get(name)
    return [
        f"node {name}" + (f" of group {group}" if group else ""),
        *(_reasons(look, name) if name in look.decision.nodes else ("  stays: it was not examined",)),
        *(() if group else (f"  {fault}; it may have a group of this node" for _, fault in unreadable(look.world))),
        *_times(look, name),
        *_places(look, name),
        *_use(look, name),
    ]


def _reasons(look: Look, name: str) -> Iterable[str]:
    """Yield whether a node goes, why, and what it would take if it stays."""
    verdict = look.decision.nodes[name]
    if verdict.reason is Reason.NOT_OURS and look.world.unreadable:
        yield f"  stays: it is not known whether it belongs to a group [{verdict.reason.value}]"
        return
    going = goes(look.decision, name)
    yield f"  {'goes' if going else 'stays'}: {verdict} [{verdict.reason.value}]"
    found = informative_verdict(verdict, look.memory.verdicts.last.get(name))
    if found is not verdict:
        yield f"  what was found then: {found} [{found.reason.value}]"
    cause = known_cause(found)
    if cause is not None:
        yield f"  pod {found.pod}: {cause.text}"
    needed = "" if going else advice(found, name, look.world, look.group_of(name))
    if needed:
        yield f"  what it would take: {needed}"


def _times(look: Look, name: str) -> Iterable[str]:
    """Yield since when the verdict holds, and since when the node is unneeded, unless both are new."""
    last, unneeded = look.memory.verdicts.last.get(name), look.memory.unneeded.since.get(name)
    if last is not None and last.since < look.decision.at and look.decision.halted is None:
        yield f"  {last.reason.value} since {moment(last.since)}"
    if unneeded is not None and unneeded < look.decision.at:
        yield f"  unneeded since {moment(unneeded)}"


def _places(look: Look, name: str) -> Iterable[str]:
    """Yield where the pods of an unneeded node would go."""
    places = list(dict.fromkeys(place for place, _ in look.memory.unneeded.hints.get(name, ())))
    if places and name in look.memory.unneeded.since:
        more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        yield f"  its pods would go to: {', '.join(places[:_PLACES])}{more}"


def _use(look: Look, name: str) -> Iterable[str]:
    used = look.findings.utilization.get(name)
    if used is not None:
        of = "its GPUs" if used.gpu is not None else "its cpu" if used.of_cpu else "its memory"
        yield f"  utilization: {used.value:.0%} of {of}"


def group_called(look: Look, name: str) -> GroupFacts:
    """Return the group with that id or name. Raises `UnknownError` if there is none, or several have the name."""
    groups = {group.id: group for group in look.findings.groups}
    if name in groups:
        return groups[name]
    named = [id_ for id_ in groups if name_of_group(id_) == name]
    if len(named) > 1:
        raise UnknownError(f"group {name}: name one of {', '.join(sorted(named))}")
    if named:
        return groups[named[0]]
    faults = [fault for _, fault in unreadable(look.world)]
    if faults:
        have = "it may have" if len(faults) == 1 else "one of them may have"
        raise UnknownError(f"group {name} is not known: {'; '.join(faults)}; {have} a group of this name")
    raise _unknown("group", name, map(name_of_group, groups))


def explain_group(look: Look, group_id: str) -> list[str]:
    """Return the state of a group, its template, and whether it would grow.

    The last part of an id that is a URL is enough. Raises `UnknownError` if there is no such group, or several.
    """
    group = group_called(look, group_id)
    lines = [
        f"group {group.id} of provider {group.provider}: {_size(group)}",
        *([f"  it can't be read, so it is left alone: {group.error}"] if group.error else ()),
        *([f"  it is left alone: {group.pause.why}"] if group.pause and not group.pause.shrinks else ()),
        *([f"  it does not grow: {group.pause.why}"] if group.pause and group.pause.shrinks else ()),
        *_price(group),
        *_pools(group),
        *_room(group),
        *(f"  machines do not come: {error}" for error in group.errors),
        f"  machines: {_machines(look.findings.readiness.get(group.id))}",
        f"  on their way: {look.findings.upcoming.get(group.id, 0)}",
        f"  growth: {_growth(look, group.id)}",
        *_verdicts_of(look, group.id),
        *_template(group),
    ]
    known = look.memory.learnt.templates.get(group.id)
    if known is not None:
        lines += [f"  learnt from its nodes: {describe_difference(each)}" for each in known.differences]
    return lines


def _size(group: GroupFacts) -> str:
    wanted = "size not known" if never_read(group) else f"{group.target_size} {_nodes(group.target_size)} wanted"
    return f"{wanted}, {group.min_size} to {group.max_size} allowed"


def _nodes(count: int) -> str:
    return "node" if count == 1 else "nodes"


def never_read(group: GroupFacts) -> bool:
    """Return whether nothing is known of *group* but its limits: it could not be read from the beginning."""
    return bool(group.error) and not group.target_size and not group.instances


def _verdicts_of(look: Look, group: str) -> Iterable[str]:
    """Yield how many nodes of *group* stay, or may go, for which reason; most first."""
    verdicts = look.decision.nodes
    members = [name for name, owner in look.world.group_of.items() if owner == group and name in verdicts]
    counts = Counter(
        informative_verdict(verdicts[name], look.memory.verdicts.last.get(name)).reason for name in members
    )
    for reason, count in counts.most_common():
        yield f"  {count} of its nodes: {reason.text} [{reason.value}]"


def explain_growth(decision: Decision, group: str) -> str:
    """Return by how much *group* would grow, or why it would not."""
    for grow in decision.grow:
        if grow.group == group:
            count = len(grow.pods)
            pods = f" for {count} pod{'s' if count > 1 else ''}" if count else ""
            return f"{grow.from_size} → {grow.from_size + grow.count}{pods}: {grow.verdict}"
    verdict = _last_words(decision).get(group) or decision.groups.get(group)
    return str(verdict) if verdict is not None else "no pod waits for a node"


def _last_words(decision: Decision) -> dict[str, Verdict]:
    """Return the verdict on the option of each group: that it was chosen, in any round, or else the last one."""
    found: dict[str, Verdict] = {}
    for option in decision.options:
        if option.group not in found or found[option.group].reason is not Reason.CHOSEN:
            found[option.group] = option.verdict
    return found


def _growth(look: Look, group: str) -> str:
    """Return as `explain_growth` does. A group that can't grow says so even if no pod waits."""
    growth = explain_growth(look.decision, group)
    blocked = look.findings.blocked.get(group)
    return growth if blocked is None or growth == str(blocked) else f"{growth}; {blocked}"


def _machines(readiness: Readiness | None) -> str:
    counts = (
        {
            "ready": readiness.ready,
            "starting": readiness.not_started,
            "suspended": readiness.suspended,
            "unready": readiness.unready,
            "being deleted": readiness.being_deleted,
            "not registered": readiness.unregistered,
            "never registered in time": readiness.long_unregistered,
        }
        if readiness
        else {}
    )
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none"


def _price(group: GroupFacts) -> Iterable[str]:
    if group.hourly_price is not None:
        yield f"  price: {group.hourly_price:g} an hour for a node"


def _room(group: GroupFacts) -> Iterable[str]:
    if group.available is not None:
        # A cloud knows quotas and reservations, and what it sells out only when it is asked for machines.
        yield f"  room for {group.available} more, as far as its cloud tells beforehand"


def _pools(group: GroupFacts) -> Iterable[str]:
    """Yield where a new machine may come from, if there are several capacity pools."""
    if len(group.pools) > 1:
        more = f" and {len(group.pools) - _POOLS} more" if len(group.pools) > _POOLS else ""
        yield f"  machines come from: {', '.join(group.pools[:_POOLS])}{more}"


def _template(group: GroupFacts) -> Iterable[str]:
    template = group.template
    if template is None:
        yield "  a new node: it is not known what it looks like"
        return
    source = f"as node {template.from_node}" if template.from_node else "as its provider says"
    yield f"  a new node, {source}: {_amounts(template.allocatable)}"
    if template.taints:
        yield f"    taints: {', '.join(map(str, template.taints))}"
    yield f"    labels: {', '.join(f'{key}={value}' for key, value in sorted(template.labels.items()))}"


def _amounts(resources: Resources) -> str:
    return ", ".join(f"{name} {format_resource(name, amount)}" for name, amount in sorted(resources.items()))


def _unknown(kind: str, name: str, names: Iterable[str]) -> UnknownError:
    matches = near(name, names) or _siblings(name, names)
    return UnknownError(f"there is no {kind} {name}" + (f": did you mean {_or(matches)}?" if matches else ""))


def _siblings(name: str, names: Iterable[str]) -> list[str]:
    """Return names that differ from *name* only in what follows one of its last dashes, as pods of a controller do."""
    known, stem = sorted(names), name
    while "-" in stem:
        stem = stem.rpartition("-")[0]
        if found := [each for each in known if each.startswith(f"{stem}-")]:
            return found[:_SIBLINGS]
    return []


def _or(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
