"""The suites of strategies, tested themselves: for each rule there is a strategy that breaks just that one."""

import inspect
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

import pytest
from msgspec.structs import replace as changed
from nodewright.api import Estimate, PodSet, hookimpl
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
NAIVE = "creation_timestamp is a datetime, not a datetime with a time zone, such as datetime.now(UTC)"
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


class ReturnsNothing(broken_processors.Worthy):
    def process(self, pods, context):
        return None


class ReturnsPods(broken_processors.Worthy):
    def process(self, pods, context):
        return [same.pod for same in pods]


class ReturnsNaivePods(broken_processors.Worthy):
    def process(self, pods, context):
        return [PodSet(pod=naive(same.pod), keys=same.keys) for same in super().process(pods, context)]


class ReturnsNoNodes(broken_processors.Ready):
    def process(self, nodes, context):
        return {node.name: node for node in nodes}


class HalfANode(Binpacking):
    def estimate(self, group, pods, simulation, limit):
        return Estimate(nodes=0.5, pods=pods)


class OneOption(broken_expanders.Frugal):
    def best(self, options, context):
        return options[0]


class PriceTag(broken_prices.PriceList):
    def node_price(self, template, start, end):
        return "$0.10"


class ListOfFates(broken_drain_rules.Batch):
    def judge(self, pod, context):
        return []


class HalfAHook(broken_hooks.Curfew):
    @hookimpl
    def adjust_estimate(self, estimate):
        return Estimate(nodes=0.5, pods=estimate.pods)


class NaiveHook(broken_hooks.Curfew):
    @hookimpl
    def adjust_pending_pods(self, pods):
        return [replace(each, pod=naive(each.pod)) for each in pods]


class PodsHook(broken_hooks.Curfew):
    @hookimpl
    def adjust_pending_pods(self, pods):
        return [each.pod for each in pods]


class Complains(broken_hooks.Curfew):
    @hookimpl
    def adjust_options(self, options):
        raise ValueError("x" * 1000)


def naive(pod):
    return changed(pod, metadata=changed(pod.metadata, creation_timestamp=datetime(2024, 5, 13)))


@pytest.mark.parametrize(
    ("suite", "broken", "said"),
    [
        ("TestPendingPods", ReturnsNothing, "process returned None instead of a sequence of PodSet"),
        ("TestPendingPods", ReturnsPods, "process returned a sequence with a Pod in it instead of PodSet"),
        ("TestPendingPods", ReturnsNaivePods, f"process returned a PodSet whose pod.metadata.{NAIVE}"),
        ("TestCandidates", ReturnsNoNodes, "process returned a dict instead of a sequence of Node"),
        ("TestEstimator", HalfANode, "estimate returned an Estimate whose nodes is a float (0.5), not a whole number"),
        ("TestExpander", OneOption, "best returned an Option instead of a sequence of Option"),
        ("TestPricing", PriceTag, "returned what is text ('$0.10'), not a finite number"),
        ("TestDrainRule", ListOfFates, "judge returned a list instead of a PodFate, a reason or None"),
        ("TestHooks", HalfAHook, "adjust_estimate returned an Estimate whose nodes is a float (0.5)"),
        ("TestHooks", NaiveHook, f"returned a PodSet whose pod.metadata.{NAIVE}"),
        ("TestHooks", PodsHook, "adjust_pending_pods returned a sequence with a Pod in it instead of PodSet"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_answer_of_a_wrong_type_is_told_as_by_the_core(suite, broken, said) -> None:
    messages = run(broken, f"{SUBJECTS}::{suite}")
    assert messages
    assert [name for name, message in messages.items() if said not in message] == []


@pytest.mark.parametrize("broken", [Complains, broken_hooks.SortsInPlace])
def test_messages_about_hooks_do_not_show_whole_objects(broken) -> None:
    messages = run(broken, f"{SUBJECTS}::TestHooks")
    lines = [line for message in messages.values() for line in message.splitlines() if line.startswith("E ")]
    assert lines
    assert [line for line in lines if len(line) > 600] == []


def test_a_change_of_something_large_is_shown_where_it_is() -> None:
    class WritesOnTheLastNode(broken_hooks.Curfew):
        @hookimpl
        def adjust_candidates(self, nodes):
            notes = nodes[-1].metadata.annotations if nodes else {}
            if notes:
                # Round what would refuse it.
                dict.__setitem__(notes, "seen", "yes")

    messages = run(WritesOnTheLastNode, f"{SUBJECTS}::TestHooks")
    assert "'seen': 'yes'" in messages["test_what_it_is_given_stays_as_it_is"]


@pytest.mark.parametrize("suite", ["TestOwnPods", "TestOwnNodes", "TestOwnRunningPods"])
def test_what_a_strategy_is_asked_about_can_be_overridden(suite) -> None:
    seen = set()

    class Sees:
        def process(self, given, context):
            seen.update(getattr(each, "name", "") or each.pod.key for each in given)
            return super().process(given, context)

        def judge(self, pod, context):
            seen.add(pod.key)
            return super().judge(pod, context)

    base = {
        "TestOwnPods": broken_processors.Worthy,
        "TestOwnNodes": broken_processors.Ready,
        "TestOwnRunningPods": broken_drain_rules.Batch,
    }[suite]
    assert run(type("Seeing", (Sees, base), {}), f"{SUBJECTS}::{suite}") == {}
    assert any("my-own" in each for each in seen)


@pytest.mark.parametrize("suite", ["TestOwnPods", "TestOwnRunningPods"])
def test_annotations_that_are_not_declared_are_hidden(suite) -> None:
    found = {}

    class Sees:
        def process(self, given, context):
            found.update((key, value) for same in given for key, value in same.pod.metadata.annotations.items())
            return super().process(given, context)

        def judge(self, pod, context):
            found.update(pod.metadata.annotations)
            return super().judge(pod, context)

    base = {"TestOwnPods": broken_processors.Worthy, "TestOwnRunningPods": broken_drain_rules.Batch}[suite]
    assert run(type("Seeing", (Sees, base), {}), f"{SUBJECTS}::{suite}") == {}
    assert found == {"nodewright.dev/note": "seen"}


@pytest.mark.parametrize(
    ("suite", "base", "method"),
    [
        ("TestPendingPods", broken_processors.Worthy, "process"),
        ("TestDrainRule", broken_drain_rules.Batch, "judge"),
        ("TestHooks", broken_hooks.Curfew, "adjust_pending_pods"),
    ],
)
def test_some_pods_have_the_annotations_that_are_declared(suite, base, method) -> None:
    found, missing = set(), []

    def look(pod):
        declared = {key for key in pod.metadata.annotations if key.startswith("acme.dev/")}
        found.update(declared)
        missing.append(not declared)

    class Sees(base):
        pod_annotations = frozenset({"acme.dev/team", "acme.dev/"})

        def process(self, pods, context):
            for same in pods:
                look(same.pod)
            return super().process(pods, context)

        def judge(self, pod, context):
            look(pod)
            return super().judge(pod, context)

        @hookimpl
        def adjust_pending_pods(self, pods):
            for same in pods:
                look(same.pod)

    for other in {"process", "judge", "adjust_pending_pods"} - {method}:
        delattr(Sees, other)
    assert run(Sees, f"{SUBJECTS}::{suite}") == {}
    assert found == {"acme.dev/team", "acme.dev/example"}
    assert any(missing)
