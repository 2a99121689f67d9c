"""``nodewright conformance`` against the project that ``python -m nodewright_gce.testing`` serves."""

import json
import textwrap

import pytest
from nodewright.cli.main import main
from nodewright.testing.conformance.live import run as live_run
from nodewright_gce.groups.node_group import GceNodeGroup
from nodewright_gce.testing import GceDouble
from nodewright_gce.testing.__main__ import fill, guide


@pytest.fixture(scope="module")
def _double():
    with GceDouble() as double:
        yield double


@pytest.fixture
def double(_double, monkeypatch):
    _double.reset()
    fill(_double, boot=0)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    for name, value in _double.environment.items():
        monkeypatch.setenv(name, value)
    return _double


@pytest.fixture
def conformance(double, tmp_path, capsys, monkeypatch):
    """Runs the command as the guide tells; returns exit status, both outputs and the report."""
    text = guide(double)
    config, report = tmp_path / "gce.yaml", tmp_path / "report.json"
    config.write_text(textwrap.dedent(text[text.index("  apiVersion") : text.index("Check the provider")]))

    def run(*words, rules):
        # All of them take a while: each begins with providers of its own, as after a restart.
        monkeypatch.setattr(live_run, "_OPTIONS", (*live_run._OPTIONS, "-k", rules))
        status = main(["conformance", "--provider", "gce", "--config", str(config), "--report", str(report), *words])
        told = capsys.readouterr()
        return status, told.out, told.err, json.loads(report.read_text()) if report.exists() else None

    return run


CHANGES = {"create_instances", "delete_instances", "resize", "insert", "cancel"}


def test_reading_a_project_breaks_no_rule_and_changes_nothing(double, conformance) -> None:
    status, out, err, report = conformance(rules="show or twice")
    assert (status, err) == (0, "")
    assert out.startswith(f"reads the groups of gce, above all {double.group_id('pool-gpu')}, and changes nothing\n")
    assert "passed   templates show the well known labels" in out
    assert report["summary"]["failed"] == 0
    assert report["distribution"].startswith("nodewright-gce ")
    assert CHANGES.isdisjoint(verb for _, verb in double.calls)


def test_a_group_that_may_be_resized_grows_shrinks_and_has_its_size_back(double, conformance) -> None:
    machines = {machine.name for machine in double.machines("pool-web")}
    status, _, err, report = conformance(
        *("--full", "--group", double.group_id("pool-web"), "--yes", "--poll", "10ms", "--timeout", "30s"),
        rules="deletion_lowers_the_target or several_machines_are_deleted",
    )
    assert (status, err) == (0, "")
    assert (report["mode"], report["summary"]["passed"], report["summary"]["failed"]) == ("full", 3, 0)
    assert double.calls["instance_group_managers", "create_instances"] >= 2
    assert double.calls["instance_group_managers", "delete_instances"] >= 2
    assert len(double.machines("pool-web")) == len(machines)


def test_a_run_that_is_interrupted_while_the_group_grows_sets_it_back(double, conformance, monkeypatch) -> None:
    increase = GceNodeGroup.increase

    def interrupted(self, count):
        monkeypatch.setattr(GceNodeGroup, "increase", increase)
        increase(self, count)
        raise KeyboardInterrupt

    monkeypatch.setattr(GceNodeGroup, "increase", interrupted)
    before = {machine.name for machine in double.machines("pool-web")}
    status, _, err, report = conformance(
        *("--full", "--group", double.group_id("pool-web"), "--yes", "--poll", "10ms", "--timeout", "30s"),
        rules="increase",
    )
    assert status == 130
    assert "interrupted: please wait until the group has its size back" in err.splitlines()
    assert (report["mode"], report["interrupted"]) == ("full", True)
    assert {machine.name for machine in double.machines("pool-web")} == before
    assert double.calls["instance_group_managers", "create_instances"] == 1


def test_a_right_that_is_missing_is_named(double, conformance) -> None:
    double.faults.deny("instance_group_managers:list")
    status, out, err, _ = conformance(rules="")
    assert (status, out) == (2, "")
    assert err.startswith("nodewright conformance: gce can't be read: ")
    assert "compute.instanceGroupManagers.list" in err
    assert double.secret not in err


def test_the_name_of_a_group_is_enough(double, conformance) -> None:
    status, _, err, report = conformance("--group", "pool-web", "--full", "--yes", rules="twice")
    assert (status, err) == (0, "")
    assert report["group"] == double.group_id("pool-web")
