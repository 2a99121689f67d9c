"""``nodewright conformance`` against the account that ``python -m nodewright_aws.testing`` serves."""

import json
import textwrap

import pytest
from nodewright.cli.main import main
from nodewright.testing.conformance.live import run as live_run
from nodewright_aws.groups.node_group import AwsNodeGroup
from nodewright_aws.testing import AwsDouble
from nodewright_aws.testing.__main__ import fill, guide


@pytest.fixture(scope="module")
def _double():
    with AwsDouble() as double:
        yield double


@pytest.fixture
def double(_double, monkeypatch):
    _double.reset()
    fill(_double, boot=0)
    for name, value in _double.environment.items():
        monkeypatch.setenv(name, value)
    return _double


@pytest.fixture
def conformance(double, tmp_path, capsys, monkeypatch):
    """Runs the command as the guide tells; returns exit status, both outputs and the report."""
    text = guide(double)
    config, report = tmp_path / "aws.yaml", tmp_path / "report.json"
    config.write_text(textwrap.dedent(text[text.index("  apiVersion") : text.index("Check the provider")]))

    def run(*words, rules):
        # All of them take a while: each begins with providers of its own, as after a restart.
        monkeypatch.setattr(live_run, "_OPTIONS", (*live_run._OPTIONS, "-k", rules))
        status = main(["conformance", "--provider", "aws", "--config", str(config), "--report", str(report), *words])
        told = capsys.readouterr()
        return status, told.out, told.err, json.loads(report.read_text()) if report.exists() else None

    return run


CHANGES = {"set_desired_capacity", "terminate_instance_in_auto_scaling_group", "update_auto_scaling_group"}


def test_reading_an_account_breaks_no_rule_and_changes_nothing(double, conformance) -> None:
    status, out, err, report = conformance(rules="show or twice")
    assert (status, err) == (0, "")
    assert out.startswith("reads the groups of aws, above all spot, and changes nothing\n")
    assert "passed   templates show the well known labels" in out
    assert report["summary"]["failed"] == 0
    assert report["distribution"].startswith("nodewright-aws ")
    assert CHANGES.isdisjoint(operation for _, operation in double.calls)


def test_a_run_that_is_interrupted_while_the_group_grows_sets_it_back(double, conformance, monkeypatch) -> None:
    increase = AwsNodeGroup.increase

    def interrupted(self, count):
        monkeypatch.setattr(AwsNodeGroup, "increase", increase)
        increase(self, count)
        raise KeyboardInterrupt

    monkeypatch.setattr(AwsNodeGroup, "increase", interrupted)
    before = [machine.id for machine in double.machines("web")]
    status, _, err, report = conformance(
        "--full", "--group", "web", "--yes", "--poll", "10ms", "--timeout", "30s", rules="increase"
    )
    assert status == 130
    assert err.splitlines() == [
        "interrupted: please wait until the group has its size back",
        "nodewright conformance: interrupted: not all rules were tried",
    ]
    assert (report["mode"], report["interrupted"]) == ("full", True)
    assert [machine.id for machine in double.machines("web")] == before
    assert double.calls["autoscaling", "set_desired_capacity"] == 1


def test_a_right_that_is_missing_is_named(double, conformance) -> None:
    double.faults.deny("autoscaling:describe_auto_scaling_groups")
    status, out, err, _ = conformance(rules="")
    assert (status, out) == (2, "")
    assert err.startswith("nodewright conformance: aws can't be read: AWS does not allow ")
    assert "autoscaling:DescribeAutoScalingGroups" in err
    assert double.environment["AWS_SECRET_ACCESS_KEY"] not in err
