"""The real loop with groups of Google Cloud: growth from zero, stock-outs, removals, and others who change the groups."""

import json
from contextlib import ExitStack

import pytest
from nodewright.api import Taint
from nodewright.testing.clock import SteppedClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World
from nodewright_gce.testing import GceDouble

from tests.end_to_end.gce_world import BOOTS, STOPS, ZONES, GceLife
from tests.end_to_end.rights import Rights
from tests.end_to_end.scenarios import a_deployment
from tests.end_to_end.test_aws import Clocks

QUICK = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s}"
NEVER = "scaleDown: {enabled: false}"
BY_NAME = "scaleUp: {expanders: [{priority: {priorities: {30: [first], 20: [second], 10: [third]}}}]}"


@pytest.fixture(scope="module")
def clocks():
    """The clock of the moment, as the double lives longer than a world."""
    return Clocks()


@pytest.fixture(scope="module")
def served(clocks):
    with GceDouble(clock=clocks) as double:
        yield double


@pytest.fixture
def begin(served, clocks, monkeypatch, tmp_path):
    """Begins the life of a cluster on Google Cloud with deployments; it ends with the test."""
    rights = Rights()
    served.reset()
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:

        def start(*deployments, settings=NEVER):
            scenario = {
                "zones": ZONES,
                "instanceTypes": {"none": {"cpu": 1, "memory": "1Gi", "price": 1}},
                "workloads": {"deployments": deployments or [a_deployment(replicas=0)]},
            }
            clocks.present = SteppedClock()
            world = stack.enter_context(World(parse_scenario(json.dumps(scenario)), clocks.present))
            world.api_server.authorize = rights.authorize
            return GceLife(world, served, settings, 0, {}, stack, tmp_path)

        yield start
    assert rights.refused == set()


def told(life):
    return "\n".join(life.diary.lines)


def test_a_group_grows_from_zero_by_its_template(begin) -> None:
    life = begin(
        a_deployment(
            "model",
            replicas=2,
            nodeSelector={"team": "ml"},
            tolerations=[{"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}],
            requests={"nvidia.com/gpu": "1"},
        )
    )
    life.make_mig("prod-plain")
    life.make_mig(
        "prod-gpu",
        machine_type="a2-highgpu-1g",
        labels={"team": "ml"},
        taints=[Taint(key="dedicated", value="ml", effect="NoSchedule")],
    )

    life.until(lambda: len(life.pods("Running")) == 2)

    assert life.sizes() == {"prod-gpu": 2}
    assert len(life.created) == len(set(life.created)) == 2
