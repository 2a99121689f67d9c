"""The nodes that are chosen are the best of all that are allowed together, whatever limits them."""

from dataclasses import dataclass
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from nodewright.api import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance, Allowances
from nodewright.decision.scaledown.selection.best import Item, best_of, in_order, worth_of
from nodewright.testing.builders import a_group, a_node, a_pod

VERDICT = Verdict(reason=Reason.EMPTY)
SEVERAL = tuple(f"g{number}" for number in range(3))


def pods(count, priority=0):
    cluster = Cluster()
    for number in range(count):
        cluster.put_pod(a_pod(f"p{number}", node="n", priority=priority))
    return tuple(cluster.pods_on("n"))


LOADS = {(count, priority): pods(count, priority) for count in range(4) for priority in (0, 2**25)}


def removable(name, group="g0", *, load=0, priority=0, price=None, **fields):
    return Removable(
        node=a_node(name),
        group=a_group(group, price=price),
        move=LOADS[load, priority if load else 0],
        verdict=VERDICT,
        **fields,
    )


@dataclass(frozen=True)
class Limit:
    """What an allowance is made from, so that a counterexample shows it."""

    left: int
    groups: tuple[str, ...] = SEVERAL
    reasons: tuple[str, ...] = ("empty", "underused", "unready")
    weight: str = "nodes"

    def allowance(self):
        def draw(entry):
            if entry.reason not in self.reasons:
                return 0
            return {"nodes": 1, "pods": len(entry.move), "cores": 1 + int(entry.node.name[1:]) % 3}[self.weight]

        return Allowance(
            left=self.left, refusal=VERDICT, draw=draw, covers=lambda facts: facts.id in self.groups, plain=False
        )


def allowances(room, drains, minimum, limits=()):
    parallel = [
        Allowance(left=drains, refusal=VERDICT, draw=lambda entry: int(bool(entry.move)), plain=True, parallel=True),
        Allowance(left=room, refusal=VERDICT, plain=True, parallel=True, for_all=True),
    ]
    return Allowances(
        [*(limit.allowance() for limit in limits), *parallel],
        lambda facts: Allowance(left=minimum[facts.id], refusal=VERDICT, plain=True),
    )


def items_of(entries, allowed):
    return in_order(Item(entry=entry, draws=allowed.draws(entry)) for entry in entries)


def is_allowed(chosen, allowed):
    taken = dict.fromkeys(range(len(allowed.all)), 0)
    for item in chosen:
        for index, amount in item.draws:
            taken[index] += amount
    return all(amount <= allowed.left[index] for index, amount in taken.items() if amount)


def best_by_trying(items, allowed):
    subsets = (subset for size in range(len(items) + 1) for subset in combinations(items, size))
    return max(worth_of(subset) for subset in subsets if is_allowed(subset, allowed))


nodes = st.lists(
    st.builds(
        dict,
        group=st.sampled_from(SEVERAL),
        load=st.integers(0, 3),
        priority=st.sampled_from([0, 2**25]),
        price=st.sampled_from([None, 0.1, 0.25]),
        risky=st.booleans(),
        ready=st.booleans(),
    ),
    min_size=3,
    max_size=8,
).map(lambda all_fields: [removable(f"n{at}", **fields) for at, fields in enumerate(all_fields)])
limits = st.lists(
    st.builds(
        Limit,
        left=st.integers(0, 5),
        groups=st.lists(st.sampled_from(SEVERAL), min_size=1, unique=True).map(tuple),
        reasons=st.lists(st.sampled_from(["empty", "underused", "unready"]), min_size=1, unique=True).map(tuple),
        weight=st.sampled_from(["nodes", "pods", "cores"]),
    ),
    min_size=1,
    max_size=3,
)
minimums = st.fixed_dictionaries(dict.fromkeys(SEVERAL, st.integers(-1, 3)))


@settings(max_examples=400, deadline=None)
@given(entries=nodes, room=st.integers(-1, 6), drains=st.integers(-1, 3), minimum=minimums)
def test_no_allowed_set_is_better_where_nodes_are_counted_alike(entries, room, drains, minimum) -> None:
    allowed = allowances(room, drains, minimum)
    items = items_of(entries, allowed)
    chosen = best_of(items, allowed.left, allowed.all)
    assert is_allowed(chosen, allowed)
    assert worth_of(chosen) == best_by_trying(items, allowed)


@settings(max_examples=400, deadline=None)
@given(entries=nodes, room=st.integers(2, 8), drains=st.integers(1, 8), minimum=minimums, limits=limits)
def test_no_allowed_set_is_better_where_limits_cross(entries, room, drains, minimum, limits) -> None:
    allowed = allowances(room, drains, minimum, limits)
    items = items_of(entries, allowed)
    chosen = best_of(items, allowed.left, allowed.all)
    assert is_allowed(chosen, allowed)
    assert worth_of(chosen) == best_by_trying(items, allowed)


def chosen_from(entries, *, room=10, drains=10, limits=()):
    allowed = allowances(room, drains, dict.fromkeys(SEVERAL, 10), limits)
    return [item.entry.node.name for item in best_of(items_of(entries, allowed), allowed.left, allowed.all)]


def test_empty_nodes_go_first_and_the_dearest_of_them() -> None:
    entries = [removable("n0", load=1, price=9.0), removable("n1", price=0.1), removable("n2", price=0.3)]
    assert chosen_from(entries, room=2) == ["n2", "n1"]
    assert chosen_from(entries, room=1) == ["n2"]


def test_of_nodes_with_pods_those_that_disrupt_least_go_risky_ones_last() -> None:
    entries = [
        removable("n0", load=1, risky=True),
        removable("n1", load=3, price=0.3),
        removable("n2", load=2, price=0.1),
        removable("n3", load=2, price=0.2),
        removable("n4", load=1, priority=2**25, price=0.1),
    ]
    # A pod of so much priority counts as two.
    assert chosen_from(entries) == ["n3", "n2", "n4", "n1", "n0"]
    assert chosen_from(entries, drains=1) == ["n3"]


def test_two_nodes_are_better_than_one_that_would_come_first() -> None:
    entries = [removable("n1", price=9.0), removable("n0", price=0.1), removable("n3", price=0.1)]
    cores = Limit(left=2, weight="cores")
    assert chosen_from(entries, limits=[cores]) == ["n0", "n3"]


def test_a_search_that_would_take_too_long_still_takes_all_that_fit() -> None:
    entries = [removable(f"n{number}", group=f"g{number % 3}", load=number % 4, price=number) for number in range(300)]
    crossing = [
        Limit(left=17, groups=("g0", "g1"), weight="cores"),
        Limit(left=11, groups=("g1", "g2"), weight="pods"),
        Limit(left=9, reasons=("empty",), weight="cores"),
    ]
    allowed = allowances(30, 20, dict.fromkeys(SEVERAL, 10), crossing)
    items = items_of(entries, allowed)
    chosen = best_of(items, allowed.left, allowed.all)
    assert is_allowed(chosen, allowed)
    for item in chosen:
        allowed.take(item.draws)
    assert all(allowed.refusals(item.draws for item in items if item not in chosen))
