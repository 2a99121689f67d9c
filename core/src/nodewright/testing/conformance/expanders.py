"""The conformance suite of expanders."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from nodewright.api import (
    Expander,
    GroupFacts,
    NodeTemplate,
    Option,
    PlacementRule,
    PodSet,
    Resources,
    Simulation,
    Verdict,
)
from nodewright.testing.conformance.offers import (
    Unknown,
    a_context,
    asked,
    at_price,
    best,
    names,
    plan,
    twins,
    ways_to_grow,
    with_template,
)
from nodewright.testing.conformance.plans import PlanConformance
from nodewright.testing.conformance.strategy import left_alone, reborn
from nodewright.testing.conformance.suite import requires

#: How many turns are tried.
_TURNS = 8


def _answers_by_itself(request: pytest.FixtureRequest) -> str:
    expander: Expander = request.getfixturevalue("expander")
    return "the expander asks outside, where the answer may be another the next time" if expander.asks_outside else ""


def _reads_a_config_map(request: pytest.FixtureRequest) -> str:
    expander: Expander = request.getfixturevalue("expander")
    return "" if expander.config_map else "the expander reads no ConfigMap"


class ExpanderConformance(PlanConformance):
    """All that the core relies on in an expander. A subclass overrides the fixture ``expander``."""

    @pytest.fixture
    def options(self) -> Sequence[Option]:
        """Ways to grow of which at least one is acceptable.

        Override it where your expander goes by something that these lack.
        """
        return ways_to_grow()

    @pytest.fixture
    def twins(self) -> Sequence[Option]:
        """Options that are equally good. Override it where your expander goes by the names of groups."""
        return twins()

    def test_the_answer_is_made_of_the_options(self, expander: Expander, options: Sequence[Option]) -> None:
        """`best` returns options that it was given, as they are, each at most once."""
        given = {id(option) for option in options}
        answer = best(expander, options)
        for option in answer:
            assert id(option) in given, f"{option!r} is not one of the options that it was given"
            given.remove(id(option))

    def test_the_answer_is_in_order(
        self, expander: Expander, options: Sequence[Option], twins: Sequence[Option]
    ) -> None:
        """`best` returns options in the order in which they were given."""
        for given in (list(options), list(twins), at_price(0.1, options)):
            for offered in (given, given[::-1]):
                answer = names(best(expander, offered))
                order = [group for group in names(offered) if group in answer]
                assert answer == order, f"of {names(offered)} it returned {answer}"

    def test_something_is_chosen(self, expander: Expander, options: Sequence[Option]) -> None:
        """Of acceptable options at least one is kept: an empty answer means no growth at all."""
        assert best(expander, options), f"of {names(options)} it found none acceptable, so nothing would grow"

    def test_a_single_option_is_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """The first expander of a chain is asked even if there is only one option: it takes it, or refuses it."""
        for option in options:
            assert names(best(expander, [option])) in ([], [option.group.id])

    @requires(_answers_by_itself)
    def test_the_same_question_gets_the_same_answer(self, expander: Expander, options: Sequence[Option]) -> None:
        """Asked again at once, it answers the same: chance comes from the context, time too."""
        first, again = (_answer(expander, options) for _ in range(2))
        assert first == again, f"of {names(options)} it chose {first} at first and {again} when asked again"

    @requires(_answers_by_itself)
    def test_what_it_was_asked_before_makes_no_difference(
        self, expander: Expander, options: Sequence[Option], twins: Sequence[Option]
    ) -> None:
        """One that has chosen before answers like one that has not: nothing is kept between calls."""
        for earlier in (options[:2], options[1:], twins, at_price(0.1, options)):
            _answer(expander, earlier)
        experienced, fresh = _answer(expander, options), _answer(reborn(expander), options)
        assert experienced == fresh, f"of {names(options)} it chose {experienced} after other questions, else {fresh}"

    @requires(_answers_by_itself)
    def test_the_order_of_options_makes_no_difference(self, expander: Expander, options: Sequence[Option]) -> None:
        """Whichever way round the options come, the same groups are chosen."""
        forth, back = best(expander, options), best(expander, options[::-1])
        assert set(names(forth)) == set(names(back)), f"{names(forth)} became {names(back)} in the opposite order"

    @requires(_answers_by_itself)
    def test_equals_tie_or_take_turns(self, expander: Expander, twins: Sequence[Option]) -> None:
        """Options that are equally good are all kept, or one is taken by `ExpanderContext.whose_turn`."""
        taken = {group for turn in range(_TURNS) for group in names(best(expander, twins, a_context(seed=turn)))}
        assert taken == set(names(twins)), (
            f"{names(twins)} are equally good, but in {_TURNS} turns it took only {taken}"
        )

    def test_what_it_is_given_stays_as_it_is(self, expander: Expander, options: Sequence[Option]) -> None:
        """Neither options nor context are changed."""
        given, context = list(options), a_context(config_maps={"settings": {"key": "value"}})
        known = {"the options": given, "config_maps": context.config_maps, "the pending pods": list(context.pending)}
        with left_alone(known), asked(context):
            expander.plan(given, context)
            expander.best(given, context)

    def test_what_is_tried_is_tried_in_a_fork(self, expander: Expander, options: Sequence[Option]) -> None:
        """Nodes and pods are added to the simulation in forks of it, which are taken back."""
        simulation = a_context().simulation
        watched = Watched(simulation)
        context = replace(a_context(), simulation=watched)
        with simulation.fork():
            expander.plan(list(options), context)
            expander.best(list(options), context)
        assert not watched.changes, f"it called {' and '.join(watched.changes)} outside of simulation.fork()"

    def test_unknown_prices_are_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """Some groups, or all, may have no price, and the prices of pods may be unknown."""
        _, *others = options
        unpriced = at_price(None, options)
        for offered in ([*unpriced[:1], *others], unpriced):
            _assert_chosen_from(offered, best(expander, offered, a_context(pricing={"fake": Unknown()})))

    def test_a_provider_without_prices_is_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """There is no pricing of the groups' provider in the context."""
        _assert_chosen_from(options, best(expander, options, a_context(pricing={})))

    def test_free_nodes_are_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """A price may be zero."""
        free = at_price(0.0, options)
        _assert_chosen_from(free, best(expander, free))

    def test_a_group_without_a_template_is_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """A group may have no template."""
        first, *others = options
        offered = [with_template(None, first), *others]
        _assert_chosen_from(offered, best(expander, offered))

    def test_a_template_that_says_little_is_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """A template may have neither labels nor any of the usual resources."""
        nothing: Resources = {}
        bare = NodeTemplate(capacity=nothing, allocatable=nothing)
        first, *others = options
        offered = [with_template(bare, first), *others]
        _assert_chosen_from(offered, best(expander, offered))

    def test_a_cluster_without_a_limit_is_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """The room of the cluster is None where only the groups have limits."""
        context = a_context(room=None)
        plan(expander, options, context)
        _assert_chosen_from(options, best(expander, options, context))

    @requires(_reads_a_config_map)
    def test_a_missing_config_map_is_no_error(self, expander: Expander, options: Sequence[Option]) -> None:
        """The ConfigMap that it wants to read may not be there, or be empty, or hold anything."""
        name, nonsense = expander.config_map, {"nonsense": "{[:"}
        contents: tuple[Mapping[str, Mapping[str, str]], ...] = ({}, {name: {}}, {name: nonsense})
        for config_maps in contents:
            _assert_chosen_from(options, best(expander, options, a_context(config_maps=config_maps)))


def _answer(expander: Expander, options: Sequence[Option]) -> object:
    """What *expander* makes of *options*, to be compared: its plan, and whom it keeps without one."""
    planned = [(option.group.id, option.nodes) for option in plan(expander, options) or ()]
    return planned, names(best(expander, options))


def _assert_chosen_from(options: Sequence[Option], answer: Sequence[Option]) -> None:
    assert set(names(answer)) <= set(names(options)), f"of {names(options)} it returned {names(answer)}"


class Watched:
    """Implements `nodewright.api.Simulation` on another one; *changes* are the calls outside of forks."""

    def __init__(self, simulation: Simulation) -> None:
        self.changes: list[str] = []
        self._simulation = simulation
        self._forks = 0

    @contextmanager
    def fork(self) -> Iterator["Watched"]:
        """As the other's; what happens in it is no change."""
        self._forks += 1
        with self._simulation.fork():
            try:
                yield self
            finally:
                self._forks -= 1

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """As the other's."""
        self._note("add_nodes()")
        return self._simulation.add_nodes(group, count)

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> Mapping[str, str]:
        """As the other's."""
        self._note("place()")
        return self._simulation.place(pods, on=on)

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """As the other's."""
        return self._simulation.why_not(pods, node)

    def rules(self, pods: PodSet) -> Sequence[PlacementRule]:
        """As the other's."""
        return self._simulation.rules(pods)

    def free(self, node: str) -> Resources:
        """As the other's."""
        return self._simulation.free(node)

    def _note(self, call: str) -> None:
        if not self._forks and call not in self.changes:
            self.changes.append(call)
