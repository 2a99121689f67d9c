"""What the process remembers is stored in the cluster, and the next process goes on with it."""

import gzip
import json
from base64 import b64decode
from datetime import timedelta
from time import monotonic, sleep

import pytest
from nodewright.config.document import load
from nodewright.kube.transport import connect
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.runtime.session import Session
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.shortage import ShortageMode

from tests.end_to_end.scenarios import a_group, a_scenario, two_choices

GROWING = a_scenario(*two_choices(bootTime="60s"), replicas=8)
SHRINKING = a_scenario(a_group("pool", max=5, desired=2))
SETTINGS = "scaleDown: {unneededTime: 2m, delayAfterAdd: 0s, delayAfterFailure: 0s}"
MAP = "nodewright-memory"


class Killed(BaseException):
    """The process is no more."""


@pytest.fixture
def kill(monkeypatch):
    """Kills a life in the middle of its next loop that does something, before or after it is done."""
    act = Session.act

    def killing(life, *, done):
        def killed(self, decision, world):
            if not (decision.grow or decision.drain or decision.delete):
                return act(self, decision, world)
            monkeypatch.setattr(Session, "act", act)
            if done:
                act(self, decision, world)
            raise Killed

        monkeypatch.setattr(Session, "act", killed)
        with pytest.raises(Killed):
            life.go_on(600)

    return killing


def eventually(holds):
    until = monotonic() + 10
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.01)


def stored(life):
    """What the ConfigMap says, as JSON."""
    config_map = life.world.store.find("configmaps", MAP, "kube-system")
    if config_map.get("binaryData"):
        return json.loads(gzip.decompress(b64decode(config_map["binaryData"]["memory.json.gz"])))
    return json.loads(config_map["data"]["memory.json"])


def writes_memory(request):
    return request.target is not None and request.target.name == MAP and request.method != "GET"


def test_timers_go_on_in_the_next_life(begin) -> None:
    life = begin(SHRINKING, SETTINGS)
    life.until(lambda: life.autoscaler.memory.unneeded.since, within=300)
    life.go_on(60)
    since = life.autoscaler.memory.unneeded.since
    assert since
    life.start_again()
    life.go_on(10)
    assert life.autoscaler.memory.unneeded.since == since
    life.until(lambda: life.autoscaler.memory.leaving.removals, within=70)


def test_nobody_is_taken_for_unneeded_while_nobody_looked(begin) -> None:
    life = begin(SHRINKING, SETTINGS)
    life.until(lambda: life.autoscaler.memory.unneeded.since, within=300)
    life.world.advance(3 * 24 * 3600)
    life.start_again()
    life.go_on(10)
    now = life.world.clock.now()
    assert set(life.autoscaler.memory.unneeded.since.values()) == {now}
    life.go_on(110)
    assert not life.autoscaler.memory.leaving.removals
    life.until(lambda: life.autoscaler.memory.leaving.removals, within=60)


def test_back_offs_go_on_in_the_next_life(begin) -> None:
    life = begin(GROWING)
    life.run_out("eu-a/*", ShortageMode.REFUSE)
    life.go_on(10)
    backoffs = life.autoscaler.memory.health.backoffs
    assert backoffs.keys() == {"first-choice"}
    life.world.cloud.supply.lift_stocks("*")
    life.start_again()
    life.scale("web", 30)
    life.go_on(60)
    assert life.autoscaler.memory.health.backoffs == backoffs
    assert life.ordered("first-choice") == 0
    assert life.ordered("fallback") == 2


def test_an_order_that_was_never_given_is_given_by_the_next_life(begin, kill) -> None:
    life = begin(GROWING)
    kill(life, done=False)
    assert stored(life)["memory"]["orders"]["requests"]["first-choice"]["unanswered"] == 2
    life.start_again()
    # Who knows whether the cloud has it, and has not done it yet?
    assert not life.go_on(10).grow
    life.go_on(10)
    assert life.sizes() == {"first-choice": 2}
    life.until(lambda: len(life.pods("Running")) == 8)
    assert (life.ordered("first-choice"), life.ordered("fallback")) == (2, 0)


def test_an_order_that_was_taken_is_not_given_again(begin, kill) -> None:
    life = begin(GROWING)
    kill(life, done=True)
    life.start_again()
    life.go_on(60)
    assert life.sizes() == {"first-choice": 2}
    assert (life.ordered("first-choice"), life.ordered("fallback")) == (2, 0)


def test_an_order_that_the_cloud_takes_after_the_next_life_has_begun_is_not_given_again(begin, kill) -> None:
    life = begin(GROWING)
    kill(life, done=False)
    life.start_again()
    life.autoscaler.step()
    life.world.cloud.increase("first-choice", 2)
    life.until(lambda: len(life.pods("Running")) == 8)
    assert (life.ordered("first-choice"), life.ordered("fallback")) == (2, 0)


def test_an_order_that_was_not_answered_in_time_is_known_to_the_next_life(begin) -> None:
    life = begin(GROWING, "loop: {actionTimeout: 100ms}")
    slow = ApiFault(ApiFaultKind.SLOW, operations="increase", latency=1)
    life.world.cloud.gate.add(slow)
    life.go_on(10)
    old = life.autoscaler
    assert old.busy
    assert stored(life)["memory"]["orders"]["requests"]["first-choice"]["unanswered"] == 2
    life.start_again()
    life.autoscaler.step()
    life.world.cloud.gate.heal("*")
    # The call takes a second of real time, and steps of the world take hardly any: it must land before it is given up.
    eventually(lambda: not old.busy)
    life.until(lambda: len(life.pods("Running")) == 8)
    assert (life.ordered("first-choice"), life.ordered("fallback")) == (2, 0)


@pytest.mark.parametrize("done", [False, True])
def test_a_removal_that_was_cut_short_goes_on_in_the_next_life(begin, kill, done) -> None:
    life = begin(SHRINKING, SETTINGS)
    life.until(lambda: life.autoscaler.memory.unneeded.since, within=300)
    kill(life, done=done)
    life.start_again()
    began = life.world.clock.now()
    life.until(lambda: len(life.nodes) == 1, within=300)
    assert life.world.clock.now() - began < timedelta(minutes=2)
    assert not any(line.endswith("did not finish") or " restore " in line for line in life.diary.lines)
    life.go_on(10)
    assert (life.marked, life.autoscaler.memory.leaving.removals) == ([], {})


@pytest.mark.parametrize("done", [False, True])
def test_a_machine_is_deleted_once_though_its_process_is_killed_then(begin, kill, done) -> None:
    life = begin(SHRINKING, SETTINGS)
    life.until(lambda: any(each.evicting_since for each in life.autoscaler.memory.leaving.removals.values()))
    kill(life, done=done)
    life.start_again()
    began = life.world.clock.now()
    life.until(lambda: len(life.nodes) == 1, within=300)
    assert life.world.clock.now() - began < timedelta(minutes=2)
    assert sum(entry.event == "deleting" for entry in life.world.cloud.history) == 1


def test_a_process_that_was_succeeded_never_writes_over_its_successor(begin, caplog) -> None:
    life = begin(SHRINKING, SETTINGS)
    life.go_on(10)
    # It is cut off, and does not know that another one has begun.
    old, life.autoscaler = life.autoscaler, None
    life.start_again()
    life.go_on(10)
    holder = stored(life)["holder"]
    life.world.advance(60)
    old.step()
    assert stored(life)["holder"] == holder
    life.go_on(60)
    assert stored(life)["holder"] == holder
    assert caplog.text.count(f"another autoscaler ({holder}) has taken over the memory in ConfigMap kube-system") == 1
    old.kill()


def test_an_api_server_that_takes_no_memory_holds_no_scale_up_up(begin, caplog) -> None:
    life = begin(GROWING)
    outage = Fault(when=writes_memory, status=503)
    life.world.api_server.faults.append(outage)
    life.go_on(60)
    assert life.sizes() == {"first-choice": 2}
    assert outage.hits > 1
    assert caplog.text.count("memory can't be written in ConfigMap kube-system/nodewright-memory") == 1
    life.world.api_server.faults.remove(outage)
    life.go_on(10)
    assert stored(life)["memory"]["orders"]["requests"].keys() == {"first-choice"}


def test_without_the_rights_it_goes_on_and_names_them(begin, caplog) -> None:
    life = begin(GROWING)

    def authorize(request):
        return "" if request.target is not None and request.target.plural == "configmaps" else None

    life.world.api_server.authorize = authorize
    life.start_again()
    life.until(lambda: len(life.pods("Running")) == 8)
    told = [record.message for record in caplog.records if "memory" in record.name]
    assert len(told) == 1
    assert "kube-system/nodewright-memory" in told[0]
    assert "may not get configmaps" in told[0]
    assert "timers, back-offs and open orders would not survive a restart" in told[0]


def test_damaged_memory_is_set_aside_and_reported(begin, caplog) -> None:
    life = begin(GROWING)
    life.go_on(10)
    life.world.store.modify(
        "configmaps", MAP, "kube-system", lambda draft: draft["data"].update({"memory.json": "}{ oops"})
    )
    life.start_again()
    life.go_on(10)
    aside = life.world.store.find("configmaps", f"{MAP}-set-aside", "kube-system")
    assert aside["data"] == {"memory.json": "}{ oops"}
    assert "It is set aside in ConfigMap kube-system/nodewright-memory-set-aside" in caplog.text
    # What taints and the cloud tell is enough not to order twice.
    life.until(lambda: len(life.pods("Running")) == 8)
    assert life.ordered("first-choice") == 2


def test_labels_and_keys_of_others_stay_in_the_config_map(begin) -> None:
    life = begin(GROWING)

    def mark(draft):
        draft["metadata"].setdefault("labels", {})["helm"] = "yes"
        draft["data"]["note"] = "keep"

    life.world.store.modify("configmaps", MAP, "kube-system", mark)
    life.go_on(70)
    config_map = life.world.store.find("configmaps", MAP, "kube-system")
    assert config_map["metadata"]["labels"]["helm"] == "yes"
    assert config_map["data"]["note"] == "keep"
    assert stored(life)["memory"]["orders"]["requests"].keys() == {"first-choice"}


def test_one_who_deletes_the_config_map_gets_it_back(begin) -> None:
    life = begin(GROWING)
    life.go_on(10)
    life.world.store.delete("configmaps", MAP, "kube-system")
    life.go_on(60)
    assert stored(life)["memory"]["orders"]["requests"].keys() == {"first-choice"}


def test_memory_in_a_file_is_gone_on_with_as_well(begin, tmp_path) -> None:
    file = tmp_path / "memory.json"
    life = begin(SHRINKING, f"{SETTINGS}\nmemory: {{store: file, path: '{file}'}}")
    life.until(lambda: life.autoscaler.memory.unneeded.since, within=300)
    since = life.autoscaler.memory.unneeded.since
    assert json.loads(file.read_text())["memory"]["unneeded"]["since"].keys() == since.keys()
    assert life.world.store.find("configmaps", MAP, "kube-system") is None
    life.start_again()
    life.go_on(10)
    assert life.autoscaler.memory.unneeded.since == since


def test_why_tells_the_timers_of_the_process_that_runs_and_leaves_its_memory_alone(begin) -> None:
    life = begin(SHRINKING, SETTINGS)
    life.until(lambda: life.autoscaler.memory.unneeded.since, within=300)
    life.go_on(60)
    since = life.autoscaler.memory.unneeded.since
    before = life.world.store.find("configmaps", MAP, "kube-system")["metadata"]["resourceVersion"]
    settings = load(life.config.read_text()).settings
    asking = Autoscaler(settings, connect(kubeconfig=str(life.world.kubeconfig)), life.world.clock)
    try:
        asking.start()
        asking.glance_at_memory()
        assert asking.look().memory.unneeded.since == since
    finally:
        asking.close()
    assert life.world.store.find("configmaps", MAP, "kube-system")["metadata"]["resourceVersion"] == before
