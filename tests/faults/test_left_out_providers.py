"""A provider that can't be made is tried again, and health, status and explanations say so meanwhile."""

from datetime import timedelta
from itertools import pairwise

import pytest
import yaml
from nodewright.config.document import load
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.testing import SteppedClock
from nodewright.testing.distributions import Distributions
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.store import Store

LICENSED = """
    from pathlib import Path

    from nodewright.api import *
    from nodewright.testing import a_template

    class Group(NodeGroup):
        id, min_size, max_size, target_size = "licensed", 0, 5, 0

        def instances(self): return ()
        def template(self): return a_template(cpu="4")
        def increase(self, count): self.target_size += count
        def delete_nodes(self, nodes): pass
        def decrease_target(self, count): pass

    class LicensedConfig(PluginConfig):
        license: str

    class Licensed(Provider):
        Config = LicensedConfig
        capabilities = frozenset({Capability.SCALE_FROM_ZERO})
        members = (Group(),)

        def __init__(self, config, context):
            super().__init__(config, context)
            if not Path(config.license).exists():
                raise LookupError("no licence")

        def refresh(self): pass
        def groups(self): return self.members
        def group_of(self, node): return None
"""

WHY = "provider 'licensed' of licensed 1.0 can't be started: LookupError: no licence"


class Life:
    """An autoscaler whose only provider needs a licence that is not there yet."""

    def __init__(self, autoscaler, clock, license_file, store):
        self.autoscaler = autoscaler
        self.clock = clock
        self.license = license_file
        self.store = store

    def wait(self, seconds):
        self.clock.advance(seconds)
        return self.autoscaler.run_once()


@pytest.fixture
def life(tmp_path):
    clock = SteppedClock()
    license_file = tmp_path / "license"
    configuration = f"""
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [licensed: {{license: {license_file}}}]
loop: {{maxInactivity: 5m, maxFailingTime: 5m, maxStartupTime: 5m}}
"""
    with Distributions(tmp_path) as distributions, ApiServer(Store(clock)) as server:
        distributions.install("licensed", {"providers/licensed": "Licensed"}, LICENSED)
        settings = load(configuration, classes=Registry(), tolerant=True).settings
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(server.kubeconfig())
        autoscaler = Autoscaler(settings, connect(kubeconfig=str(kubeconfig)), clock)
        autoscaler.start()
        yield Life(autoscaler, clock, license_file, server.store)
        autoscaler.close()


def test_the_world_knows_why_a_provider_could_not_be_made(life) -> None:
    assert life.autoscaler.look().world.unreadable == {"licensed": WHY}


def test_the_status_says_why_a_provider_could_not_be_made(life) -> None:
    life.wait(0)
    life.autoscaler.deliver_events()
    (status,) = life.store.list("configmaps")
    assert yaml.safe_load(status["data"]["status"])["message"] == f"provider licensed can't be read: {WHY}"


def test_it_is_made_as_soon_as_it_can_be(life) -> None:
    life.wait(0)
    life.license.write_text("granted")
    life.wait(5)
    assert life.autoscaler.look().world.groups == ()
    life.wait(6)
    world = life.autoscaler.look().world
    assert [group.id for group in world.groups] == ["licensed"]
    assert world.unreadable == {}


def test_it_is_tried_at_growing_intervals_of_five_minutes_at_most(life) -> None:
    faults = []
    for _ in range(3600):
        life.clock.advance(1)
        life.autoscaler._cycle.session._strategies.retry(life.clock.now())
        faults.append(life.autoscaler._cycle.session._faults.counts["licensed", "load"])
    tries = [second for second in range(1, 3600) if faults[second] > faults[second - 1]]
    gaps = [later - sooner for sooner, later in pairwise(tries)]
    assert gaps[:5] == [20, 40, 80, 160, 300]
    assert timedelta(seconds=max(gaps)) == timedelta(minutes=5)
