"""Differences: what the nodes of a group show that its provider's template does not say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.decision.templates.likeness import TEMPLATE_NODE
from nodewright.objects import Resources, Taint
from nodewright.objects.node import HOSTNAME

#: No group is remembered with more.
_MOST = 50
#: An amount that was told once is told again when it has moved by more than this part.
_NEWS = 0.05
#: Beginnings of labels that say where a node happens to be, which the next one need not, or what is said elsewhere.
_UNTOLD = (HOSTNAME, "topology.", "failure-domain.beta.kubernetes.io/", "beta.kubernetes.io/", TEMPLATE_NODE)


def find(group: str, promised: NodeTemplate, seen: Sequence[NodeTemplate]) -> tuple[TemplateDifference, ...]:
    """Return in what all of *seen*, likenesses of the group's nodes, agree to differ from *promised*.

    Of amounts that differ among them, the smallest counts: it is all that the next node is sure to have. Of devices
    it is the largest, as a node that shows fewer may not be done yet.
    """

    def difference(kind: str, name: str, old: int | str | None, new: int | str | None) -> TemplateDifference:
        return TemplateDifference(group=group, kind=kind, name=name, promised=old, real=new)

    found = [
        *(
            difference(kind, *entry)
            for kind, said, shown in (
                ("capacity", promised.capacity, [each.capacity for each in seen]),
                ("allocatable", promised.allocatable, [each.allocatable for each in seen]),
            )
            for entry in _amounts(said, shown)
        ),
        *(difference("label", *entry) for entry in _texts(_lasting(promised), [_lasting(each) for each in seen])),
        *(
            difference("taint", *entry)
            for entry in _texts(_by_name(promised.taints), [_by_name(each.taints) for each in seen])
        ),
    ]
    return tuple(found[:_MOST])


def apply(template: NodeTemplate, differences: Iterable[TemplateDifference]) -> NodeTemplate:
    """Return *template* as the nodes that come of it really are."""
    capacity, allocatable = dict(template.capacity), dict(template.allocatable)
    labels, taints = dict(template.labels), _by_name(template.taints)
    parts: dict[str, dict[str, int] | dict[str, str]] = {
        "capacity": capacity,
        "allocatable": allocatable,
        "label": labels,
        "taint": taints,
    }
    for each in differences:
        part: dict[str, int | str] = parts[each.kind]  # type: ignore[assignment]
        if each.real is None:
            part.pop(each.name, None)
        else:
            part[each.name] = each.real
    return replace(
        template, capacity=capacity, allocatable=allocatable, labels=labels, taints=tuple(_taints_from(taints))
    )


def news(found: Iterable[TemplateDifference], known: Iterable[TemplateDifference]) -> tuple[TemplateDifference, ...]:
    """Return those of *found* that are worth telling to who was told what is *known*."""
    before = {(each.kind, each.name): each for each in known}
    return tuple(each for each in found if _is_news(each, before.get((each.kind, each.name))))


def is_device(resource: str) -> bool:
    """Tell whether *resource* is not the kubelet's own, but announced by a device plugin some time after the start."""
    return "/" in resource


def _is_news(found: TemplateDifference, known: TemplateDifference | None) -> bool:
    if known is None:
        return True
    if isinstance(found.real, int) and isinstance(known.real, int):
        return abs(found.real - known.real) > _NEWS * abs(known.real)
    return found.real != known.real


def _amounts(promised: Resources, seen: Sequence[Resources]) -> Iterable[tuple[str, int | None, int | None]]:
    names = {*promised, *(name for each in seen for name in each)}
    for name in sorted(names):
        real = (max if is_device(name) else min)(each.get(name, 0) for each in seen)
        if real != promised.get(name, 0):
            yield name, promised.get(name), real


def _texts(
    promised: Mapping[str, str], seen: Sequence[Mapping[str, str]]
) -> Iterable[tuple[str, str | None, str | None]]:
    for name in sorted({*promised, *seen[0]}):
        shown = {each.get(name) for each in seen}
        real = next(iter(shown))
        if len(shown) == 1 and real != promised.get(name):
            yield name, promised.get(name), real


def _lasting(template: NodeTemplate) -> dict[str, str]:
    return {key: value for key, value in template.labels.items() if not key.startswith(_UNTOLD)}


def _by_name(taints: Iterable[Taint]) -> dict[str, str]:
    return {f"{taint.key}:{taint.effect}": taint.value for taint in taints}


def _taints_from(by_name: Mapping[str, str]) -> Iterable[Taint]:
    for name, value in by_name.items():
        key, _, effect = name.rpartition(":")
        yield Taint(key=key, value=value, effect=effect)
