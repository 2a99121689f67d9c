"""Plans for pods with rules about their neighbours, held against brute force."""

from collections import Counter
from itertools import product
from random import Random

import pytest
from nodewright_least_cost.problem import Offer, Problem
from nodewright_least_cost.rules import Apart, Domain, Spread, Together
from nodewright_least_cost.search import cheapest_plan

ZONES = ("a", "b", "c")


def a_problem(random, kind):
    """Two sets, the first of which has a rule over zones, and an offer or two in each of two or three zones."""
    zones = ZONES[: random.randint(2, 3)]
    homes = [*zones, random.choice(zones)]
    sizes = ((random.randint(1, 3),), (random.randint(1, 3),))
    offers = []
    for zone in homes:
        free = random.randint(2, 6)
        most = (free // sizes[0][0], free // sizes[1][0] if random.random() < 0.8 else 0)
        # The cells of the first set are the zones; the second has one for all of them.
        cells = (zones.index(zone), len(zones))
        offers.append(
            Offer(price=random.randint(1, 20) / 10, limit=random.randint(1, 2), free=(free,), most=most, cells=cells)
        )
    domains = []
    for number, zone in enumerate(zones):
        counts = random.random() < 0.5
        members = tuple(offer for offer, home in enumerate(homes) if home == zone)
        there = random.randint(0, 2) if counts else 0
        domains.append(Domain(count=there, counts=counts, offers=members, own=(number,), selected=(number,)))
    # A zone for which nothing is offered holds the others down.
    if random.random() < 0.3:
        domains.append(Domain(count=random.randint(0, 2), counts=True))
    rule = {
        "spread": Spread(domains=tuple(domains), skew=random.randint(1, 2), min_domains=random.choice([1, 1, 2, 3])),
        "apart": Apart(domains=tuple(domains)),
        "together": Together(domains=tuple(domains)),
    }[kind]
    demand = (random.randint(1, 4), random.randint(0, 2))
    set_of = (*(0 for _ in zones), 1)
    return Problem(demand=demand, sizes=sizes, offers=tuple(offers), set_of=set_of, rules=(rule,))


def is_kept(problem, nodes, pods):
    """Whether so many nodes of each offer, and pods of the first set in each zone, are allowed."""
    (rule,) = problem.rules
    if isinstance(rule, Apart):
        return max(pods) <= 1
    if isinstance(rule, Together):
        return sum(map(bool, pods)) <= 1
    levels = {}
    for number, domain in enumerate(rule.domains):
        here = pods[number] if number < len(pods) else 0
        if domain.counts or any(nodes[offer] for offer in domain.offers):
            levels[number] = domain.count + here
    least = min(levels.values()) if len(levels) >= rule.min_domains else 0
    return all(number in levels and levels[number] - least <= rule.skew for number, here in enumerate(pods) if here)


def by_brute_force(problem):
    """The fewest pods left out and, with these, the lowest cost: all numbers of nodes, all ways to share pods out."""
    best = sum(problem.demand), 0.0
    zones = len(problem.set_of) - 1
    for nodes in product(*(range(offer.limit + 1) for offer in problem.offers)):
        cost = sum(count * offer.price for count, offer in zip(nodes, problem.offers, strict=True))
        for pods in product(range(problem.demand[0] + 1), repeat=zones):
            if sum(pods) > problem.demand[0] or not is_kept(problem, nodes, pods):
                continue
            others = most_others(problem, nodes, pods)
            if others is not None:
                best = min(best, (problem.demand[0] - sum(pods) + problem.demand[1] - others, round(cost, 6)))
    return best


def most_others(problem, nodes, pods):
    """How many pods of the second set find room beside *pods* of the first in each zone; None if these do not fit."""
    total = 0
    for zone, wanted in enumerate(pods):
        here = [
            offer
            for offer, count in zip(problem.offers, nodes, strict=True)
            for _ in range(count)
            if offer.cells[0] == zone
        ]
        found = [
            sum(
                min(offer.most[1], (offer.free[0] - count * problem.sizes[0][0]) // problem.sizes[1][0])
                for offer, count in zip(here, counts, strict=True)
            )
            for counts in product(*(range(offer.most[0] + 1) for offer in here))
            if sum(counts) == wanted
        ]
        if not found:
            return None
        total += max(found)
    return min(total, problem.demand[1])


@pytest.mark.parametrize("kind", ["spread", "apart", "together"])
@pytest.mark.parametrize("tens", range(6))
def test_small_problems_with_rules_are_solved_as_well_as_by_brute_force(kind, tens) -> None:
    for seed in range(tens * 10, tens * 10 + 10):
        problem = a_problem(Random(f"{kind} {seed}"), kind)
        plan = cheapest_plan(problem, 5.0, 0.0, lambda: 0.0)
        served = problem.served(plan.purchases)
        bought = Counter(dict.fromkeys(range(len(problem.offers)), 0))
        for each in plan.purchases:
            bought[each.offer] += each.nodes
        nodes = [bought[number] for number in range(len(problem.offers))]
        assert is_kept(problem, nodes, served[:-1]), f"{kind} {seed}"
        assert (sum(plan.left), round(plan.cost, 6)) == by_brute_force(problem), f"{kind} {seed}"
        assert plan.gap == 0.0
