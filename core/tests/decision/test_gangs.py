"""Pods that are only useful together."""

from dataclasses import replace
from datetime import timedelta

from nodewright.api import Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)


def gang(name, count, *, cpu="4", together="true", **fields):
    annotations = {"nodewright.dev/all-or-nothing": together}
    return [a_pod(f"{name}-{n}", cpu=cpu, annotations=annotations, owner=f"Job/{name}", **fields) for n in range(count)]


def decided(groups, pods, nodes=None, **limits):
    policy = a_policy(Settings.model_validate({"limits": {"nodes": limits}} if limits else {}))
    decision, _, _ = decide(a_world(groups=groups, pods=pods, nodes=nodes), Memory(), policy, NOW)
    return decision


def group(name="a", **fields):
    return a_group(name, template=a_template(cpu="4"), **fields)


def reasons(decision):
    return {verdict.reason for verdict in decision.pods.values()}


def test_a_gang_that_fits_gets_all_its_nodes() -> None:
    decision = decided([group(max_size=4)], gang("train", 4))
    assert [(grow.count, len(grow.pods)) for grow in decision.grow] == [(4, 4)]
    assert reasons(decision) == {Reason.HELPED}


def test_a_gang_that_does_not_fit_whole_gets_nothing() -> None:
    decision = decided([group(max_size=3)], gang("train", 4))
    assert decision.grow == ()
    assert reasons(decision) == {Reason.ALL_OR_NOTHING}
    without = decided([group(max_size=3)], gang("train", 4, together="false"))
    assert [grow.count for grow in without.grow] == [3]


def test_what_a_torn_gang_leaves_is_there_for_others() -> None:
    web = [a_pod(f"web-{n}", cpu="1", owner="ReplicaSet/web") for n in range(8)]
    decision = decided([group(max_size=3)], [*gang("train", 4), *web])
    assert [(grow.count, len(grow.pods)) for grow in decision.grow] == [(2, 8)]
    assert {key.partition("-")[0]: verdict.reason for key, verdict in decision.pods.items()} == {
        "default/train": Reason.ALL_OR_NOTHING,
        "default/web": Reason.HELPED,
    }


def test_a_gang_may_be_spread_over_groups_and_over_nodes_that_are_there() -> None:
    nodes = {"a": [a_node("n", cpu="4", provider_id="fake://a-0")]}
    decision = decided([group(size=1, max_size=2), group("b", max_size=2)], gang("train", 4), nodes)
    assert sorted((grow.group, grow.count) for grow in decision.grow) == [("a", 1), ("b", 2)]
    assert sorted(verdict.reason for verdict in decision.pods.values()) == [Reason.FITS, *[Reason.HELPED] * 3]


def test_a_gang_may_be_of_several_controllers() -> None:
    def pods(together):
        return [*gang("driver", 1, together=together), *gang("worker", 3, together=together)]

    assert [grow.count for grow in decided([group(max_size=4)], pods("job-7")).grow] == [4]
    assert decided([group(max_size=3)], pods("job-7")).grow == ()
    # Each for itself, the driver fits, and leaves too little for the workers.
    assert [grow.pods for grow in decided([group(max_size=3)], pods("true")).grow] == [("default/driver-0",)]


def test_growth_for_a_gang_is_asked_for_in_one_piece_where_the_group_can() -> None:
    able = replace(group(max_size=4), atomic=True)
    assert [grow.atomic for grow in decided([able], gang("train", 2)).grow] == [True]
    assert [grow.atomic for grow in decided([able], gang("web", 2, together="")).grow] == [False]
    assert [grow.atomic for grow in decided([group(max_size=4)], gang("train", 2)).grow] == [False]


def test_a_limit_on_the_cluster_tears_a_gang_as_well() -> None:
    assert decided([group(max_size=9)], gang("train", 4), max=3).grow == ()
