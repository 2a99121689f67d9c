"""Metrics of loops: durations, counts and errors, and the formats they are served in."""

from dataclasses import replace

import pytest
from nodewright import __version__
from nodewright.api import Decision, Outcome
from nodewright.api.errors import (
    AccessDeniedError,
    ApiServerError,
    CloudUnavailableError,
    ConfigurationError,
    GroupNotFoundError,
    PluginError,
    Problem,
)
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group
from nodewright.testing.worlds import a_world
from prometheus_client.parser import text_string_to_metric_families

CA = "cluster_autoscaler_"


def counted(watcher, name):
    return {key: value for key, value in watcher.of(CA + name).items() if value}


def test_durations_of_parts_of_a_loop_are_shown_as_histogram_and_quantiles(watcher) -> None:
    for seconds in (0.05, 0.2, 4.0):
        watcher.metrics.took({"scaleUp": seconds})
    buckets = watcher.of(CA + "function_duration_seconds_bucket")
    assert len(buckets) == 151
    assert (buckets["function=scaleUp,le=0.1"], buckets["function=scaleUp,le=+Inf"]) == (1, 3)
    found = watcher.of(CA + "function_duration_quantile_seconds")
    assert found == {
        "function=scaleUp,quantile=0.5": 0.2,
        "function=scaleUp,quantile=0.9": 4.0,
        "function=scaleUp,quantile=0.99": 4.0,
    }
    assert watcher.of(CA + "function_duration_quantile_seconds_count") == {"function=scaleUp": 3}
    assert watcher.of(CA + "function_duration_quantile_seconds_sum") == {"function=scaleUp": 4.25}


def test_what_takes_long_is_logged_but_for_the_wait_between_loops(watcher, caplog) -> None:
    with caplog.at_level("INFO"):
        watcher.metrics.took({"scaleUp": 4.9, "findUnneeded": 6.04, "loopWait": 10.0})
    assert caplog.messages == ["findUnneeded took 6.0 s"]


def test_quantiles_are_of_the_last_hour_and_totals_of_all_time(watcher, monkeypatch) -> None:
    now = 1000.0
    monkeypatch.setattr("nodewright.serve.metrics.loop.monotonic", lambda: now)
    watcher.metrics.took({"scaleUp": 4.0})
    now += 3601
    watcher.metrics.took({"scaleUp": 1.0})
    assert set(watcher.of(CA + "function_duration_quantile_seconds").values()) == {1.0}
    assert watcher.of(CA + "function_duration_quantile_seconds_count") == {"function=scaleUp": 2}


def test_the_last_start_of_each_activity_is_shown(watcher) -> None:
    watcher.metrics.begin_loop()
    assert set(watcher.of(CA + "last_activity")) == {"activity=main"}
    watcher.metrics.took({"scaleUp": 0.1, "findUnneeded": 0.1})
    watcher.metrics.end_loop(0.3)
    found = watcher.of(CA + "last_activity")
    assert found.keys() == {
        f"activity={each}" for each in ("main", "autoscaling", "scaleUp", "scaleDown", "mainSuccessful")
    }
    assert set(found.values()) == {EPOCH.timestamp()}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ApiServerError("x"), "apiCallError"),
        (AccessDeniedError("x"), "apiCallError"),
        (CloudUnavailableError("x"), "transientError"),
        (ConfigurationError(Problem(message="x")), "configurationError"),
        (GroupNotFoundError("x"), "nodeGroupDoesNotExistError"),
        (PluginError("fake", "x"), "cloudProviderError"),
        (ZeroDivisionError(), "internalError"),
    ],
)
def test_what_ends_a_loop_is_counted_by_type(watcher, error, kind) -> None:
    watcher.metrics.begin_loop()
    watcher.metrics.note_failure(error)
    assert counted(watcher, "errors_total") == {f"type={kind}": 1}
    assert watcher.of(CA + "function_duration_seconds_count") == {"function=main": 1}
    assert "activity=mainSuccessful" not in watcher.of(CA + "last_activity")


def test_failures_of_one_type_count_once_in_a_loop(watcher) -> None:
    failed = [
        Outcome(at=EPOCH, action=action, target="x", ok=False)
        for action in ("grow", "delete-instances", "drain", "evict")
    ]
    sick = a_world(groups=[replace(a_group("a"), error="no answer")])
    for _ in range(2):
        watcher.metrics.begin_loop()
        watcher.note(Decision(at=EPOCH), world=sick)
        watcher.metrics.note_outcomes(tuple(failed))
    assert counted(watcher, "errors_total") == {"type=cloudProviderError": 2, "type=apiCallError": 2}


def test_what_may_be_counted_is_there_from_the_start(watcher) -> None:
    assert len(watcher.of(CA + "errors_total")) == 7
    assert set(watcher.of(CA + "evicted_pods_total")) == {"eviction_result=succeeded", "eviction_result=failed"}
    assert len(watcher.of(CA + "skipped_scale_events_count")) == 4
    reasons = [key.rpartition("=")[2] for key in watcher.of(CA + "failed_scale_ups_total")]
    assert reasons == ["cloudProviderError", "apiCallError", "timeout"]
    assert watcher.of(CA + "created_node_groups_total") == {"group_type=": 0}
    assert watcher.of(CA + "scaled_up_nodes_total") == {"dra_drivers=,gpu_name=,gpu_resource_name=": 0}


def test_the_process_tells_its_version_whether_it_leads_and_what_it_can_not_keep_up_with(watcher) -> None:
    process = watcher.metrics.process
    (version,) = watcher.of("nodewright_build_info")
    assert version.endswith(f"version={__version__}")
    assert watcher.of("nodewright_leader") == {"": 1}
    process.leading = lambda: False
    process.troubles = lambda: {"pods": "", "nodes": "forbidden"}
    assert watcher.of("nodewright_leader") == {"": 0}
    process.leading = None
    assert watcher.of("nodewright_leader") == {}
    assert watcher.of("nodewright_watch_trouble") == {"kind=pods": 0, "kind=nodes": 1}
    assert watcher.of("process_resident_memory_bytes")[""] > 1e6


def test_a_scrape_sees_gauges_of_one_loop_only(watcher) -> None:
    watcher.note(Decision(at=EPOCH), world=a_world(groups=[a_group("a")]))
    seen = {}
    for family in watcher.metrics.registry.collect():
        if family.name == CA + "cluster_safe_to_autoscale":
            watcher.note(Decision(at=EPOCH))
        seen[family.name] = [sample.value for sample in family.samples]
    assert seen[CA + "max_nodes_count"] == [10]
    assert watcher.of(CA + "max_nodes_count") == {"": 0}


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "text/plain; version=0.0.4"),
        ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "text/plain"),
        ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", "application/openmetrics-text; version=1.0.0"),
    ],
)
def test_the_format_is_the_one_that_is_asked_for(watcher, accept, kind) -> None:
    text, content_type = watcher.metrics.exposition(accept)
    assert content_type.startswith(kind)
    assert text.endswith(b"# EOF\n") == ("openmetrics" in kind)


def test_creation_times_of_counters_have_no_series(watcher) -> None:
    assert "_created" not in watcher.metrics.render().decode().replace("created_node_groups", "")
    assert list(text_string_to_metric_families(watcher.metrics.render().decode()))
