"""The search for the cheapest plan, held against brute force."""

from collections import Counter
from functools import cache
from itertools import product
from random import Random

import pytest
from nodewright_least_cost.greedy import greedy_plans
from nodewright_least_cost.problem import Offer, Problem, total
from nodewright_least_cost.program import Program
from nodewright_least_cost.search import cheapest_plan


def a_problem(random, *, sets, offers, pods, dimensions=2, largest=8):
    """A problem of small numbers; not every pod may run everywhere."""
    sizes = [tuple(random.randint(1, largest // 2) for _ in range(dimensions)) for _ in range(sets)]
    kinds = []
    for _ in range(offers):
        free = tuple(random.randint(largest // 2, largest) for _ in range(dimensions))
        most = [
            min(have // want for want, have in zip(size, free, strict=True)) if random.random() < 0.8 else 0
            for size in sizes
        ]
        kinds.append(Offer(price=random.randint(1, 20) / 10, limit=random.randint(1, 6), free=free, most=tuple(most)))
    demand = tuple(random.randint(1, pods) for _ in range(sets))
    room = random.choice([None, None, random.randint(1, 6)])
    return Problem(demand=demand, sizes=tuple(sizes), offers=tuple(kinds), room=room)


def by_brute_force(problem):
    """The fewest pods left out and, with these, the lowest cost: every way to fill every node is tried."""

    def fillings(offer):
        caps = [range(min(most, wanted) + 1) for most, wanted in zip(offer.most, problem.demand, strict=True)]
        for filling in product(*caps):
            used = [total([size[row] for size in problem.sizes], filling) for row in range(len(offer.free))]
            if any(filling) and all(have >= want for want, have in zip(used, offer.free, strict=True)):
                yield filling

    ways = [list(fillings(offer)) for offer in problem.offers]

    @cache
    def best(left, offer, limit, room):
        if not any(left) or offer == len(problem.offers):
            return sum(left), 0.0
        answer = best(left, offer + 1, problem.offers[offer + 1].limit if offer + 1 < len(ways) else 0, room)
        if limit and room:
            for filling in ways[offer]:
                rest = tuple(max(0, have - count) for have, count in zip(left, filling, strict=True))
                if rest != left:
                    missing, cost = best(rest, offer, limit - 1, room - 1)
                    answer = min(answer, (missing, round(cost + problem.offers[offer].price, 6)))
        return answer

    room = sum(offer.limit for offer in problem.offers) if problem.room is None else problem.room
    return best(problem.demand, 0, problem.offers[0].limit, room)


def solve(problem, seconds=5.0, gap=0.0, elapsed=lambda: 0.0):
    return cheapest_plan(problem, seconds, gap, elapsed=elapsed)


def assert_sound(problem, plan):
    """No node holds more than it can, and no more nodes are bought than there are."""
    bought = Counter()
    for each in plan.purchases:
        offer = problem.offers[each.offer]
        bought[each.offer] += each.nodes
        assert all(count <= most for count, most in zip(each.filling, offer.most, strict=True))
        for row, free in enumerate(offer.free):
            assert total([size[row] for size in problem.sizes], each.filling) <= free
    assert all(count <= problem.offers[number].limit for number, count in bought.items())
    assert problem.room is None or bought.total() <= problem.room


@pytest.mark.parametrize("seed", range(150))
def test_small_problems_are_solved_as_well_as_by_brute_force(seed) -> None:
    random = Random(seed)
    problem = a_problem(random, sets=random.randint(1, 3), offers=random.randint(1, 3), pods=4)
    plan = solve(problem)
    assert_sound(problem, plan)
    assert (sum(plan.left), round(plan.cost, 6)) == by_brute_force(problem)
    assert plan.gap == 0.0


@pytest.mark.parametrize("seed", range(15))
def test_without_every_column_the_answer_is_sound_and_its_gap_is_honest(seed, monkeypatch) -> None:
    monkeypatch.setattr("nodewright_least_cost.search._STEPS", 0)
    random = Random(seed)
    problem = a_problem(random, sets=3, offers=3, pods=4)
    plan = solve(problem)
    assert_sound(problem, plan)
    missing, cost = by_brute_force(problem)
    assert sum(plan.left) >= missing
    if sum(plan.left) == missing:
        assert plan.cost >= cost - 1e-6
        assert plan.cost * (1 - plan.gap) <= cost + 1e-6


def test_two_small_nodes_beat_a_large_one_only_if_they_cost_less() -> None:
    def cost(small):
        offers = (
            Offer(price=small, limit=9, free=(4,), most=(2,)),
            Offer(price=1.0, limit=9, free=(8,), most=(4,)),
        )
        return solve(Problem(demand=(4,), sizes=((2,),), offers=offers)).cost

    assert cost(0.4) == pytest.approx(0.8)
    assert cost(0.6) == pytest.approx(1.0)


def a_large_problem(seed=1):
    """Forty sets of 2,000 pods in all, on thirty kinds of nodes."""
    random = Random(seed)
    sizes = tuple((random.randrange(100, 4000, 50), random.randrange(128, 8192, 64), 1) for _ in range(40))
    offers = []
    for _ in range(30):
        cpus = random.choice([4, 8, 16, 32])
        free = (cpus * 1000 - 300, cpus * random.choice([2048, 4096, 8192]) - 700, 110)
        most = tuple(min(have // want for want, have in zip(size, free, strict=True)) for size in sizes)
        price = cpus * 0.04 + free[1] / 1024 * 0.005 * random.uniform(0.7, 1.3)
        offers.append(Offer(price=price, limit=200, free=free, most=most))
    return Problem(demand=(50,) * 40, sizes=sizes, offers=tuple(offers))


def test_a_large_problem_is_solved_within_its_time_and_near_the_optimum(wall_clock) -> None:
    problem = a_large_problem()
    clock = wall_clock()
    plan = solve(problem, seconds=2.0, elapsed=clock)
    assert clock() < 4.0
    assert_sound(problem, plan)
    assert not any(plan.left)
    assert plan.cost <= min(map(problem.cost, greedy_plans(problem, problem.demand)))
    assert plan.gap < 0.3


def test_the_solver_begins_with_the_greedy_plan() -> None:
    problem = a_large_problem()
    best = min(greedy_plans(problem, problem.demand), key=problem.objective)
    columns = dict.fromkeys(
        (each.offer, each.filling) for plan in greedy_plans(problem, problem.demand) for each in plan
    )
    # There is no time to find anything: what comes back is what went in.
    found = Program(problem, list(columns)).whole(best, 0.0, 0.0)
    assert problem.objective(found.purchases) <= problem.objective(best) + 1e-6


def test_with_no_time_at_all_the_greedy_plan_is_taken(wall_clock) -> None:
    problem = a_large_problem()
    plan = solve(problem, seconds=0.0)
    assert_sound(problem, plan)
    assert plan.cost <= min(map(problem.cost, greedy_plans(problem, problem.demand)))


@pytest.mark.parametrize(("seed", "gap"), [(42, 0.2), (55, 0.3), (120, 0.2), (161, 0.02)])
def test_a_plan_within_the_gap_ends_the_search_for_a_cheaper_one(seed, gap) -> None:
    problem = a_problem(Random(seed), sets=3, offers=3, pods=4)
    cheapest, good_enough = solve(problem), solve(problem, gap=gap)
    assert cheapest.gap == 0.0
    assert cheapest.cost < good_enough.cost <= cheapest.cost / (1 - gap)
    assert 0.0 < good_enough.gap <= gap
    assert sum(good_enough.left) == sum(cheapest.left)


@pytest.mark.parametrize("seed", range(40))
def test_the_gap_is_a_share_of_the_cost_even_if_pods_have_to_be_left_out(seed) -> None:
    problem = a_problem(Random(seed), sets=3, offers=3, pods=4)
    plan = solve(problem, gap=0.1)
    missing, cost = by_brute_force(problem)
    assert sum(plan.left) == missing
    assert plan.gap <= 0.1
    assert plan.cost * 0.9 <= cost + 1e-6


def test_pods_that_fit_nowhere_are_left_out_and_the_rest_is_served() -> None:
    offers = (Offer(price=1.0, limit=9, free=(4,), most=(2, 0)),)
    plan = solve(Problem(demand=(4, 1), sizes=((2,), (9,)), offers=offers))
    assert (plan.left, plan.cost) == ((0, 1), 2.0)


def test_limits_decide_which_pods_are_served_and_serving_goes_before_cost() -> None:
    offers = (
        Offer(price=0.1, limit=1, free=(4,), most=(2,)),
        Offer(price=5.0, limit=9, free=(4,), most=(2,)),
    )
    problem = Problem(demand=(4,), sizes=((2,),), offers=offers)
    assert solve(problem).cost == pytest.approx(5.1)
