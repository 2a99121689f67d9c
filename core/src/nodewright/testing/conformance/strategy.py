"""Helpers that the suites of strategies share."""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

import pytest

from nodewright.api import Plugin, PodSet, Simulation

P = TypeVar("P", bound=Plugin)
#: What Python and read-only values say. `FrozenInstanceError` is an `AttributeError`.
_REFUSALS = re.compile(
    r"read-only|immutable|cannot assign to field|does not support item (assignment|deletion)|"
    r"'(tuple|mappingproxy)' object has no attribute"
)


def reborn(plugin: P) -> P:
    """Another instance with the same configuration, as after a restart."""
    return type(plugin)(plugin.config)


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
        assert value == before[name], f"{name} were {before[name]!r} before the call and are {value!r} after it"


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
