"""Rights are missing, one at a time: each is named, what does not need it goes on, and all is well once it is given."""

import logging
from threading import Thread
from time import monotonic, sleep

import pytest
from nodewright.api import Reason
from nodewright.api.errors import Right
from nodewright.config.model import Settings
from nodewright.kube import reflector as reflectors
from nodewright.kube.kinds import KINDS, wanted_kinds
from nodewright.kube.rights import right_to

from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

PACE = "unneededTime: 30s, delayAfterAdd: 0s, delayAfterDelete: 0s, delayAfterFailure: 20s, unremovableRecheck: 10s"
SCENARIO = a_scenario(
    a_group("pool", min=1, max=5),
    deployments=[a_deployment("web", replicas=2), a_deployment("light", cpu="100m", memory="64Mi", replicas=0)],
)
SEEN = [kind.path for kind in (*KINDS, *wanted_kinds(Settings()))]
LISTS = [right_to("GET", path) for path in SEEN]
WATCHES = [right_to("GET", path, {"watch": "true"}) for path in SEEN]
ACTIONS = [
    Right(verb="get", resource="nodes"),
    Right(verb="patch", resource="nodes"),
    Right(verb="create", resource="pods/eviction"),
    Right(verb="create", resource="events"),
    *(Right(verb=verb, resource="configmaps") for verb in ("get", "create", "patch", "update")),
]
#: Without these nothing can be decided.
VITAL = ["list nodes", "list pods"]
#: Without these nodes can't be marked, so that none may go.
MARKING = ["get nodes", "patch nodes"]


def asked(request):
    """The right that a request takes, in the same words as ours."""
    target = request.target
    if target is None:
        return ""
    resource = "/".join(filter(None, (target.plural, target.subresource)))
    return str(Right(verb=request.verb, resource=resource, group=target.group))


def eventually(holds):
    until = monotonic() + 20
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.01)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """What is not shown is asked for again at once, not in half a minute."""
    monkeypatch.setattr(reflectors, "_LONGEST_PAUSE", 0.05)


def begin_without(right, life, caplog):
    """Let another autoscaler begin, which has all rights but one."""
    life.kill()
    life.world.api_server.authorize = lambda request: "no role has it" if asked(request) == str(right) else None
    if str(right) not in VITAL:
        life.start_again()
        return
    starting = Thread(target=life.start_again)
    starting.start()
    eventually(lambda: told(caplog, right))
    assert starting.is_alive()
    life.world.api_server.authorize = None
    starting.join(20)
    assert not starting.is_alive()


def told(caplog, right):
    """The lines that name the right."""
    return [message for message in caplog.messages if message.startswith(f"may not {right}: ")]


def grow(life):
    """Pods come, nodes come for them, and some pods that will be in the way of their going."""
    life.scale("web", 8)
    life.until(lambda: len(life.pods("Running")) == 8)
    life.scale("light", 4)
    life.until(lambda: len(life.pods("Running")) == 12)


@pytest.mark.parametrize("right", [*LISTS, *WATCHES, *ACTIONS], ids=str)
def test_what_does_not_need_a_missing_right_goes_on(begin, caplog, right) -> None:
    caplog.set_level(logging.INFO)
    life = begin(SCENARIO, f"scaleDown: {{{PACE}}}")
    begin_without(right, life, caplog)
    grow(life)
    life.scale("web", 3)
    missing = str(right) not in VITAL
    if missing and str(right) in MARKING:
        life.go_on(120)
        assert len(life.nodes) > 1
        assert life.marked == []
    elif missing and str(right) == "create pods/eviction":
        life.until(lambda: any(outcome.error == f"may not {right}" for outcome in life.diary.outcomes))
        assert len(life.pods("Running")) == 7
    elif str(right) == "list poddisruptionbudgets.policy":
        life.go_on(120)
        reasons = {verdict.reason for decision in life.diary.decisions for verdict in decision.nodes.values()}
        assert Reason.BUDGETS_UNSEEN in reasons
        assert not any(drain.pods for decision in life.diary.decisions for drain in decision.drain)
    else:
        life.until(lambda: len(life.nodes) == 1)
    (line,) = told(caplog, right)
    group = f'API group "{right.group}"' if right.group else 'the core API group ("")'
    rule = f'give the service account verb "{right.verb}" on "{right.resource}" of {group}'
    assert sum(rule in message for message in caplog.messages) == 1
    assert f": {rule} in ClusterRole nodewright (" in line or f": {rule} in a Role of namespace" in line
    reported = [
        event["message"]
        for event in life.world.store.list("events", "kube-system")
        if event["reason"] == "RightMissing"
    ]
    assert [message.partition(":")[0] for message in reported] == ([f"may not {right}"] if missing else []) or (
        str(right) == "create events"
    )
    life.world.api_server.authorize = None
    life.until(lambda: len(life.nodes) == 1 and len(life.pods("Running")) == 7 and not life.marked)
    life.scale("web", 8)
    life.until(lambda: len(life.pods("Running")) == 12)
    eventually(lambda: f"may {right} now" in caplog.messages)


def test_rights_that_are_taken_away_in_the_middle_of_life_are_named_and_nothing_is_forgotten(begin, caplog) -> None:
    life = begin(SCENARIO, f"scaleDown: {{{PACE}}}")
    grow(life)
    lost = ["watch nodes", "list nodes", "list pods", "watch pods"]
    life.world.api_server.authorize = lambda request: "taken away" if asked(request) in lost else None
    life.world.api_server.drop_watches()
    nodes = set(life.autoscaler.autoscaler.cluster.nodes)
    eventually(lambda: all("may not list " + kind in caplog.text for kind in ("nodes", "pods")))
    life.autoscaler.step()
    assert set(life.autoscaler.autoscaler.cluster.nodes) == nodes
    life.world.api_server.authorize = None
    life.scale("web", 3)
    life.until(lambda: len(life.nodes) == 1)
