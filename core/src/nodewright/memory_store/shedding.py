"""What is left out of a memory that is too large for its store, step by step: what is cheapest to lose comes first."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from nodewright.decision.memory import Memory, Standing

#: What each step takes away, and how. What keeps anything from being done twice, or too early, is never among it:
#: orders, removals, replacements, back-offs, and since when nodes are unneeded.
_STEPS: tuple[tuple[str, Callable[[Memory], Memory]], ...] = (
    # Where pods of unneeded nodes went in simulation: found again in one loop, only that other nodes may go first.
    ("hints", lambda memory: replace(memory, hints={}, unexamined=())),
    # Found again in the next loop.
    ("details of standings", lambda memory: replace(memory, standings=_without_details(memory))),
    # As well, but since when a node has been as it is.
    ("standings", lambda memory: replace(memory, standings={})),
    # Nodes that could not be removed are looked at sooner than need be.
    ("unremovable nodes", lambda memory: replace(memory, unremovable_until={})),
    # What groups' nodes were like is learnt again from their next nodes.
    ("templates", lambda memory: replace(memory, templates={})),
)


def ever_smaller(memory: Memory) -> Iterator[tuple[Memory, tuple[str, ...]]]:
    """Yield *memory* as it is, and then with less and less in it; each time with the names of what is gone."""
    yield memory, ()
    for number, (_, take) in enumerate(_STEPS, start=1):
        memory = take(memory)
        yield memory, tuple(name for name, _ in _STEPS[:number])


def _without_details(memory: Memory) -> dict[str, Standing]:
    return {name: replace(standing, pod="", cause="") for name, standing in memory.standings.items()}
