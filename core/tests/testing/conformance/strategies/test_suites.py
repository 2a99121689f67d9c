"""The suites of strategies, tested themselves: for each rule there is a strategy that breaks just that one."""

import inspect
from types import MappingProxyType

import pytest
from nodewright.api import hookimpl
from nodewright.strategies.binpacking import Binpacking
from nodewright.testing.conformance.offers import ByCpu

from ..run import run
from . import (
    broken_drain_rules,
    broken_estimators,
    broken_expanders,
    broken_hooks,
    broken_prices,
    broken_processors,
    subjects,
)

SUBJECTS = "strategies/subjects.py"
#: By class of tests: one that keeps all rules, and those that break one each.
SUITES = {
    "TestExpander": (broken_expanders.Frugal, broken_expanders.BROKEN),
    "TestEstimator": (Binpacking, broken_estimators.BROKEN),
    "TestPendingPods": (broken_processors.Worthy, broken_processors.PENDING_PODS),
    "TestCandidates": (broken_processors.Ready, broken_processors.CANDIDATES),
    "TestPricing": (broken_prices.PriceList, broken_prices.BROKEN),
    "TestDrainRule": (broken_drain_rules.Batch, broken_drain_rules.BROKEN),
    "TestHooks": (broken_hooks.Curfew, broken_hooks.BROKEN),
}
CASES = [(suite, rule, broken) for suite, (_, table) in SUITES.items() for rule, broken in table.items()]


@pytest.mark.parametrize(("suite", "good"), [(suite, good) for suite, (good, _) in SUITES.items()])
def test_who_keeps_all_rules_passes(suite, good) -> None:
    assert run(good, f"{SUBJECTS}::{suite}") == {}


def test_prices_may_go_by_what_nodes_have() -> None:
    assert run(ByCpu, f"{SUBJECTS}::TestPricing") == {}


@pytest.mark.parametrize(("suite", "rule", "broken"), CASES, ids=lambda value: getattr(value, "__name__", value))
def test_who_breaks_a_rule_fails_just_its_test(suite, rule, broken) -> None:
    assert run(broken, f"{SUBJECTS}::{suite}").keys() == {rule}


@pytest.mark.parametrize("suite", SUITES)
def test_somebody_breaks_every_rule(suite) -> None:
    rules = {name for name, _ in inspect.getmembers(getattr(subjects, suite)) if name.startswith("test_")}
    assert rules == SUITES[suite][1].keys()


@pytest.mark.parametrize("suite", SUITES)
def test_every_rule_is_a_sentence(suite) -> None:
    tests = inspect.getmembers(getattr(subjects, suite), inspect.isfunction)
    rules = {name: inspect.getdoc(test) for name, test in tests if name.startswith("test_")}
    assert [name for name, rule in rules.items() if not (rule or "").rstrip().endswith(".")] == []


def test_changes_of_what_is_given_are_called_that_also_if_it_can_not_be_changed() -> None:
    class ReadOnly(broken_hooks.Curfew):
        @hookimpl
        def adjust_candidates(self, nodes):
            MappingProxyType({})["seen"] = "yes"

    messages = run(ReadOnly, f"{SUBJECTS}::TestHooks")
    assert messages.keys() == {"test_what_it_is_given_stays_as_it_is"}
    assert "adjust_candidates tried to change what it was given" in messages["test_what_it_is_given_stays_as_it_is"]


def test_a_strategy_that_can_not_change_what_it_is_given_is_told_of_it() -> None:
    class ReadOnly(broken_drain_rules.Batch):
        def judge(self, pod, context):
            MappingProxyType({})["seen"] = "yes"

    messages = run(ReadOnly, f"{SUBJECTS}::TestDrainRule")
    assert "tried to change what it was given, the pod" in messages["test_what_it_is_given_stays_as_it_is"]


def test_a_list_that_is_sorted_in_place_is_changed() -> None:
    messages = run(broken_hooks.SortsInPlace, f"{SUBJECTS}::TestHooks")
    assert "adjust_options changed options" in messages["test_what_it_is_given_stays_as_it_is"]
