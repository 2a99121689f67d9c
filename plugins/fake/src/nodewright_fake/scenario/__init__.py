"""Scenarios: a fake world written down as YAML."""

from nodewright_fake.scenario.load import load_scenario, parse_scenario
from nodewright_fake.scenario.scenario import Scenario

__all__ = ["Scenario", "load_scenario", "parse_scenario"]
