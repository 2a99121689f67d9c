"""Worlds on the stepped clock."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

CLOUD = """
zones: [eu-a, eu-b]
instanceTypes:
  c5.large: {cpu: 2, memory: 4Gi, price: 0.1, spotPrice: 0.04}
groups:
  - {name: base, zone: eu-a, instanceType: c5.large, min: 1, max: 3}
  - {name: burst, zone: eu-b, instanceType: c5.large, max: 10, bootTime: 30s..60s}
"""


@pytest.fixture
def world():
    """Make worlds out of the cloud above and more YAML; all are stopped at the end."""
    worlds = []

    def build(more="", *, clock=None, cloud=CLOUD, seed=7):
        world = World(parse_scenario(f"seed: {seed}\n{cloud}{more}"), clock or SteppedClock())
        worlds.append(world)
        return world

    yield build
    for world in worlds:
        world.stop()
