"""Alert rules and the dashboard work; that what they ask for is told, end-to-end tests show."""

import json
import re
import shutil
import subprocess

import pytest
import yaml
from nodewright.api.reasons import Reason

from tests.deploy.conftest import ROOT, only
from tests.deploy.queries import ALERTS, DASHBOARD, panels, queries, rules

PROMTOOL = shutil.which("promtool")


def test_the_reasons_that_are_asked_for_exist() -> None:
    asked = {
        word for query in queries() for some in re.findall(r'reason=~"([^"]+)"', query) for word in some.split("|")
    }
    assert asked
    assert asked <= {reason.value for reason in Reason}


def test_every_alert_says_what_is_the_matter_and_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["alert"].startswith("Nodewright")
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert set(rule["annotations"]) == {"summary", "description"}
        assert all(text.endswith(".") for text in rule["annotations"].values())


def test_the_chart_brings_the_rules_as_they_are(render) -> None:
    values = "cloudProvider: fake\nprometheusRule: {enabled: true, interval: 30s}"
    groups = only(render(values), "PrometheusRule")["spec"]["groups"]
    assert [rule for group in groups for rule in group["rules"]] == rules()
    assert {group["interval"] for group in groups} == {"30s"}


def test_the_chart_brings_the_dashboard_as_it_is(render) -> None:
    config_map = only(render("cloudProvider: fake\ndashboards: {enabled: true}"), "ConfigMap", "-dashboard")
    assert config_map["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(config_map["data"]["nodewright.json"]) == json.loads(DASHBOARD.read_text())


def test_panels_have_a_place_of_their_own_and_say_what_they_show() -> None:
    places = [panel["gridPos"] for panel in json.loads(DASHBOARD.read_text())["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert all(panel["title"] and panel["description"] for panel in panels())


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
def test_prometheus_takes_the_rules_and_they_fire_when_they_should(tmp_path) -> None:
    for file in (ALERTS, ROOT / "tests/deploy/alerts.test.yaml"):
        shutil.copy(file, tmp_path)
    checks = [["check", "rules", ALERTS.name], ["test", "rules", "alerts.test.yaml"]]
    for check in checks:
        done = subprocess.run([PROMTOOL, *check], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian: prometheus)")
def test_prometheus_can_read_every_query_of_the_dashboard(tmp_path) -> None:
    asked = [each["expr"].replace("$job", "nodewright") for panel in panels() for each in panel["targets"]]
    records = [{"record": f"panel:{index}", "expr": query} for index, query in enumerate(asked)]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": records}]}))
    done = subprocess.run([PROMTOOL, "check", "rules", "--lint=none", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(asked)} rules found" in done.stdout
