"""The README tells of every key and every action, and what it shows works."""

import re
from pathlib import Path

import pytest
from nodewright_fake.cloud.actions import ACTIONS, CloudAction
from nodewright_fake.cloud.group import GroupSettings, OptionSettings
from nodewright_fake.cloud.instance_type import Gpu, InstanceType
from nodewright_fake.cloud.limits import Bounds
from nodewright_fake.provider.provider import FakeConfig
from nodewright_fake.scenario.scenario import ClockSettings, Scenario
from nodewright_fake.scenario.story import Delete, Scale, Step
from nodewright_fake.scenario.workloads import (
    BudgetSettings,
    DaemonSetSettings,
    DeploymentSettings,
    JobSettings,
    Workloads,
)

README = (Path(__file__).parents[2] / "README.md").read_text()
PROSE = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
SETTINGS = [
    *(Scenario, ClockSettings, InstanceType, Gpu, GroupSettings, OptionSettings, Bounds),
    *(Workloads, DeploymentSettings, DaemonSetSettings, JobSettings, BudgetSettings, Step, Scale, Delete),
    *(FakeConfig, *ACTIONS.values()),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: settings.__name__)
def test_every_key_is_explained(settings) -> None:
    quoted = " ".join(re.findall(r"`([^`]+)`", PROSE))
    keys = {field.alias or name for name, field in settings.model_fields.items()}
    assert keys <= set(re.findall(r"\w+", quoted))


def test_every_action_is_explained() -> None:
    assert set(ACTIONS) <= set(re.findall(r"`([\w-]+)`", PROSE))
    assert len(ACTIONS) == len(CloudAction.model_fields)


def test_the_example_of_a_test_works() -> None:
    [program] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names = {}
    exec(program, names)
    names["test_pods_run_on_new_machines"]()
