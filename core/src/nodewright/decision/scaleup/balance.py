"""Balance: how growth is spread over groups that are alike."""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from nodewright.api.group import GroupFacts


def spread(count: int, groups: Sequence[GroupFacts], may_grow: Callable[[GroupFacts], bool]) -> dict[str, int]:
    """Return how many of *count* nodes each of *groups* gets: each goes to the group that is smallest then.

    A group grows as long as it is below its maximum and *may_grow*, which is asked before each node and counts it.
    Of equals, the first one in *groups* comes first. What one group can't take falls to the others.
    """
    by_size = sorted(groups, key=lambda facts: facts.target_size)
    queue = [(facts.target_size, index) for index, facts in enumerate(by_size)]
    heapify(queue)
    shares: dict[str, int] = {}
    while count and queue:
        size, index = heappop(queue)
        facts = by_size[index]
        if size < facts.max_size and may_grow(facts):
            shares[facts.id] = shares.get(facts.id, 0) + 1
            count -= 1
            heappush(queue, (size + 1, index))
    return shares
