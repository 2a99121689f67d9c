"""What alert rules and the dashboard ask Prometheus for."""

import json

import yaml

from tests.deploy.conftest import CHART

ALERTS = CHART / "alerts/nodewright.yaml"
DASHBOARD = CHART / "dashboards/nodewright.json"


def rules():
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def panels():
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def queries():
    """All that rules and panels ask for."""
    return [rule["expr"] for rule in rules()] + [each["expr"] for panel in panels() for each in panel["targets"]]
