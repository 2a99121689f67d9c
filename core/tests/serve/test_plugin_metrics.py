"""Metrics that plugins add."""

import pytest
from nodewright.plugins import Faults
from nodewright.serve.metrics import Metrics
from nodewright.testing.clock import SteppedClock
from prometheus_client import Counter, Metric
from prometheus_client.registry import Collector


class Broken(Collector):
    def collect(self):
        raise RuntimeError("no numbers today")


@pytest.fixture
def metrics():
    return Metrics(SteppedClock())


@pytest.fixture
def faults():
    return Faults(SteppedClock())


def calls():
    counter = Counter("shed_calls", "Calls of the shed.", registry=None)
    counter.inc(3)
    return counter


def test_metrics_of_plugins_are_served_beside_the_cores(metrics, faults) -> None:
    metrics.plugins.show({"shed": [calls()]}, faults)
    page = metrics.render().decode()
    assert "shed_calls_total 3.0\n" in page
    assert "nodewright_loop_seconds" in page


def test_a_provider_may_serve_what_cluster_autoscaler_served_for_its_cloud(metrics, faults) -> None:
    retries = Counter("cluster_autoscaler_shed_retries", "Second tries.", registry=None)
    metrics.plugins.show({"shed": [retries]}, faults)
    assert "cluster_autoscaler_shed_retries_total 0.0\n" in metrics.render().decode()
    assert faults.counts == {}


def test_what_several_instances_share_is_served_once(metrics, faults) -> None:
    shared = calls()
    metrics.plugins.show({"shed": [shared], "shed-2": [shared]}, faults)
    assert metrics.render().decode().count("shed_calls_total 3.0") == 1
    assert faults.counts == {}


def test_metrics_of_a_former_configuration_are_served_no_more(metrics, faults) -> None:
    metrics.plugins.show({"shed": [calls()]}, faults)
    metrics.plugins.show({}, faults)
    assert "shed_calls" not in metrics.render().decode()


def test_a_collector_that_raises_costs_its_own_metrics_only(metrics, faults) -> None:
    metrics.plugins.show({"broken": [Broken()], "shed": [calls()]}, faults)
    assert "shed_calls_total 3.0" in metrics.render().decode()
    assert faults.counts == {("broken", "collect"): 1}


@pytest.mark.parametrize("name", ["nodewright_loop_seconds", "cluster_autoscaler_skipped_pods_count", "shed_calls"])
def test_a_name_that_is_taken_is_left_out(name, metrics, faults) -> None:
    class Thief(Collector):
        def collect(self):
            return [Metric(name, "Stolen.", "counter")]

    metrics.plugins.show({"shed": [calls()], "thief": [Thief()]}, faults)
    assert "Stolen." not in metrics.render().decode()
    assert faults.counts == {("thief", "collect"): 1}
