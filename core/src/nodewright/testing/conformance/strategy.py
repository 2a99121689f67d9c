"""Helpers that the suites of strategies share."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import pytest

from nodewright.api import Plugin, PodSet, Simulation

P = TypeVar("P", bound=Plugin)
T = TypeVar("T")
#: How much of a value messages show, and how much of that comes before a difference.
_SHOWN = 200
_BEFORE = 60
#: What Python and read-only values say. `FrozenInstanceError` is an `AttributeError`.
_REFUSALS = re.compile(
    r"read-only|immutable|cannot assign to field|does not support item (assignment|deletion)|"
    r"'(tuple|mappingproxy)' object has no attribute"
)


def reborn(plugin: P) -> P:
    """Another instance with the same configuration, as after a restart."""
    return type(plugin)(plugin.config)


def answered(method: str, check: Callable[[object], T], answer: object) -> T:
    """Return the *answer* of *method* as the core takes it; fail the test with what the core would say against it."""
    try:
        return check(answer)
    except TypeError as error:
        pytest.fail(f"{method} {error}")


def shown(value: object) -> str:
    """*value* in messages, not too long."""
    return _cut(repr(value))


def shown_apart(before: object, after: object) -> tuple[str, str]:
    """Two values in messages, not too long: from a little before the place where they begin to differ."""
    one, other = repr(before), repr(after)
    apart = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    begin = max(0, apart - _BEFORE)
    dots = "…" if begin else ""
    return dots + _cut(one[begin:]), dots + _cut(other[begin:])


@contextmanager
def left_alone(given: Mapping[str, object]) -> Iterator[None]:
    """Assert that nothing of what is *given*, by name, is changed in the ``with`` block."""
    before = copy.deepcopy(dict(given))
    try:
        yield
    except (TypeError, AttributeError) as error:
        if was_refused_a_change(error):
            pytest.fail(f"it tried to change what it was given, {' and '.join(given)}: {error}")
        raise
    for name, value in given.items():
        one, other = shown_apart(before[name], value)
        assert value == before[name], f"{name} were {one} before the call and are {other} after it"


def was_refused_a_change(error: BaseException | None) -> bool:
    """Whether *error* is what read-only values raise for whoever wants to change them."""
    return isinstance(error, TypeError | AttributeError) and bool(_REFUSALS.search(str(error)))


def keys_of(sets: Iterable[PodSet]) -> set[str]:
    """The keys of all pods of *sets*."""
    return {key for pods in sets for key in pods.keys}


def homeless(simulation: Simulation, wanted: Iterable[tuple[PodSet, Sequence[str]]]) -> list[str]:
    """Put pods onto the nodes beside them, as the core does with what is planned; return those that find no place."""
    left = list(wanted)
    while left:
        tried = [(pods.without(simulation.place(pods, on=nodes)), nodes) for pods, nodes in left]
        rest = [(pods, nodes) for pods, nodes in tried if pods]
        # Pods that have a place by now may be the neighbours that others need.
        if sum(len(pods) for pods, _ in rest) == sum(len(pods) for pods, _ in left):
            break
        left = rest
    return sorted(keys_of(pods for pods, _ in left))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
