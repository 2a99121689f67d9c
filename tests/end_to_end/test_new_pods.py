"""Pods that have just come wait a moment for others, and not for the next round of the loop."""

from threading import Event, Thread
from time import monotonic, sleep

import pytest
from nodewright.testing.clock import FastClock
from nodewright.testing.harness import Harness
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

SCENARIO = """
zones: [eu-a]
instanceTypes:
  small: {cpu: 4, memory: 8Gi, price: 0.2}
groups:
  - {name: pool, zone: eu-a, instanceType: small, max: 5, bootTime: 0s}
workloads:
  deployments:
    - {name: web, replicas: 0, cpu: "1"}
"""
CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - fake: {{url: "{url}"}}
loop: {{scanInterval: 1h}}
scaleUp: {{newPodDelay: {delay}}}
"""


@pytest.mark.parametrize(("delay", "seconds"), [("0s", 1), ("30s", 30)])
def test_a_pod_gets_its_node_as_soon_as_it_is_old_enough(delay, seconds) -> None:
    """An hour of this clock lasts two minutes: whoever waited for the next round would be late here, too."""
    clock, stop = FastClock(30), Event()
    with World(parse_scenario(SCENARIO), clock) as world:
        config = CONFIG.format(url=world.provider_config["url"], delay=delay)
        with Harness(config, kubeconfig=str(world.kubeconfig), clock=clock) as autoscaler:
            thread = Thread(target=autoscaler.run, args=(stop,))
            thread.start()
            try:
                begun, until = clock.now(), monotonic() + 20
                world.cluster.scale("default", "web", 1)
                while not any(group.desired for group in world.cloud.groups):
                    assert monotonic() < until, "no group ever grew"
                    sleep(0.01)
                # Times of creation are in whole seconds.
                assert seconds - 1 <= (clock.now() - begun).total_seconds() < 300
            finally:
                stop.set()
                autoscaler.wake()
                thread.join(20)
