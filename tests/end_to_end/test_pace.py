"""How soon one loop follows another."""

from threading import Event

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright.testing.harness import Harness
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.scenarios import a_group, a_scenario

CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - fake: {{url: "{url}"}}
# It has pauses of its own.
memory: {{store: none}}
"""


class PausesClock(SteppedClock):
    """Ends the loop at its first pause, and knows how long that was to be."""

    stop = None
    pause = None

    def wait(self, event, timeout):
        self.pause = timeout
        self.stop.set()
        return False


@pytest.mark.parametrize(("refused", "pause"), [(False, 0.5), (True, 10)])
def test_the_next_loop_follows_at_once_if_something_was_done_and_not_if_all_was_refused(refused, pause) -> None:
    clock = PausesClock()
    clock.stop = Event()
    with World(parse_scenario(a_scenario(a_group("pool"))), clock) as world:
        # Pods that have only just come would be waited for.
        world.advance(10)
        if refused:
            world.cloud.gate.add(ApiFault(ApiFaultKind.THROTTLED, operations="increase"))
        config = CONFIG.format(url=world.provider_config["url"])
        with Harness(config, kubeconfig=str(world.kubeconfig), clock=clock) as autoscaler:
            autoscaler.run(clock.stop)
    assert world.cloud.gate.calls["increase"] == 1
    assert clock.pause == pause
