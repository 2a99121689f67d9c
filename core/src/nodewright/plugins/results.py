"""Checks of what plugins return: each takes any value and returns it typed, or raises a `TypeError` with the reason."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import TypeVar

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


def instance_of(kind: type[T]) -> Callable[[object], T]:
    """Expect one *kind*."""

    def check(result: object) -> T:
        if not isinstance(result, kind):
            raise TypeError(f"returned {_name(result)} instead of {kind.__name__}")
        return result

    return check


def sequence_of(kind: type[T]) -> Callable[[object], tuple[T, ...]]:
    """Expect a list or tuple (any sequence but text) of *kind*."""

    def check(result: object) -> tuple[T, ...]:
        if isinstance(result, str | bytes) or not isinstance(result, Sequence):
            raise TypeError(f"returned {_name(result)} instead of a sequence of {kind.__name__}")
        for item in result:
            if not isinstance(item, kind):
                raise TypeError(f"returned a sequence with {_name(item)} in it instead of {kind.__name__}")
        return tuple(result)

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

    def check(result: object) -> tuple[T, ...]:
        items = sequence_of(kind)(result)
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

    def check(result: object) -> tuple[T, ...]:
        items = sequence_of(kind)(result)
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


def _name(value: object) -> str:
    return "None" if value is None else f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"
