"""Differences between the nodes of a group and its provider's template."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.decision.templates.node_template import TEMPLATE_NODE
from nodewright.objects import Resources, Taint
from nodewright.objects.node import HOSTNAME

#: No more are remembered for a group.
_MOST = 50
#: An amount is reported again when it has changed by more than this share.
_NEWS = 0.05
#: Prefixes of labels that say where a node happens to be, as the next one need not, or what other labels say.
_NOT_COMPARED = (HOSTNAME, "topology.", "failure-domain.beta.kubernetes.io/", "beta.kubernetes.io/", TEMPLATE_NODE)


def find(group: str, provided: NodeTemplate, observed: Sequence[NodeTemplate]) -> tuple[TemplateDifference, ...]:
    """Return how all *observed* templates, of nodes of the group, differ from the *provided* one in the same way.

    If they have different amounts, the smallest counts: the next node is sure to have that much. For devices it is the
    largest, as a node that shows fewer may not be done yet.
    """

    def difference(kind: str, name: str, old: int | str | None, new: int | str | None) -> TemplateDifference:
        return TemplateDifference(group=group, kind=kind, name=name, promised=old, real=new)

    found = [
        *(
            difference(kind, *entry)
            for kind, said, shown in (
                ("capacity", provided.capacity, [each.capacity for each in observed]),
                ("allocatable", provided.allocatable, [each.allocatable for each in observed]),
            )
            for entry in _amounts(said, shown)
        ),
        *(difference("label", *entry) for entry in _texts(_lasting(provided), [_lasting(each) for each in observed])),
        *(
            difference("taint", *entry)
            for entry in _texts(_by_name(provided.taints), [_by_name(each.taints) for each in observed])
        ),
    ]
    return tuple(found[:_MOST])


def apply(template: NodeTemplate, differences: Iterable[TemplateDifference]) -> NodeTemplate:
    """Return *template* as the nodes made from it really are."""
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
    """Return those of *found* that are worth reporting, given what is *known* already."""
    before = {(each.kind, each.name): each for each in known}
    return tuple(each for each in found if _is_news(each, before.get((each.kind, each.name))))


def is_device(resource: str) -> bool:
    """Tell whether a device plugin announces *resource*, some time after the start, and not the kubelet."""
    return "/" in resource


def _is_news(found: TemplateDifference, known: TemplateDifference | None) -> bool:
    if known is None:
        return True
    if isinstance(found.real, int) and isinstance(known.real, int):
        return abs(found.real - known.real) > _NEWS * abs(known.real)
    return found.real != known.real


def _amounts(provided: Resources, observed: Sequence[Resources]) -> Iterable[tuple[str, int | None, int | None]]:
    names = {*provided, *(name for each in observed for name in each)}
    for name in sorted(names):
        real = (max if is_device(name) else min)(each.get(name, 0) for each in observed)
        if real != provided.get(name, 0):
            yield name, provided.get(name), real


def _texts(
    provided: Mapping[str, str], observed: Sequence[Mapping[str, str]]
) -> Iterable[tuple[str, str | None, str | None]]:
    for name in sorted({*provided, *observed[0]}):
        shown = {each.get(name) for each in observed}
        real = next(iter(shown))
        if len(shown) == 1 and real != provided.get(name):
            yield name, provided.get(name), real


def _lasting(template: NodeTemplate) -> dict[str, str]:
    return {key: value for key, value in template.labels.items() if not key.startswith(_NOT_COMPARED)}


def _by_name(taints: Iterable[Taint]) -> dict[str, str]:
    return {f"{taint.key}:{taint.effect}": taint.value for taint in taints}


def _taints_from(by_name: Mapping[str, str]) -> Iterable[Taint]:
    for name, value in by_name.items():
        key, _, effect = name.rpartition(":")
        yield Taint(key=key, value=value, effect=effect)
