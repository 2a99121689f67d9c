"""How nodes go, over HTTP: the marks and hints that others see, and what may hold them up."""

from time import monotonic

from nodewright_fake.apiserver.faults import Fault

from tests.end_to_end.scenarios import a_deployment, a_group, a_scenario

SETTINGS = "scaleDown: {unneededTime: 5m, delayAfterAdd: 30s}"
AT_ONCE = "scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}"
DELAY = "delay-deletion.cluster-autoscaler.kubernetes.io/backup"


def two_halves(begin, settings, replicas=4, **fields):
    """A life with two nodes that one would be enough for."""
    life = begin(a_scenario(a_group("pool", max=5, desired=2, **fields), replicas=replicas), settings)
    life.until(lambda: len(life.pods("Running")) == replicas)
    return life


def evicts(request):
    return request.path.endswith("/eviction")


def test_unneeded_nodes_are_hinted_at_until_they_are_needed_or_gone(begin) -> None:
    life = two_halves(begin, SETTINGS)
    life.until(lambda: len(life.hinted) == 1, within=120)
    life.scale("web", 8)
    life.until(lambda: len(life.pods("Running")) == 8)
    life.go_on(20)
    assert life.hinted == []
    life.scale("web", 4)
    life.until(lambda: len(life.nodes) == 1)
    life.go_on(20)
    assert set(life.hinted) == life.autoscaler.memory.unneeded.since.keys()


def test_without_hints_those_of_an_earlier_life_go(begin) -> None:
    life = two_halves(begin, SETTINGS)
    life.until(lambda: life.hinted, within=120)
    without = life.config.read_text().replace("unneededTime: 5m", "unneededTime: 5m, softTaints: {maxCount: 0}")
    life.config.write_text(without)
    life.start_again()
    life.go_on(10)
    assert life.hinted == []


def test_a_life_goes_on_with_the_timers_that_hints_tell(begin) -> None:
    life = two_halves(begin, SETTINGS.replace("5m", "5m, candidateTtl: 10m"))
    life.until(lambda: life.hinted, within=120)
    since = dict(life.autoscaler.memory.unneeded.since)
    life.go_on(120)
    life.start_again()
    life.go_on(10)
    assert life.autoscaler.memory.unneeded.since == since


def test_a_node_that_somebody_still_needs_waits_for_them(begin) -> None:
    life = two_halves(begin, AT_ONCE, replicas=2)
    for name in life.nodes:
        life.world.store.modify("nodes", name, "", lambda node: node["metadata"]["annotations"].update({DELAY: ""}))
    life.until(lambda: life.marked)
    life.go_on(60)
    assert len(life.nodes) == 2
    for name in life.nodes:
        life.world.store.modify("nodes", name, "", lambda node: node["metadata"]["annotations"].pop(DELAY))
    life.until(lambda: len(life.nodes) == 1, within=60)


def test_evictions_that_are_answered_late_hold_up_no_loop(begin) -> None:
    life = two_halves(begin, AT_ONCE + "\nloop: {actionTimeout: 100ms}")
    slow = Fault(when=evicts, latency=3.0)
    life.world.api_server.faults.append(slow)
    life.until(lambda: life.marked)
    began = monotonic()
    life.go_on(10)
    assert slow.hits
    assert monotonic() - began < 3.0
    life.world.api_server.faults.remove(slow)
    life.until(lambda: len(life.nodes) == 1)
    life.until(lambda: len(life.pods("Running")) == 4)


def test_nodes_that_became_empty_together_are_deleted_in_one_call(begin) -> None:
    life = begin(a_scenario(a_group("pool", max=5, desired=4), deployments=[a_deployment(replicas=0)]), AT_ONCE)
    life.until(lambda: life.nodes)
    life.until(lambda: not life.nodes)
    assert life.world.cloud.gate.calls["delete-instances"] == 1


def test_a_node_that_could_not_be_marked_is_not_told_to_be(begin) -> None:
    life = two_halves(begin, AT_ONCE)
    life.world.api_server.authorize = lambda request: "" if request.method == "PATCH" else None
    life.until(lambda: any("restore" in line for line in life.diary.lines))
    life.go_on(10)
    told = {event["reason"]: event["message"] for event in life.world.store.list("events", "default")}
    assert "may not patch nodes" in told["ScaleDownFailed"]
    assert "ScaleDown" not in told


def test_events_tell_how_a_node_went_and_that_another_could_not(begin) -> None:
    life = two_halves(begin, AT_ONCE.replace("30s}", "30s, maxPodEvictionTime: 30s}"))
    refuse = Fault(when=evicts, status=429)
    life.world.api_server.faults.append(refuse)
    life.until(lambda: any("could not be evicted" in line for line in life.diary.lines))
    life.world.api_server.faults.remove(refuse)
    life.until(lambda: len(life.nodes) == 1, within=3600)
    told = {
        (event["involvedObject"]["kind"], event["reason"], event["type"], event["message"])
        for event in life.world.store.list("events", "default")
    }
    assert {
        ("Node", "ScaleDown", "Normal", "marked the node as toBeDeleted/unschedulable"),
        ("Pod", "ScaleDownFailed", "Warning", "failed to delete pod for ScaleDown"),
        ("Pod", "ScaleDown", "Normal", "deleting pod for node scale down"),
    } <= told
    (failed,) = {message for kind, reason, _, message in told if (kind, reason) == ("Node", "ScaleDownFailed")}
    assert failed.startswith("failed to drain and delete node: default/web-")
    status = {event["message"] for event in life.world.store.list("events", "kube-system")}
    (gone,) = {"pool-1", "pool-2"} - set(life.nodes)
    assert f"Scale-down: node {gone} removed with drain" in status
    begun = f"Scale-down: removing node {gone}, utilization: {{0.5 0.5 0 0 memory 0.5}}, pods to reschedule: web-"
    assert any(message.startswith(begun) for message in status)
