"""Nothing is decided on an old picture of the cluster."""

import re
from time import monotonic, sleep

import pytest
from nodewright.api import ApiServerError
from nodewright.kube import feed
from nodewright_fake.apiserver.faults import Fault

from tests.end_to_end.scenarios import a_group, a_scenario


def lists_or_watches(resource):
    return lambda request: request.verb in ("list", "watch") and request.path.endswith(f"/{resource}")


def eventually(holds):
    until = monotonic() + 20
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.01)


@pytest.mark.parametrize("resource", ["pods", "nodes"])
def test_while_pods_or_nodes_can_not_be_seen_no_loop_decides_and_then_all_goes_on(begin, monkeypatch, resource) -> None:
    passed = [0.0]
    monkeypatch.setattr(feed, "monotonic", lambda: monotonic() + passed[0])
    life = begin(a_scenario(a_group("pool", min=0), replicas=4), "scaleDown: {unneededTime: 1m, delayAfterAdd: 0s}")
    life.go_on(300)
    assert life.nodes
    hidden = Fault(when=lists_or_watches(resource), status=429, message="too many lists")
    life.world.api_server.faults.append(hidden)
    life.world.api_server.drop_watches()
    eventually(lambda: hidden.hits)
    # Everybody can see that no node is needed any more, but for the autoscaler.
    life.scale("web", 0)
    passed[0] = 200.0
    decided = len(life.diary.decisions)

    def is_blind():
        life.world.advance(10)
        life.world.sync()
        with pytest.raises(ApiServerError) as refused:
            life.autoscaler.step()
        return re.match(rf"no news of {resource} for \d+ s: .*: too many lists", str(refused.value))

    eventually(is_blind)
    assert len(life.diary.decisions) == decided
    life.world.api_server.faults.remove(hidden)
    life.until(lambda: not life.nodes)
