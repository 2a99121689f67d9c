"""Checks of what plugins return: each takes any value and returns it typed, or raises a `TypeError` with the reason."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from nodewright.api import Estimate, PodFate, PodSet
from nodewright.plugins.faults import Faults
from nodewright.plugins.plain_values import NOTHING, ShapeError, Trusted
from nodewright.plugins.shapes import check_of, shape_of

T = TypeVar("T")


def optional(check: Callable[[object], T]) -> Callable[[object], T | None]:
    """Expect None or what *check* expects."""
    return lambda result: None if result is None else check(result)


def words(result: object) -> str:
    """Expect text that is not empty."""
    text = instance_of(str)(result)
    if not text.strip():
        raise TypeError("returned empty text instead of a reason or None")
    return text


def pod_fate(result: object) -> PodFate | str | None:
    """Expect what a drain rule says: a fate, a reason that is not empty, or None."""
    if result is None or isinstance(result, PodFate):
        return result
    if isinstance(result, str) and result.strip():
        return str.__str__(result)
    found = "empty text" if isinstance(result, str) else _name(result)
    raise TypeError(f"returned {found} instead of a PodFate, a reason or None")


def whole_number(result: object) -> int:
    """Expect a whole number."""
    number: int = _checked(int, result)
    return number


def flag(faults: Faults, plugin: str, owner: object, name: str) -> bool:
    """Return the attribute *name* of *owner*, a strategy called *plugin*: False, and a fault, if it is not a bool."""
    return faults.call(plugin, name, getattr, owner, name, default=False, returns=instance_of(bool))


def price(result: object) -> float:
    """Expect a finite number."""
    number: float = _checked(float, result)
    return number


def instance_of(kind: type[T], given: Iterable[T] = ()) -> Callable[[object], T]:
    """Expect one *kind*; one of the contract's classes is looked into, except where it is as in a *given* one."""
    shape = shape_of(kind)
    trusted = shape.trust(given) if shape else NOTHING

    def check(result: object) -> T:
        if not isinstance(result, kind):
            raise TypeError(f"returned {_name(result)} instead of {kind.__name__}")
        return cast("T", _checked(kind, result, trusted))

    return check


def sequence_of(kind: type[T], named: str = "") -> Callable[[object], tuple[T, ...]]:
    """Expect a list or tuple (any sequence but text) of *kind*, which is not looked into; messages say *named*."""
    named = named or kind.__name__

    def check(result: object) -> tuple[T, ...]:
        if isinstance(result, str | bytes) or not isinstance(result, Sequence):
            raise TypeError(f"returned {_name(result)} instead of a sequence of {named}")
        items = tuple(result)
        for item in items:
            if not isinstance(item, kind):
                raise TypeError(f"returned a sequence with {_name(item)} in it instead of {named}")
        return items

    return check


def all_of(kind: type[T], given: Iterable[T]) -> Callable[[object], tuple[T, ...]]:
    """Expect a sequence of *kind*; each is looked into, except for what it shares with one that was *given*."""
    given = tuple(given)
    known = {id(item) for item in given}

    @cache
    def one() -> Callable[[object], T]:
        return instance_of(kind, given)

    def check(result: object) -> tuple[T, ...]:
        return tuple(item if id(item) in known else one()(item) for item in sequence_of(kind)(result))

    return check


def estimate_for(given: Sequence[PodSet], limit: int) -> Callable[[object], Estimate]:
    """Expect an estimate of at most *limit* nodes for pods that are *given*, each at most once."""
    by_pod = {id(pods.pod): pods for pods in given}
    made = made_from(given, PodSet, lambda pods: pods.keys)

    def begins(pods: PodSet) -> bool:
        whole = by_pod.get(id(pods.pod))
        return whole is not None and type(pods.keys) is tuple and pods.keys == whole.keys[: len(pods.keys)]

    def check(result: object) -> Estimate:
        if not isinstance(result, Estimate):
            raise TypeError(f"returned {_name(result)} instead of Estimate")
        nodes = whole_number(result.nodes)
        if not 0 <= nodes <= limit:
            raise TypeError(f"returned an estimate of {nodes} nodes instead of 0 to {limit}")
        sets = sequence_of(PodSet)(result.pods)
        # Pods of a set are alike, so that nearly every estimate is for the first ones of each set.
        alike = len({id(pods.pod) for pods in sets}) == len(sets) == sum(map(begins, sets))
        return Estimate(nodes=nodes, pods=sets if alike else made(sets))

    return check


def part_of(given: Iterable[T], kind: type[T], name: Callable[[T], str]) -> Callable[[object], tuple[T, ...]]:
    """Expect a sequence of items of *given*, each at most once and unchanged; *name* names an item in messages."""
    given = tuple(given)

    def check(result: object) -> tuple[T, ...]:
        left = {id(item) for item in given}
        items = sequence_of(kind)(result)
        for item in items:
            if id(item) not in left:
                raise TypeError(f"returned {name(item)}, which is not one of those it was given, or not only once")
            left.remove(id(item))
        return items

    return check


def made_from(
    given: Iterable[T], kind: type[T], keys: Callable[[T], Sequence[str]]
) -> Callable[[object], tuple[T, ...]]:
    """Expect a sequence of *kind* that adds no *keys* to those of *given*; items may be changed or split."""
    given = tuple(given)
    everything = all_of(kind, given)

    def check(result: object) -> tuple[T, ...]:
        items = everything(result)
        same, others = _compared(given, items)
        left = {key for item in given if id(item) not in same for key in keys(item)}
        for item in others:
            took = set(keys(item))
            if len(took) < len(keys(item)) or not took <= left:
                key = next(key for key, times in Counter(keys(item)).items() if times > 1 or key not in left)
                raise TypeError(f"returned {key}, which is not one of those it was given, or not only once")
            left -= took
        return items

    return check


def added_to(
    given: Iterable[T], kind: type[T], keys: Callable[[T], Sequence[str]], gone: Container[str]
) -> Callable[[object], tuple[T, ...]]:
    """Expect a sequence of *kind*: items of *given*, changed or not, and new ones; no key twice or among the *gone*."""
    given = tuple(given)
    everything = all_of(kind, given)

    def check(result: object) -> tuple[T, ...]:
        items = everything(result)
        same, others = _compared(given, items)
        seen = {key for item in given if others and id(item) in same for key in keys(item)}
        for key in (key for item in others for key in keys(item)):
            if key in seen:
                raise TypeError(f"returned {key} more than once")
            if key in gone:
                raise TypeError(f"returned {key}, which was taken off the list before")
            seen.add(key)
        return items

    return check


def _compared(given: Iterable[T], returned: Iterable[T]) -> tuple[set[int], list[T]]:
    """Return the identities of items that came back unchanged, and the other items of *returned*."""
    same = {id(item) for item in given} & {id(item) for item in returned}
    expected = set(same)
    others = []
    for item in returned:
        if id(item) in expected:
            expected.remove(id(item))
        else:
            others.append(item)
    return same, others


def _checked(hint: Any, result: object, trusted: Trusted = NOTHING) -> Any:
    """Return what *result* is as a *hint*; raise a `TypeError` that tells which part of it is wrong."""
    try:
        return check_of(hint)(result, trusted)
    except ShapeError as error:
        raise TypeError(f"returned {_name(result)} whose {error}" if error.path else f"returned what {error}") from None


def _name(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
