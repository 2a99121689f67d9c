"""What goes wrong in clouds and clusters, and that nothing is lost by it."""

from random import Random

from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind

from tests.end_to_end.scenarios import a_group, a_scenario

FAST = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s}\nhealth: {maxNodeProvisionTime: 3m}"


def all_run(life, count=4):
    return lambda: len(life.pods("Running")) == count


class TestTheCloud:
    def test_a_cloud_that_can_not_be_read_freezes_its_groups(self, begin) -> None:
        life = begin(settings=FAST)
        life.until(all_run(life))
        life.scale("web", 0)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE))
        decision = life.go_on(300)
        assert decision.quiet
        assert {verdict.reason for verdict in decision.nodes.values()} == {"ProviderError"}
        life.world.cloud.gate.heal("*")
        life.until(lambda: life.nodes == [])

    def test_spot_machines_that_vanish_are_replaced(self, begin) -> None:
        life = begin()
        life.until(all_run(life))
        for instance in life.world.cloud.instances("first-choice"):
            life.world.cloud.fleet.reclaim(instance, 0)
        life.until(lambda: not life.pods("Running"), within=60)
        life.until(all_run(life))


class TestTheApiServer:
    def test_trouble_on_the_way_delays_and_loses_nothing(self, begin) -> None:
        life = begin(settings=FAST)
        # By chance: every n-th would strike at the same step of each removal.
        chance = Random(0)
        life.world.api_server.faults.append(Fault(when=lambda request: chance.random() < 0.2, status=503))
        life.until(all_run(life))
        life.scale("web", 0)
        life.until(lambda: life.nodes == [], within=3600)

    def test_lost_watches_are_taken_up_again(self, begin) -> None:
        life = begin(settings=FAST)
        for _ in range(12):
            life.world.api_server.drop_watches()
            life.world.api_server.compact()
            # Long enough for watches to be of use: who loses them at once is more patient each time.
            life.go_on(20)
        assert len(life.pods("Running")) == 4


class TestDrains:
    """Two nodes, each half full: one of them is one too many."""

    SETTINGS = "scaleDown: {unneededTime: 1m, delayAfterAdd: 30s, maxPodEvictionTime: 1m, maxDrainParallelism: 5}"

    def half_full(self, begin, **workloads):
        life = begin(a_scenario(a_group("pool", max=5, desired=2), **workloads), self.SETTINGS)
        life.until(all_run(life))
        assert sorted(pod["spec"]["nodeName"] for pod in life.pods()) == ["pool-1"] * 2 + ["pool-2"] * 2
        return life

    def test_pods_move_and_the_node_goes(self, begin) -> None:
        life = self.half_full(begin)
        life.until(lambda: len(life.nodes) == 1)
        life.until(all_run(life))

    def test_a_budget_is_never_broken(self, begin) -> None:
        life = self.half_full(begin, budgets=[{"for": "web", "maxUnavailable": 1}])
        for _ in range(30):
            life.go_on(10)
            unbroken = [pod for pod in life.pods("Running") if "deletionTimestamp" not in pod["metadata"]]
            assert len(unbroken) >= 3
        assert len(life.nodes) == 1
        assert any("will be tried again" in line and "evict" in line for line in life.diary.lines)

    def test_a_drain_that_can_not_end_leaves_no_mark(self, begin) -> None:
        life = self.half_full(begin)
        refuse = Fault(when=lambda request: request.path.endswith("/eviction"), status=429)
        life.world.api_server.faults.append(refuse)
        life.until(lambda: any("could not be evicted" in line for line in life.diary.lines))
        life.go_on(20)
        assert len(life.nodes) == 2
        assert life.marked == []

    def test_the_next_life_undoes_what_it_does_not_know(self, begin) -> None:
        life = self.half_full(begin)
        taint = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}
        mark = {"taints": [taint], "unschedulable": True}
        life.world.store.modify("nodes", "pool-1", "", lambda node: node["spec"].update(mark))
        life.go_on(10)
        assert not life.world.store.get("nodes", "pool-1")["spec"].get("unschedulable")
        assert "restore pool-1" in "\n".join(life.diary.lines)
