"""The expanders random, most-pods, least-nodes and least-waste."""

from nodewright.strategies.expanders import LeastNodes, LeastWaste, MostPods, Random
from nodewright.testing import a_group, a_pod, a_template, an_expander_context, an_option, pods_like


def pods(count, **fields):
    return [pods_like(a_pod(**fields), count)]


def on(group, *, nodes, cpu, memory, **fields):
    """An option of four pods of 1 CPU and 2 GiB each on nodes of *cpu* and *memory*."""
    template = a_template(cpu=cpu, memory=memory, **fields)
    return an_option(a_group(group, template=template), nodes=nodes, pods=pods(4, cpu="1", memory="2Gi"))


def test_random_takes_one_and_the_same_seed_takes_the_same(best) -> None:
    options = [an_option(f"group-{number}") for number in range(10)]
    chosen = [best(Random, *options, context=an_expander_context(seed=seed)) for seed in range(100)]
    assert {len(each) for each in chosen} == {1}
    assert {each[0] for each in chosen} == {option.group.id for option in options}
    assert best(Random, *options, context=an_expander_context(seed=7)) == chosen[7]


def test_most_pods_counts_all_sets_and_keeps_ties_in_order(best) -> None:
    two_sets = an_option("b", pods=[*pods(2), *pods(3, name="other")])
    assert best(MostPods, an_option("a", pods=4), two_sets, an_option("c", pods=5)) == ["b", "c"]


def test_least_nodes_keeps_ties_and_takes_no_option_without_nodes(best) -> None:
    assert best(LeastNodes, an_option("a", nodes=3), an_option("b", nodes=2), an_option("c", nodes=2)) == ["b", "c"]
    assert best(LeastNodes, an_option("none", nodes=0), an_option("a", nodes=3)) == ["a"]
    assert best(LeastNodes, an_option("none", nodes=0)) == []


def test_least_waste_adds_the_unused_shares_of_cpu_and_memory(best) -> None:
    # 4 CPUs and 8 GiB are wanted.
    # tall: 1 x (8 CPUs, 8 GiB): cpu (8 - 4) / 8 = 1/2, memory 0: 0.5
    # wide: 2 x (2 CPUs, 8 GiB): cpu 0, memory (16 - 8) / 16 = 1/2: 0.5
    # close: 2 x (2.5 CPUs, 5 GiB): cpu 1 / 5, memory 2 / 10: 0.4
    tall = on("tall", nodes=1, cpu="8", memory="8Gi")
    wide = on("wide", nodes=2, cpu="2", memory="8Gi")
    close = on("close", nodes=2, cpu="2500m", memory="5Gi")
    assert best(LeastWaste, tall, wide, close) == ["close"]
    assert best(LeastWaste, tall, wide) == ["tall", "wide"]


def test_least_waste_tells_apart_what_differs_by_one_byte(best) -> None:
    even, more = on("even", nodes=1, cpu="4", memory="16Gi"), on("more", nodes=1, cpu="4", memory=f"{16 * 1024**3 + 1}")
    assert best(LeastWaste, more, even) == ["even"]


def test_least_waste_looks_at_capacity_and_not_at_gpus(best) -> None:
    # The same capacity wastes the same, whatever is reserved and whatever else there is.
    plain = on("plain", nodes=1, cpu="8", memory="16Gi")
    gpus = on("gpus", nodes=1, cpu="8", memory="16Gi", resources={"nvidia.com/gpu": "8"})
    assert best(LeastWaste, plain, gpus) == ["plain", "gpus"]
