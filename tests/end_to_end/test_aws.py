"""The real loop with groups of AWS: growth from zero, stock-outs, removals, and others who change the groups."""

import json
from contextlib import ExitStack

import pytest
from nodewright.api import Taint
from nodewright.testing.clock import SteppedClock
from nodewright_aws.testing import AwsDouble
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.aws_world import OURS, TEMPLATE, AwsLife
from tests.end_to_end.rights import Rights
from tests.end_to_end.scenarios import a_deployment

QUICK = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s}"
NEVER = "scaleDown: {enabled: false}"


@pytest.fixture(scope="module")
def clocks():
    """The clock of the moment, as the double lives longer than a world."""
    return Clocks()


class Clocks:
    """A clock that stands for that of the present test."""

    def __init__(self):
        self.present = SteppedClock()

    def now(self):
        return self.present.now()

    def wait(self, event, timeout):
        return self.present.wait(event, timeout)


@pytest.fixture(scope="module")
def served(clocks):
    with AwsDouble(clock=clocks) as double:
        yield double


@pytest.fixture
def begin(served, clocks, monkeypatch, tmp_path):
    """Begins the life of a cluster on AWS with deployments; it ends with the test."""
    rights = Rights()
    served.reset()
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:

        def start(*deployments, settings=NEVER):
            scenario = {
                "zones": ["eu-west-1a", "eu-west-1b"],
                "instanceTypes": {"none": {"cpu": 1, "memory": "1Gi", "price": 1}},
                "workloads": {"deployments": deployments or [a_deployment(replicas=0)]},
            }
            clocks.present = SteppedClock()
            world = stack.enter_context(World(parse_scenario(json.dumps(scenario)), clocks.present))
            world.api_server.authorize = rights.authorize
            return AwsLife(world, served, settings, 0, {}, stack, tmp_path)

        yield start
    assert rights.refused == set()


def told(life):
    return "\n".join(life.diary.lines)


def test_a_group_grows_from_zero_by_its_tags(begin):
    life = begin(
        a_deployment(
            "model",
            replicas=2,
            nodeSelector={"team": "ml"},
            tolerations=[{"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}],
            requests={"nvidia.com/gpu": "1"},
        )
    )
    life.make_group("plain")
    life.make_group(
        "gpu",
        instance_type="g4dn.xlarge",
        labels={"team": "ml"},
        taints=[Taint(key="dedicated", value="ml", effect="NoSchedule")],
    )

    life.until(lambda: len(life.pods("Running")) == 2)

    assert life.sizes() == {"gpu": 2}
