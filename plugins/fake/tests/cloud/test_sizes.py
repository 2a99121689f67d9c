"""How groups grow and shrink when nothing goes wrong."""

import pytest
from nodewright_fake.cloud.refusal import RefusalError


def test_machines_of_the_initial_size_are_up_and_ready_when_the_world_begins(bench, group) -> None:
    b = bench(group(desired=2))
    assert b.states("web") == ["Running", "Running"]
    b.run(0)
    assert [(machine.name, machine.ready_after) for machine in b.kubelets.booted] == [("web-1", 0.0), ("web-2", 0.0)]


def test_an_increase_makes_machines_that_run_after_their_boot_time(bench, group) -> None:
    b = bench(group(boot_time="30s"))
    assert b.cloud.increase("web", 2) == 2
    assert b.states("web") == ["Creating", "Creating"]
    b.run(29)
    assert b.states("web") == ["Creating", "Creating"]
    b.run(1)
    assert b.states("web") == ["Running", "Running"]


def test_a_machine_brings_everything_its_node_needs(bench, group) -> None:
    b = bench(
        group("gpu", instance_type="g4.xlarge", taints=["gpu:NoSchedule"], labels={"team": "ml"}, ready_time="5s")
    )
    b.cloud.increase("gpu", 1)
    b.run(60)
    [machine] = b.kubelets.booted
    assert machine.id == "fake://eu-a/gpu-1"
    assert machine.ready_after == 5.0
    assert machine.capacity["nvidia.com/gpu"] == 1
    assert machine.allocatable["cpu"] == 4000
    assert [str(taint) for taint in machine.taints] == ["gpu:NoSchedule"]
    assert machine.labels == {
        "fake.nodewright.dev/accelerator": "tesla",
        "fake.nodewright.dev/capacity": "on-demand",
        "fake.nodewright.dev/node-group": "gpu",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "g4.xlarge",
        "team": "ml",
        "topology.kubernetes.io/region": "eu",
        "topology.kubernetes.io/zone": "eu-a",
    }


def test_an_increase_beyond_the_maximum_is_refused_and_changes_nothing(bench, group) -> None:
    b = bench(group(max=3, desired=2))
    with pytest.raises(RefusalError, match="group web can't grow from 2 to 4 machines: its maximum is 3"):
        b.cloud.increase("web", 2)
    assert b.cloud.group("web").desired == 2
    assert len(b.states("web")) == 2


def test_a_caller_may_narrow_the_maximum_down(bench, group) -> None:
    b = bench(group(max=9, desired=2))
    with pytest.raises(RefusalError, match="its maximum is 3"):
        b.cloud.increase("web", 2, up_to=3)


def test_deletion_lowers_the_size_and_takes_its_time(bench, group) -> None:
    b = bench(group(desired=3, delete_time="20s"))
    b.run(0)
    assert b.cloud.delete_instances("web", ["fake://eu-a/web-2"]) == 2
    assert b.states("web") == ["Running", "Deleting", "Running"]
    assert b.kubelets.shut == []
    b.run(20)
    assert b.names("web") == ["web-1", "web-3"]
    assert b.kubelets.shut == ["web-2"]


def test_deletion_below_the_minimum_is_refused_before_anything_is_deleted(bench, group) -> None:
    b = bench(group(min=1, desired=2))
    with pytest.raises(RefusalError, match="group web can't lose 2 of 2 machines: its minimum is 1"):
        b.cloud.delete_instances("web", ["fake://eu-a/web-1", "fake://eu-a/web-2"])
    assert b.states("web") == ["Running", "Running"]


def test_forced_deletion_passes_the_minimum(bench, group) -> None:
    b = bench(group(min=1, desired=1))
    assert b.cloud.delete_instances("web", ["fake://eu-a/web-1"], force=True) == 0


def test_deleting_what_is_gone_or_going_is_no_error_and_lowers_nothing(bench, group) -> None:
    b = bench(group(min=1, desired=3))
    b.cloud.delete_instances("web", ["fake://eu-a/web-1"])
    assert b.cloud.delete_instances("web", ["fake://eu-a/web-1"]) == 2
    b.run(60)
    assert b.cloud.delete_instances("web", ["fake://eu-a/web-1"]) == 2


@pytest.mark.parametrize("machine", ["fake://eu-b/api-1", "fake://eu-a/unheard-of", "aws:///i-1"])
def test_a_machine_of_another_group_is_not_deleted(bench, group, machine) -> None:
    b = bench(group(desired=2), group("api", zone="eu-b", desired=1))
    with pytest.raises(RefusalError, match=f"machine {machine} does not belong to group web"):
        b.cloud.delete_instances("web", ["fake://eu-a/web-1", machine])
    assert b.states("web") == ["Running", "Running"]


def test_a_machine_deleted_while_it_boots_never_registers(bench, group) -> None:
    b = bench(group())
    b.cloud.increase("web", 1)
    b.cloud.delete_instances("web", ["fake://eu-a/web-1"])
    b.run(300)
    assert b.kubelets.booted == []
    assert b.kubelets.shut == []
    assert b.states("web") == []


def test_names_are_never_used_again(bench, group) -> None:
    b = bench(group(desired=1))
    b.cloud.delete_instances("web", ["fake://eu-a/web-1"])
    b.run(60)
    b.cloud.increase("web", 1)
    assert b.names("web") == ["web-2"]


def test_demand_that_was_met_can_not_be_taken_back(bench, group) -> None:
    b = bench(group(desired=2))
    with pytest.raises(RefusalError, match="can't be asked for 1 machines without deleting any: it has 2"):
        b.cloud.decrease_target("web", 1)


def test_groups_are_created_and_deleted_when_empty(bench, group) -> None:
    b = bench()
    b.cloud.create_group(group("extra", max=2))
    with pytest.raises(RefusalError, match="there is a node group 'extra' already"):
        b.cloud.create_group(group("extra"))
    b.cloud.increase("extra", 1)
    with pytest.raises(RefusalError, match="group extra is asked for 1 and has 1 machines"):
        b.cloud.delete_group("extra")
    b.cloud.delete_instances("extra", ["fake://eu-a/extra-1"])
    b.run(60)
    b.cloud.delete_group("extra")
    with pytest.raises(RefusalError, match="there is no node group 'extra'"):
        b.cloud.increase("extra", 1)


def test_boot_times_lie_within_their_bounds_and_follow_the_seed(bench, group) -> None:
    def boot_times(seed):
        b = bench(group(boot_time="30s..60s"), seed=seed)
        b.cloud.increase("web", 8)
        return [machine.boot_time for machine in b.cloud.instances("web")]

    assert boot_times(1) == boot_times(1) != boot_times(2)
    assert len(set(boot_times(1))) == 8
    assert all(30 <= seconds <= 60 for seconds in boot_times(1))


def test_only_running_machines_cost_money(bench, group) -> None:
    b = bench(group(desired=1, delete_time="0s"), group("cheap", spot=True, boot_time="30m"))
    b.cloud.increase("cheap", 1)
    b.run(3600)
    assert b.cloud.spending["web"].hours == pytest.approx(1)
    assert b.cloud.spending["cheap"].hours == pytest.approx(0.5)
    assert b.cloud.spending["cheap"].cost == pytest.approx(0.5 * 0.04)
    b.cloud.delete_instances("web", ["fake://eu-a/web-1"])
    b.run(3600)
    assert b.cloud.spending["web"].cost == pytest.approx(0.1)
    assert b.cloud.spending["cheap"].cost == pytest.approx(1.5 * 0.04)
