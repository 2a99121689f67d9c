"""A dry run beside an autoscaler that acts: it touches nothing, and tells where the two differ."""

import json
import random
import re
from pathlib import Path

import pytest
import yaml
from nodewright.api import Reason
from nodewright.api.errors import WithheldError
from nodewright.kube.transport import connect
from nodewright.testing.clock import SteppedClock
from nodewright.testing.harness import Harness
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.shortage import ShortageMode, Stock
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

from tests.end_to_end.conftest import CONFIG, Diary
from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario, two_choices

PAGE = Path(__file__).parents[2] / "docs/shadow.md"
QUICK = "scaleDown: {unneededTime: 2m, delayAfterAdd: 1m}"


class Shadow:
    """A dry run in the world of a life; steps with it."""

    def __init__(self, life, folder, settings="", first=True):
        self.life = life
        self.record = folder / "shadow.jsonl"
        config = CONFIG.format(
            url=life.world.provider_config["url"],
            settings=f"dryRun: true\nkube: {{userAgent: the-shadow}}\nrecord: {{path: {self.record}}}\n{settings}",
        )
        self.harness = Harness(config, kubeconfig=str(life.world.kubeconfig), clock=life.world.clock)
        self.decisions = []
        self.ended = False
        if first:
            inner = life.autoscaler.step
            life.autoscaler.step = lambda: (self.step(), inner())[1]
        else:
            life.checks.append(self.step)

    def end(self):
        """End it as SIGTERM does; nothing happens the second time."""
        if not self.ended:
            self.harness.__exit__(None, None, None)
        self.ended = True

    def step(self):
        self.harness.wait_for(self.life.world.sync())
        self.decisions.append(self.harness.step())

    @property
    def lines(self):
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    def found(self, sort=None):
        findings = [finding for line in self.lines for finding in line.get("findings", [])]
        return [finding for finding in findings if sort in (None, finding["sort"])]

    def kinds(self, sort=None):
        return [finding["kind"] for finding in self.found(sort)]


@pytest.fixture
def beside(tmp_path):
    """Begins a dry run beside the autoscaler of a life; its loops come before those of the other one, or after."""
    shadows = []

    def begin(life, settings=QUICK, *, first=True):
        shadows.append(Shadow(life, tmp_path, settings, first))
        shadows[-1].harness.__enter__()
        return shadows[-1]

    yield begin
    for shadow in shadows:
        shadow.end()


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_beside_its_equal_it_finds_no_difference_in_a_long_life(begin, beside, first) -> None:
    life = begin(a_scenario(*two_choices(), a_group("fixed", min=1, max=1), replicas=0), QUICK)
    shadow = beside(life, first=first)
    life.go_on(60)
    for replicas in (12, 30, 3, 18, 1, 8, 0):
        life.scale("web", replicas)
        life.go_on(420)
    assert shadow.found("difference") == []
    assert {"growth", "removal"} <= set(shadow.kinds("agreement"))


@pytest.mark.parametrize("seed", range(3))
def test_beside_its_equal_it_finds_no_difference_whatever_happens(begin, beside, seed) -> None:
    chance = random.Random(seed)
    settings = (
        f"scaleUp: {{balanceSimilarGroups: {chance.choice(['true', 'false'])}, expanders: [random]}}\n"
        f"scaleDown: {{unneededTime: 2m, delayAfterAdd: 1m, maxDrainParallelism: {chance.choice([1, 3])}, "
        f"consolidation: {{enabled: {chance.choice(['true', 'false'])}}}}}"
    )
    twins = [a_group("twin-a"), a_group("twin-b"), a_group("twin-c", zone="eu-b")]
    groups = [*twins, a_group("roomy", zone="eu-b", instanceType="roomy"), a_group("fixed", min=1, max=1)]
    deployments = [a_deployment(replicas=0), a_deployment("big", replicas=0, cpu="3")]
    budgets = [{"for": "web", "maxUnavailable": 2}]
    life = begin(a_scenario(*groups, deployments=deployments, budgets=budgets), settings)
    shadow = beside(life, settings, first=chance.random() < 0.5)
    for time in (60, 240, 420, 60, 240, 420):
        life.scale("web", chance.randrange(0, 25))
        life.scale("big", chance.randrange(0, 8))
        life.go_on(time)
        if chance.random() < 0.3:
            life.run_out(chance.choice(["eu-a/fitting", "eu-b/roomy"]))
    assert shadow.found("difference") == []
    assert len(shadow.found("agreement")) >= 3


def test_what_happens_while_the_cloud_can_not_be_read_is_not_judged(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE))
    other.go_on(20)
    other.grow("first-choice", 3)
    other.go_on(200)
    other.world.cloud.gate.heal("*")
    assert kinds(other.go_on(60)) == ["unjudged"]


class Scene:
    """A world in which a test plays the other autoscaler, and a dry run beside it."""

    def __init__(self, scenario, settings, folder):
        self.world = World(parse_scenario(scenario), SteppedClock()).__enter__()
        self.record = folder / "shadow.jsonl"
        url = self.world.provider_config["url"]
        config = CONFIG.format(url=url, settings=f"dryRun: true\nrecord: {{path: {self.record}}}\n{settings}")
        self.hook = Diary(self.world.clock)
        self.harness = Harness(
            config,
            kubeconfig=str(self.world.kubeconfig),
            clock=self.world.clock,
            observers={"diary": self.hook},
        ).__enter__()

    def close(self):
        self.harness.__exit__(None, None, None)
        self.world.__exit__(None, None, None)

    def go_on(self, seconds):
        """Let *seconds* pass with a loop every ten; returns what was found meanwhile."""
        before = len(self.found)
        for _ in range(0, seconds, 10):
            self.world.advance(10)
            self.harness.wait_for(self.world.sync())
            self.decision = self.harness.step()
        return self.found[before:]

    def go_on_until_ready(self, nodes):
        self.go_on(120)
        assert len(self.world.store.list("nodes")) == nodes

    def grow(self, group, count):
        self.world.cloud.increase(group, count)

    def mark(self, node):
        now = int(self.world.clock.now().timestamp())
        taint = {"key": "ToBeDeletedByClusterAutoscaler", "value": str(now), "effect": "NoSchedule"}
        self.world.store.modify("nodes", node, "", lambda draft: draft["spec"].setdefault("taints", []).append(taint))

    def unmark(self, node):
        self.world.store.modify("nodes", node, "", lambda draft: draft["spec"].pop("taints"))

    def delete(self, node, group):
        provider_id = self.world.store.get("nodes", node)["spec"]["providerID"]
        self.world.cloud.delete_instances(group, [provider_id])

    def nodes(self):
        return sorted(node["metadata"]["name"] for node in self.world.store.list("nodes"))

    @property
    def found(self):
        if not self.record.exists():
            return []
        lines = [json.loads(line) for line in self.record.read_text().splitlines()]
        return [(each["kind"], each) for line in lines for each in line.get("findings", [])]


@pytest.fixture
def scene(tmp_path):
    scenes = []

    def begin(scenario, settings=QUICK):
        scenes.append(Scene(scenario, settings, tmp_path))
        return scenes[-1]

    yield begin
    for each in scenes:
        each.close()


def kinds(found):
    return [kind for kind, _ in found]


def test_what_a_dead_autoscaler_does_not_do_is_one_difference_however_long_it_lasts(scene) -> None:
    alone = scene(a_scenario(*two_choices(), replicas=9))
    ((kind, told),) = alone.go_on(1800)
    assert kind == "growth-missing"
    assert told["ours"] == "would grow 0 → 3"
    assert told["why"] == "for 9 pods, best of 2 options by least-waste"
    assert told["theirs"] == "did not"
    assert (told["group"], told["machines"]) == ("first-choice", -3)
    assert 120 < told["lag"] <= 130
    memory = alone.harness.memory
    assert (memory.orders.requests, memory.health.backoffs, memory.cooldown.cluster.grown, memory.orders.turn) == (
        {},
        {},
        None,
        0,
    )
    assert [grow.count for grow in alone.decision.grow] == [3]
    # The same wish, loop after loop, is written down once: began, it, the difference.
    lines = [json.loads(line) for line in alone.record.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["began", "compared", "compared"]


def test_growth_that_comes_after_all_is_told_and_not_counted_twice(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(300)
    other.grow("first-choice", 3)
    ((kind, told),) = other.go_on(120)
    assert (kind, told["sort"]) == ("late", "note")
    assert 290 <= told["lag"] <= 310


def test_growth_of_another_group_is_a_difference_with_our_reason_against_it(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.grow("fallback", 1)
    ((kind, told),) = other.go_on(300)
    assert (kind, told["group"]) == ("growth-group", "fallback")
    assert told["ours"] == "would grow 0 → 3 of first-choice"
    assert told["why"] == "fallback: another option was better"
    assert (told["theirs"], told["machines"]) == ("grew it by 1", -2)


def test_growth_of_a_group_that_is_as_good_is_agreed_with(scene) -> None:
    twins = (a_group("twin-a"), a_group("twin-b"))
    other = scene(a_scenario(*twins, replicas=9))
    other.go_on(20)
    other.grow("twin-b", 3)
    assert kinds(other.go_on(300)) == ["growth-equivalent"]


def test_growth_that_is_spread_otherwise_over_like_groups_is_agreed_with(scene) -> None:
    twins = (a_group("twin-a"), a_group("twin-b", zone="eu-b"))
    other = scene(a_scenario(*twins, replicas=16), QUICK + "\nscaleUp: {balanceSimilarGroups: true}")
    other.go_on(20)
    assert {grow.group: grow.count for grow in other.decision.grow} == {"twin-a": 2, "twin-b": 2}
    other.grow("twin-b", 4)
    assert kinds(other.go_on(300)) == ["growth-equivalent"]


def test_growth_in_several_steps_is_agreed_with_step_by_step(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.grow("first-choice", 2)
    other.go_on(10)
    other.grow("first-choice", 1)
    other.go_on(300)
    assert kinds(other.found) == ["growth", "growth"]


def test_growth_by_more_than_we_would_is_a_difference(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.grow("first-choice", 5)
    ((kind, told),) = other.go_on(60)
    assert (kind, told["ours"], told["theirs"]) == ("growth-size", "would grow 0 → 3", "grew it by 5")
    assert told["machines"] == 2


def test_growth_by_fewer_is_agreed_with_as_far_as_it_goes(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.grow("first-choice", 2)
    (_, (kind, told)) = found = other.go_on(300)
    assert kinds(found) == ["growth", "growth-missing"]
    assert (kind, told["ours"], told["machines"]) == ("growth-missing", "would grow 2 → 3", -1)


def test_growth_that_nobody_needs_is_a_difference(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=0))
    other.go_on(20)
    other.grow("fallback", 1)
    ((kind, told),) = other.go_on(60)
    assert (kind, told["ours"], told["why"]) == ("growth-extra", "would not grow it", "no pod waits for a node")


def test_growth_that_was_faster_than_our_look_at_the_pods_is_agreed_with(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=0))
    other.go_on(20)
    other.world.cluster.scale("default", "web", 9)
    other.world.settle()
    other.grow("first-choice", 3)
    ((kind, told),) = other.go_on(300)
    assert (kind, told["lag"]) == ("growth", 0)


def test_a_node_that_only_we_would_remove_is_a_difference_until_it_goes(scene) -> None:
    other = scene(a_scenario(a_group("pool", desired=2), replicas=1))
    other.go_on_until_ready(2)
    found = other.go_on(600)
    assert kinds(found) == ["removal-missing"]
    assert found[0][1]["why"] == "nothing runs on it that would have to move"
    node = found[0][1]["node"]
    other.mark(node)
    ((kind, told),) = other.go_on(10)
    assert (kind, told["node"]) == ("late", node)
    other.delete(node, "pool")
    assert other.go_on(300) == []


def test_a_node_that_we_need_and_they_remove_is_a_difference_with_our_reason(scene) -> None:
    other = scene(a_scenario(a_group("pool", desired=2), replicas=6))
    other.go_on_until_ready(2)
    node = other.nodes()[0]
    other.mark(node)
    ((kind, told),) = other.go_on(10)
    assert (kind, told["node"], told["ours"]) == ("removal-extra", node, "would keep it")
    assert told["why"].startswith("its utilization is above the threshold (")


def test_timers_that_end_a_little_apart_are_no_difference_and_those_far_apart_are(scene) -> None:
    patient = QUICK + "\nshadow: {patience: 30s}"
    other = scene(a_scenario(a_group("pool", desired=3), replicas=9), patient)
    other.go_on(300)
    first, second, third = other.nodes()
    other.world.cluster.scale("default", "web", 0)
    other.go_on(100)
    other.mark(first)
    ((kind, told),) = other.go_on(10)
    assert (kind, told["node"]) == ("removal", first)
    assert -30 <= told["lag"] < 0
    other.world.cluster.scale("default", "web", 9)
    other.go_on(30)
    other.world.cluster.scale("default", "web", 0)
    other.go_on(20)
    other.mark(second)
    ((kind, told),) = other.go_on(10)
    assert (kind, told["node"]) == ("removal-early", second)
    assert told["ours"].startswith("would wait until 00:")
    assert third not in [each["node"] for _, each in other.found]


def test_before_the_others_timers_are_known_what_depends_on_them_is_not_judged(scene) -> None:
    other = scene(a_scenario(a_group("pool", desired=2), replicas=0), "scaleDown: {unneededTime: 10m}")
    other.go_on(60)
    other.mark(other.nodes()[0])
    assert kinds(other.go_on(10)) == ["unjudged"]


def test_another_node_that_may_go_as_well_is_no_difference(scene) -> None:
    other = scene(a_scenario(a_group("pool", min=1, desired=2), replicas=0))
    other.go_on_until_ready(2)
    other.go_on(60)
    (ours,) = (drain.node for drain in other.decision.drain)
    (theirs,) = set(other.nodes()) - {ours}
    other.mark(theirs)
    assert kinds(other.go_on(10)) == ["removal-equivalent"]


def test_a_drain_of_the_other_one_is_under_way_and_no_leftover(scene) -> None:
    other = scene(a_scenario(a_group("pool", desired=2), replicas=6))
    other.go_on_until_ready(2)
    node = other.nodes()[0]
    other.mark(node)
    other.go_on(120)
    assert other.decision.restore == other.decision.evict == ()
    assert other.decision.nodes[node].reason is Reason.BEING_DELETED
    assert not other.harness.memory.leaving.removals[node].ours
    other.unmark(node)
    other.go_on(10)
    assert other.harness.memory.leaving.removals == {}
    assert other.decision.nodes[node].reason is not Reason.BEING_DELETED
    assert other.harness.memory.cooldown.cluster.stuck == other.world.clock.now()


def test_machines_that_the_cloud_fails_to_make_are_given_up_by_both(scene) -> None:
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.world.cloud.supply.limit_stock(Stock(pools="eu-a/fitting", available=0, mode=ShortageMode.FAIL))
    other.grow("first-choice", 3)
    other.go_on(40)
    failed = [each.id for each in other.world.cloud.instances("first-choice")]
    other.world.cloud.delete_instances("first-choice", failed)
    assert "cleanup" in kinds(other.go_on(30))
    assert "first-choice" in other.harness.memory.health.backoffs


def test_plugins_that_watch_are_not_told_of_decisions_that_nobody_carries_out(scene) -> None:
    alone = scene(a_scenario(*two_choices(), replicas=9))
    alone.go_on(30)
    assert alone.decision.grow
    assert alone.hook.decisions == alone.hook.outcomes == []


def test_each_finding_is_a_line_in_the_log_and_a_metric(scene, caplog) -> None:
    caplog.set_level("INFO", logger="nodewright.shadow")
    other = scene(a_scenario(*two_choices(), replicas=9))
    other.go_on(20)
    other.grow("first-choice", 3)
    other.go_on(20)
    other.grow("fallback", 2)
    other.go_on(20)
    lines = [record.getMessage() for record in caplog.records if record.name == "nodewright.shadow"]
    assert lines[0].startswith("would grow first-choice 0 → 3 for 9 pods: best of 2 options by ")
    assert lines[1].startswith("agreement (growth): group first-choice: we would grow 0 → 3 (for 9 pods, ")
    assert lines[1].endswith("); they grew it by 3, 20s later")
    assert lines[2] == (
        "difference (growth-extra): group fallback: we would not grow it (fits on a node that is there or on its way); "
        "they grew it by 2"
    )
    assert len(lines) == 3
    metrics = other.harness.metrics.render().decode()
    assert 'nodewright_shadow_agreements_total{kind="growth"} 1.0' in metrics
    assert 'nodewright_shadow_differences_total{kind="growth-extra"} 1.0' in metrics
    assert 'nodewright_shadow_differences_total{kind="removal-node"} 0.0' in metrics


def test_a_changed_configuration_does_not_end_a_dry_run(begin, tmp_path, caplog) -> None:
    life = begin(a_scenario(*two_choices(), replicas=9), "dryRun: true")
    life.go_on(20)
    life.configure("dryRun: false")
    life.go_on(60)
    assert "the change of dryRun takes effect at the next start" in caplog.text
    assert life.sizes() == {}


def test_a_dry_run_does_not_claim_to_lead(begin) -> None:
    life = begin(a_scenario(*two_choices(), replicas=9), "dryRun: true")
    body, _ = life.autoscaler.metrics.exposition("")
    assert b"\nnodewright_leader " not in body
    assert b"\nnodewright_build_info{" in body


EVERYTHING_ON = """
leaderElection: {enabled: true}
status: {write: true}
events: {nodes: true}
scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}
"""
READING = {"get", "list", "watch"}


def test_it_writes_nothing_to_the_api_server_and_does_not_even_try(begin, beside, caplog) -> None:
    life = begin(a_scenario(*two_choices(), replicas=0), EVERYTHING_ON)
    shadow = beside(life, EVERYTHING_ON)
    for replicas in (12, 1, 0):
        life.scale("web", replicas)
        life.go_on(240)
    shadow.end()
    assert shadow.lines[-1]["event"] == "ended"
    assert len([action for decision in shadow.decisions for action in (*decision.grow, *decision.drain)]) > 3
    verbs = {call.verb for call in life.world.api_server.record.calls if call.user_agent == "the-shadow"}
    assert verbs <= READING
    assert {"list", "watch"} <= verbs
    assert "was not sent" not in caplog.text


def test_the_cloud_is_left_as_it_is_whatever_is_decided(scene) -> None:
    alone = scene(a_scenario(a_group("idle", desired=2), a_group("pool", max=5), replicas=9), EVERYTHING_ON)
    alone.go_on(120)
    before = alone.world.cloud.history
    alone.world.cluster.scale("default", "web", 30)
    alone.go_on(60)
    assert alone.decision.grow
    alone.world.cluster.scale("default", "web", 0)
    alone.go_on(300)
    assert len(alone.decision.drain) == 2
    assert alone.world.cloud.history == before
    assert set(alone.world.cloud.gate.calls) == {"snapshot", "prices"}


def test_an_autoscaler_that_acts_keeps_the_record_as_well(begin, tmp_path) -> None:
    record = tmp_path / "record.jsonl"
    life = begin(a_scenario(*two_choices(), replicas=9), f"record: {{path: {record}}}")
    life.run_out("eu-a/fitting", ShortageMode.REFUSE)
    life.go_on(30)
    began, decided, failed, instead = (json.loads(line) for line in record.read_text().splitlines()[:4])
    assert (began["event"], began["dryRun"]) == ("began", False)
    (grow,) = decided["actions"]
    assert (grow["action"], grow["group"], grow["from"], grow["count"]) == ("grow", "first-choice", 0, 3)
    assert (grow["podCount"], len(grow["pods"])) == (9, 9)
    assert (failed["event"], failed["action"], failed["target"]) == ("failed", "grow", "first-choice")
    assert failed["error"].startswith("STOCK_OUT: ")
    assert [action["group"] for action in instead["actions"]] == ["fallback"]


def test_what_would_write_all_the_same_is_refused_before_it_is_sent(begin) -> None:
    life = begin(a_scenario(*two_choices(), replicas=0))
    transport = connect(kubeconfig=str(life.world.kubeconfig), user_agent="fenced").read_only()
    with pytest.raises(WithheldError, match=r"PATCH /api/v1/nodes/n was not sent: this is a dry run"):
        transport.patch("/api/v1/nodes/n", {})
    with pytest.raises(WithheldError):
        transport.post("/api/v1/namespaces/default/events", {})
    assert transport.get("/api/v1/nodes")
    assert {call.verb for call in life.world.api_server.record.calls if call.user_agent == "fenced"} == {"list"}


def test_the_rights_that_the_page_names_are_all_it_asks_for(begin, beside) -> None:
    life = begin(a_scenario(*two_choices(), replicas=0), EVERYTHING_ON)
    (role,) = re.findall(r"```yaml\n(apiVersion: rbac.*?)```", PAGE.read_text(), re.DOTALL)
    granted = {
        (group, resource, verb)
        for rule in yaml.safe_load(role)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert {verb for _, _, verb in granted} <= READING
    beside(life, EVERYTHING_ON)
    for replicas in (12, 0):
        life.scale("web", replicas)
        life.go_on(240)
    calls = life.world.api_server.record.calls
    asked = {(call.group, call.resource, call.verb) for call in calls if call.user_agent == "the-shadow"}
    assert asked <= granted
    # Asked for only with limits.capacityQuotas, and with strategies that read a ConfigMap.
    optional = {"capacityquotas", "configmaps"}
    assert {right for right in granted if right[1] not in optional} <= asked
