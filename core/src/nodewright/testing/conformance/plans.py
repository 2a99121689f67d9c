"""The conformance suite of plans: what expanders that take several options together promise."""

from collections import Counter
from collections.abc import Sequence

import pytest

from nodewright.api import Expander, Option
from nodewright.testing.conformance.offers import a_context, asked, names, plan, ways_to_grow, whole
from nodewright.testing.conformance.strategy import homeless, keys_of
from nodewright.testing.conformance.suite import Suite, requires

#: Fewer nodes than most ways to grow take.
_LITTLE_ROOM = 1


def _plans(request: pytest.FixtureRequest) -> str:
    expander: Expander = request.getfixturevalue("expander")
    return "" if type(expander).plan is not Expander.plan else "the expander makes no plans"


class PlanConformance(Suite):
    """`Expander.plan`, for expanders that override it."""

    @pytest.fixture
    def expander(self) -> Expander:
        """The expander under test."""
        raise NotImplementedError("override the fixture `expander`: it returns a new one, configured as by users")

    @pytest.fixture
    def options(self) -> Sequence[Option]:
        """Ways to grow that can be planned with."""
        return ways_to_grow()

    @requires(_plans)
    def test_a_plan_grows_groups_that_were_offered(self, expander: Expander, options: Sequence[Option]) -> None:
        """Each option of a plan is of a group among those that it was given, by at least one node."""
        for option in _planned(expander, options):
            assert option.group.id in names(options), f"it plans to grow {option.group.id}, which was not offered"
            assert option.nodes > 0, f"it plans to grow {option.group.id} by {option.nodes}"

    @requires(_plans)
    def test_a_plan_keeps_the_limits_of_groups(self, expander: Expander, options: Sequence[Option]) -> None:
        """In all, a group gets no more nodes than its option has, or its option's limit if that is more."""
        most = {option.group.id: max(option.nodes, option.limit) for option in options}
        for group, nodes in _nodes(_planned(expander, options)).items():
            assert nodes <= most.get(group, nodes), f"it plans {nodes} nodes of {group}, which may gain {most[group]}"

    @requires(_plans)
    def test_a_plan_keeps_the_limit_of_the_cluster(self, expander: Expander, options: Sequence[Option]) -> None:
        """All groups together get no more nodes than there is room for in the cluster."""
        made = plan(expander, options, a_context(room=_LITTLE_ROOM)) or ()
        nodes = sum(option.nodes for option in made)
        assert nodes <= _LITTLE_ROOM, f"it plans {nodes} nodes where the cluster has room for {_LITTLE_ROOM}"

    @requires(_plans)
    def test_a_plan_uses_groups_whole_that_can_only_be(self, expander: Expander, options: Sequence[Option]) -> None:
        """A group that is used whole or not at all gets exactly the nodes of its option, or none."""
        offered = [whole(option) for option in options]
        nodes = {option.group.id: option.nodes for option in offered}
        for option in plan(expander, offered) or ():
            assert option.nodes == nodes.get(option.group.id, option.nodes), (
                f"it plans {option.nodes} nodes of {option.group.id}, which is used whole, with "
                f"{nodes[option.group.id]} nodes, or not at all"
            )

    @requires(_plans)
    def test_a_plan_helps_pods_that_wait(self, expander: Expander, options: Sequence[Option]) -> None:
        """A plan is about pods of its options, or other pods that wait, and no others."""
        waiting = keys_of(pods for option in options for pods in (*option.pods, *a_context().pending))
        helped = keys_of(pods for option in _planned(expander, options) for pods in option.pods)
        assert helped <= waiting, f"it plans for {', '.join(sorted(helped - waiting))}, not one of the pods that wait"

    @requires(_plans)
    def test_a_plan_helps_each_pod_once(self, expander: Expander, options: Sequence[Option]) -> None:
        """No pod is helped by two options of a plan."""
        times = Counter(key for option in _planned(expander, options) for pods in option.pods for key in pods.keys)
        twice = [key for key, count in times.items() if count > 1]
        assert not twice, f"it plans for {', '.join(twice)} more than once"

    @requires(_plans)
    def test_a_plan_holds(self, expander: Expander, options: Sequence[Option]) -> None:
        """The pods of a plan find places on its nodes, put there set by set and first fit."""
        made = [option for option in _planned(expander, options) if option.group.id in names(options)]
        with asked(a_context()) as context:
            ordered = [(option, context.simulation.add_nodes(option.group, max(0, option.nodes))) for option in made]
            left = homeless(context.simulation, [(pods, nodes) for option, nodes in ordered for pods in option.pods])
        told = ", ".join(f"{option.nodes} nodes of {option.group.id}" for option in made)
        assert not left, f"it plans {told}, where there is no place for {', '.join(left)}"


def _planned(expander: Expander, options: Sequence[Option]) -> list[Option]:
    """The plan for *options*; skips the test if there is none."""
    made = plan(expander, options)
    if made is None:
        pytest.skip(f"the expander made no plan of {names(options)}: override the fixture `options`")
    return made


def _nodes(options: Sequence[Option]) -> Counter[str]:
    nodes: Counter[str] = Counter()
    for option in options:
        nodes[option.group.id] += option.nodes
    return nodes
