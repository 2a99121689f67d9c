"""The expander price, against figures worked out by hand."""

from math import tanh

import pytest
from nodewright.api import PricingModel
from nodewright.strategies.price import Price, _score, preferred_cpus
from nodewright.testing import a_group, a_pod, a_template, an_expander_context, an_option, pods_like


class TenCentsPerCpu(PricingModel):
    """Pods cost 0.1 for a CPU and hour; nodes are asked for elsewhere."""

    def node_price(self, template, start, end):
        raise AssertionError("the core has asked already")

    def pod_price(self, pod, start, end):
        assert (end - start).total_seconds() == 3600
        return None if pod.metadata.name == "priceless" else pod.requests["cpu"] / 1000 * 0.1


# The stabilizing pod asks for half a CPU and costs 0.05.


def context(cluster_size=3, **fields):
    return an_expander_context(cluster_size=cluster_size, pricing={"fake": TenCentsPerCpu()}, **fields)


def option(group, *, cpu="2", nodes=1, pods=2, price=0.3, resources=None, pod="web"):
    template = a_template(cpu=cpu, resources=resources)
    facts = a_group(group, template=template, price=price)
    return an_option(facts, nodes=nodes, pods=[pods_like(a_pod(pod, cpu="1"), pods)])


def test_the_price_of_nodes_is_set_against_the_price_of_pods() -> None:
    # Cluster of 3 nodes: 2 CPUs are preferred, unfitness 1. One node 0.3, two pods 2 x 0.1:
    # (0.3 + 0.05) / (0.2 + 0.05) = 1.4
    assert _score(option("a"), context()) == pytest.approx(1.4)
    # Three nodes 0.9, six pods 0.6: 0.95 / 0.65
    assert _score(option("a", nodes=3, pods=6), context()) == pytest.approx(0.95 / 0.65)


def test_nodes_of_another_size_than_preferred_score_worse_the_fewer_they_are() -> None:
    # 8 CPUs where 2 are preferred: unfitness 4, in full for one node: 4 x 1.4 = 5.6
    assert _score(option("a", cpu="8"), context()) == pytest.approx(5.6)
    # Half a CPU where 2 are preferred is as far off.
    assert _score(option("a", cpu="500m"), context()) == pytest.approx(5.6)
    # 16 nodes: tanh(15 / 15) = 0.761594, (4 - 1) x (1 - 0.761594) + 1 = 1.715218;
    # prices (16 x 0.3 + 0.05) / (32 x 0.1 + 0.05) = 4.85 / 3.25 = 1.492308; together 2.559633
    assert tanh(1) == pytest.approx(0.761594, abs=1e-6)
    assert _score(option("a", cpu="8", nodes=16, pods=32), context()) == pytest.approx(2.559633, abs=1e-5)


@pytest.mark.parametrize(
    ("nodes", "cpus"),
    [(0, 1), (2, 1), (3, 2), (6, 2), (7, 4), (20, 4), (21, 8), (60, 8), (61, 16), (200, 16), (201, 32)],
)
def test_larger_clusters_prefer_larger_nodes(nodes, cpus) -> None:
    assert preferred_cpus(nodes) == cpus


def test_gpu_nodes_score_a_thousand_times_worse_whatever_their_size() -> None:
    assert _score(option("a", resources={"nvidia.com/gpu": "1"}), context()) == pytest.approx(1400)
    assert _score(option("a", cpu="64", resources={"nvidia.com/gpu": "1"}), context()) == pytest.approx(1400)


def test_the_lowest_score_wins_and_equal_ones_tie(best) -> None:
    dear, cheap, same = option("dear", price=0.4), option("cheap", price=0.2), option("same", price=0.2)
    assert best(Price, dear, cheap, same, context=context()) == ["cheap", "same"]


def test_a_dearer_node_of_the_preferred_size_beats_a_cheaper_one_that_is_too_large(best) -> None:
    # 1.4 against 4 x (0.1 + 0.05) / 0.25 = 2.4
    assert best(Price, option("fits", price=0.3), option("large", price=0.1, cpu="8"), context=context()) == ["fits"]


def test_options_without_a_price_are_left_out(best) -> None:
    unknown = option("unknown", price=None)
    priceless = option("priceless", pod="priceless")
    assert best(Price, unknown, priceless, option("known", price=9.0), context=context()) == ["known"]


def test_all_options_are_kept_with_a_notice_if_no_price_is_known(best) -> None:
    without = an_expander_context()
    assert best(Price, option("a"), option("b"), context=without) == ["a", "b"]
    (notice,) = without.notices
    assert (notice.reason, notice.warning) == ("NoPrices", True)
    assert notice.message == "the price expander keeps all options: no group that could grow has a price"
