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


def after_one_loop(scenario, *faults):
    """The seconds that the loop waits after the first cycle, and how often the cloud was asked for machines."""
    clock = PausesClock()
    clock.stop = Event()
    with World(parse_scenario(scenario), clock) as world:
        # Pods that have only just come would be waited for.
        world.advance(10)
        for fault in faults:
            world.cloud.gate.add(fault)
        config = CONFIG.format(url=world.provider_config["url"])
        with Harness(config, kubeconfig=str(world.kubeconfig), clock=clock) as autoscaler:
            autoscaler.run(clock.stop)
    return clock.pause, world.cloud.gate.calls["increase"]


@pytest.mark.parametrize(("refused", "pause"), [(False, 0.5), (True, 10)])
def test_the_next_loop_follows_at_once_if_something_was_done_and_not_if_all_was_refused(refused, pause) -> None:
    faults = [ApiFault(ApiFaultKind.THROTTLED, operations="increase")] if refused else []
    assert after_one_loop(a_scenario(a_group("pool")), *faults) == (pause, 1)


def test_the_next_loop_is_due_when_the_cloud_may_be_asked_again() -> None:
    fault = ApiFault(ApiFaultKind.THROTTLED, operations="increase", retry_after=3)
    assert after_one_loop(a_scenario(a_group("pool")), fault) == (3, 1)


def test_the_next_loop_gives_a_cloud_a_moment_that_has_refused_a_part() -> None:
    scenario = a_scenario(a_group("one", max=1), a_group("other", max=1), replicas=8)
    fault = ApiFault(ApiFaultKind.THROTTLED, operations="increase", every=2)
    assert after_one_loop(scenario, fault) == (1, 2)
