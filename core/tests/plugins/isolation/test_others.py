"""Hooks, prices and metrics of plugins in processes of their own."""

import threading
from datetime import timedelta

import pytest
from nodewright.api import Decision, ProviderContext
from nodewright.plugins import Faults, Hooks
from nodewright.testing import EPOCH, FastClock, SteppedClock, a_group, a_node, a_template
from prometheus_client import CollectorRegistry, generate_latest

HOOKS = """
    import threading
    from prometheus_client import Counter
    from nodewright.api import *

    class Watcher(Plugin):
        api_version = 1
        pod_annotations = frozenset({"example.com/team"})

        def __init__(self, config):
            super().__init__(config)
            self.decisions = Counter("nodewright_watcher_decisions", "How many.", ["kind"], registry=None)

        def collectors(self):
            return [self.decisions]

        @hookimpl(specname="veto_scale_down", tryfirst=True)
        def keep(self, node, now):
            return f"on {threading.current_thread() is threading.main_thread()} at {now:%H:%M}: {node.name}"

        @hookimpl
        def adjust_candidates(self, nodes):
            return [node for node in nodes if node.metadata.labels.get("keep") != "yes"]

        @hookimpl
        def on_decision(self, decision):
            self.decisions.labels("any").inc()
            if decision.groups:
                raise LookupError("groups")

    class List(Prices):
        api_version = 1
        currency = "CHF"

        def node_price(self, template, start, end):
            return template.capacity["cpu"] / 1000

        def pod_price(self, pod, start, end):
            return None

    class Group(NodeGroup):
        id = ""
        min_size = max_size = target_size = 0
        barrier = threading.Barrier(2)

        def __init__(self, id):
            self.id = id

        def instances(self):
            return ()

        def increase(self, count):
            self.barrier.wait(10)

        delete_nodes = decrease_target = increase

    class Timer(Provider):
        api_version = 1
        both = (Group("one"), Group("two"))

        def refresh(self):
            done = threading.Event()
            self.context.clock.wait(done, 5)
            own = threading.Thread(target=lambda: self.context.clock.wait(done, 5))
            own.start()
            own.join()

        def groups(self):
            return self.both

        def group_of(self, node):
            return None
"""


@pytest.fixture
def others(install, isolate):
    install("acme", {"hooks/watcher": "Watcher", "prices/list": "List", "providers/timer": "Timer"}, HOOKS)
    return isolate


@pytest.fixture
def watcher(others):
    return others("hooks", "watcher")


@pytest.fixture
def hooks(watcher):
    faults = Faults(SteppedClock())
    hooks = Hooks(faults)
    hooks.register("watcher", watcher)
    return hooks


def test_what_it_declares_comes_over(watcher) -> None:
    assert watcher.pod_annotations == {"example.com/team"}


def test_hooks_are_called_there(hooks) -> None:
    veto = hooks.veto_scale_down(a_node("one"), a_group(), EPOCH)
    assert str(veto) == "watcher: on True at 00:00: one"


def test_what_hooks_leave_are_the_very_nodes_that_they_were_given(hooks) -> None:
    nodes = [a_node("one"), a_node("two", labels={"keep": "yes"}), a_node("three")]
    left = hooks.adjust_candidates(nodes, EPOCH)
    assert [node is given for node, given in zip(left, (nodes[0], nodes[2]), strict=True)] == [True, True]


def test_metrics_are_collected_there(watcher, hooks) -> None:
    served = CollectorRegistry()
    for collector in watcher.collectors():
        served.register(collector)
    hooks.on_decision(Decision(at=EPOCH))
    hooks.on_decision(Decision(at=EPOCH))
    assert 'nodewright_watcher_decisions_total{kind="any"} 2.0' in generate_latest(served).decode()


def test_prices_of_a_plugins_own_come_over(others) -> None:
    prices = others("prices", "list")
    assert prices.currency == "CHF"
    assert prices.node_price(a_template(cpu="4"), EPOCH, EPOCH + timedelta(hours=1)) == 4


def test_a_simulated_clock_is_the_same_everywhere(others) -> None:
    clock = FastClock(1000)
    timer = others("providers", "timer", {}, ProviderContext(clock=clock))
    began = clock.now()
    timer.refresh()
    assert clock.now() - began >= timedelta(seconds=10)


def test_actions_of_several_groups_run_at_once(others) -> None:
    timer = others("providers", "timer", {}, ProviderContext(clock=FastClock(1000)))
    timer.refresh()
    both = [threading.Thread(target=group.increase, args=(1,)) for group in timer.groups()]
    for each in both:
        each.start()
    for each in both:
        each.join(10)
    assert not any(each.is_alive() for each in both)
