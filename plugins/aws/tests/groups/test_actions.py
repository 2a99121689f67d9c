"""What is asked of AWS to grow and to shrink a group."""

import re
from threading import Thread

import pytest
from nodewright.api import (
    CloudUnavailableError,
    ForeignNodeError,
    GroupNotFoundError,
    InstanceState,
    PermanentError,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
)
from nodewright.testing import a_node

from .machines import machine, machine_id, node, placeholder


@pytest.fixture
def workers(aws, start):
    """Make the group of three machines, or of those that are given."""

    def workers(spec="0:100:workers", **more):
        aws.add("workers", **({"machines": [machine(1), machine(2), machine(3)]} | more))
        (group,) = start({"groups": [spec]}).groups()
        aws.calls.clear()
        return group

    return workers


def asg(aws):
    return aws.groups["workers"]


def terminating(aws):
    return [each["InstanceId"] for each in asg(aws)["Instances"] if each["LifecycleState"] == "Terminating"]


def states(group):
    return {each.id.rpartition("/")[2]: each.state for each in group.instances()}


def test_growth_sets_desired_capacity_and_shows_at_once(aws, workers) -> None:
    group = workers()
    group.increase(2)
    assert asg(aws)["DesiredCapacity"] == 5
    assert group.target_size == 5
    assert len(group.instances()) == 5
    assert aws.calls == {
        "describe_auto_scaling_groups": 2,
        "describe_scaling_activities": 1,
        "set_desired_capacity": 1,
    }


def test_growth_beyond_the_maximum_is_refused_before_any_call(aws, workers) -> None:
    group = workers("0:4:workers")
    with pytest.raises(SizeLimitError, match="group workers can't grow to 5: its maximum is 4"):
        group.increase(2)
    assert not aws.calls
    assert group.target_size == 3


def test_growth_beyond_a_maximum_that_was_lowered_meanwhile_is_refused(aws, workers) -> None:
    group = workers()
    asg(aws)["MaxSize"] = 4
    with pytest.raises(SizeLimitError, match="its maximum is 4"):
        group.increase(2)
    assert asg(aws)["DesiredCapacity"] == 3


def test_growth_never_takes_back_what_somebody_else_changed(aws, workers) -> None:
    group = workers()
    asg(aws)["DesiredCapacity"] = 6
    with pytest.raises(TemporaryError, match="group workers was resized by another client, from 3 to 6"):
        group.increase(1)
    assert asg(aws)["DesiredCapacity"] == 6
    assert group.target_size == 3


def test_growth_of_a_group_that_is_gone_says_so(aws, workers) -> None:
    group = workers()
    aws.groups.clear()
    with pytest.raises(GroupNotFoundError, match="AWS has no Auto Scaling group 'workers' any more"):
        group.increase(1)


def test_growth_that_aws_launches_nothing_for_is_refused(workers) -> None:
    group = workers(SuspendedProcesses=[{"ProcessName": "Launch"}])
    with pytest.raises(PermanentError, match="group workers can't grow: its process Launch is suspended: resume it"):
        group.increase(1)


def test_growth_that_fails_leaves_the_target(aws, workers) -> None:
    group = workers()
    aws.trouble["set_desired_capacity"] = ThrottledError("slower")
    with pytest.raises(ThrottledError):
        group.increase(1)
    assert group.target_size == 3


def test_growth_whose_answer_was_lost_is_not_doubled(aws, workers, monkeypatch) -> None:
    group = workers()
    real = aws.set_desired_capacity

    def lose(**arguments):
        real(**arguments)
        raise CloudUnavailableError("no answer")

    monkeypatch.setattr(aws, "set_desired_capacity", lose)
    with pytest.raises(CloudUnavailableError):
        group.increase(2)
    monkeypatch.setattr(aws, "set_desired_capacity", real)
    with pytest.raises(TemporaryError, match="from 3 to 5"):
        group.increase(2)
    assert asg(aws)["DesiredCapacity"] == 5


def test_failures_from_before_an_order_do_not_count_for_it(aws, workers, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(
        "nodewright_aws.parts.Activities.asked", lambda _, name: asked.append((name, asg(aws)["DesiredCapacity"]))
    )
    workers().increase(1)
    assert asked == [("workers", 3)]


def test_deleted_machines_take_their_place_in_desired_capacity_along(aws, workers) -> None:
    group = workers()
    group.delete_nodes([node(1), node(3)])
    assert terminating(aws) == [machine_id(1), machine_id(3)]
    assert asg(aws)["DesiredCapacity"] == group.target_size == 1
    assert states(group) == {
        machine_id(1): InstanceState.DELETING,
        machine_id(2): InstanceState.RUNNING,
        machine_id(3): InstanceState.DELETING,
    }


def test_growth_after_a_deletion_in_the_same_loop_knows_of_it(aws, workers) -> None:
    group = workers()
    group.delete_nodes([node(1)])
    group.increase(2)
    assert asg(aws)["DesiredCapacity"] == 4


@pytest.mark.parametrize(
    "foreign",
    [node(9), a_node("x", provider_id=""), a_node("x", provider_id="gce://p/z/n"), placeholder(0, "others"), node(7)],
)
def test_nothing_is_deleted_if_one_node_is_foreign(aws, workers, foreign) -> None:
    aws.add("others", machines=[machine(7)])
    group = workers()
    with pytest.raises(ForeignNodeError, match="is not a machine of group workers: nothing is deleted"):
        group.delete_nodes([node(1), foreign])
    assert terminating(aws) == []


@pytest.mark.parametrize(("spec", "low"), [("2:10:workers", 0), ("0:10:workers", 2)])
def test_nothing_is_deleted_if_that_would_fall_below_the_minimum(aws, workers, spec, low) -> None:
    group = workers(spec, low=low)
    with pytest.raises(SizeLimitError, match="group workers can't lose 2 of 3 machines: 2 is its minimum"):
        group.delete_nodes([node(1), node(2)])
    assert terminating(aws) == []
    assert group.target_size == 3


def test_deleting_twice_is_no_error_and_lowers_once(aws, workers) -> None:
    group = workers("2:10:workers")
    group.delete_nodes([node(1), node(1)])
    group.delete_nodes([node(1)])
    assert asg(aws)["DesiredCapacity"] == group.target_size == 2
    assert aws.calls["terminate_instance_in_auto_scaling_group"] == 1


def test_a_machine_that_is_gone_since_is_no_error(aws, start) -> None:
    aws.add("workers", machines=[machine(1), machine(2)])
    provider = start()
    asg(aws)["Instances"].pop(0)
    asg(aws)["DesiredCapacity"] = 1
    provider.groups()[0].delete_nodes([node(1)])
    provider.refresh()
    provider.groups()[0].delete_nodes([node(1)])
    assert asg(aws)["DesiredCapacity"] == provider.groups()[0].target_size == 1


def test_a_machine_that_goes_while_it_is_being_deleted_is_no_error(aws, workers) -> None:
    group = workers()

    def vanish():
        asg(aws)["Instances"].pop(0)
        asg(aws)["DesiredCapacity"] = 2

    aws.before["terminate_instance_in_auto_scaling_group"] = vanish
    group.delete_nodes([node(1)])
    assert group.target_size == 2


def test_where_one_can_not_be_deleted_the_others_go_and_the_error_names_it(aws, workers) -> None:
    group = workers()
    aws.trouble[machine_id(2)] = TemporaryError("a scaling activity is in progress")
    with pytest.raises(TemporaryError, match=f"1 of 3 .* could not be deleted: {machine_id(2)}: a scaling activity"):
        group.delete_nodes([node(1), node(2), node(3)])
    assert terminating(aws) == [machine_id(1), machine_id(3)]
    assert group.target_size == 1


def test_once_aws_does_not_answer_the_rest_is_left_and_the_truth_is_read(aws, workers) -> None:
    group = workers()
    aws.trouble[machine_id(1)] = CloudUnavailableError("AWS did not answer")
    with pytest.raises(CloudUnavailableError, match=f"2 of 2 .*{machine_id(1)}, {machine_id(2)}: AWS did not answer"):
        group.delete_nodes([node(1), node(2)])
    assert aws.calls["terminate_instance_in_auto_scaling_group"] == 1
    assert group.target_size == 3


def test_a_deletion_that_is_throttled_says_when_to_try_again(aws, workers) -> None:
    group = workers()
    aws.trouble[machine_id(2)] = ThrottledError("slower", retry_after=7)
    with pytest.raises(ThrottledError, match=f"^2 of 3 .*{machine_id(2)}, {machine_id(3)}: slower$") as error:
        group.delete_nodes([node(1), node(2), node(3)])
    assert error.value.retry_after == 7


def test_a_deletion_that_fails_in_several_ways_says_when_to_try_again_too(aws, workers) -> None:
    group = workers()
    aws.trouble[machine_id(1)] = PermanentError("never")
    aws.trouble[machine_id(2)] = ThrottledError("slower", retry_after=7)
    with pytest.raises(ThrottledError, match=f"{machine_id(1)}: never; {machine_id(2)}: slower") as error:
        group.delete_nodes([node(1), node(2)])
    assert error.value.retry_after == 7


def test_failures_of_several_kinds_are_temporary_if_one_is(aws, workers) -> None:
    group = workers()
    aws.trouble[machine_id(1)] = TemporaryError("busy")
    aws.trouble[machine_id(2)] = PermanentError("never")
    with pytest.raises(TemporaryError, match=f"{machine_id(1)}: busy; {machine_id(2)}: never"):
        group.delete_nodes([node(1), node(2)])


def test_deleted_placeholders_lower_desired_capacity_by_as_many(aws, workers) -> None:
    group = workers(desired=6)
    group.delete_nodes([placeholder(5), placeholder(4)])
    assert asg(aws)["DesiredCapacity"] == group.target_size == 4
    assert aws.calls["terminate_instance_in_auto_scaling_group"] == 0


def test_placeholders_that_became_machines_are_not_given_up(aws, workers) -> None:
    group = workers(desired=5)
    asg(aws)["Instances"].append(machine(4, "Pending"))
    group.delete_nodes([placeholder(3), placeholder(4)])
    assert asg(aws)["DesiredCapacity"] == 4
    assert terminating(aws) == []


def test_placeholders_and_machines_go_together(aws, workers) -> None:
    group = workers(desired=4)
    group.delete_nodes([placeholder(3), node(2)])
    assert asg(aws)["DesiredCapacity"] == group.target_size == 2
    assert terminating(aws) == [machine_id(2)]


def test_placeholders_of_a_group_with_a_prefix_are_its_own(aws, start) -> None:
    aws.add("workers", desired=2)
    (group,) = start({"groups": ["0:5:workers"], "prefix": "dr/"}).groups()
    first, second = group.instances()
    assert first.id == "aws:///eu-west-1a/i-placeholder-dr/workers-0"
    group.delete_nodes([a_node("p", provider_id=second.id)])
    assert asg(aws)["DesiredCapacity"] == 1


def test_only_unmet_demand_is_given_up(aws, workers) -> None:
    group = workers(desired=5)
    with pytest.raises(SizeLimitError, match=r"waits for 2 machines, .* of 5 can't be lowered by 3"):
        group.decrease_target(3)
    group.decrease_target(2)
    assert asg(aws)["DesiredCapacity"] == group.target_size == 3


def test_demand_that_was_met_meanwhile_is_not_given_up(aws, workers) -> None:
    group = workers(desired=4)
    asg(aws)["Instances"].append(machine(4, "Pending"))
    with pytest.raises(SizeLimitError, match="waits for 0 machines"):
        group.decrease_target(1)


def test_demand_below_the_minimum_is_not_given_up(workers) -> None:
    group = workers("4:9:workers", desired=4)
    with pytest.raises(SizeLimitError, match="can't be lowered to 3: 4 is its minimum"):
        group.decrease_target(1)


def test_neither_growth_nor_giving_up_may_be_by_nothing(aws, workers) -> None:
    group = workers(desired=5)
    for action in (group.increase, group.decrease_target):
        with pytest.raises(SizeLimitError):
            action(0)
    assert asg(aws)["DesiredCapacity"] == 5
    assert "set_desired_capacity" not in aws.calls


def test_a_machine_still_to_come_that_is_named_twice_counts_once(aws, workers) -> None:
    group = workers(desired=5)
    group.delete_nodes([placeholder(4), placeholder(4)])
    assert asg(aws)["DesiredCapacity"] == 4


def test_forced_deletion_ignores_the_minimum_it_was_named_with(aws, workers) -> None:
    group = workers("3:9:workers")
    group.force_delete_nodes([node(1), node(2)])
    assert asg(aws)["DesiredCapacity"] == group.target_size == 1


def test_forced_deletion_below_the_minimum_of_aws_has_machines_replaced(aws, workers) -> None:
    group = workers(low=2)
    group.force_delete_nodes([node(1), node(2), node(3)])
    assert terminating(aws) == [machine_id(1), machine_id(2), machine_id(3)]
    assert asg(aws)["DesiredCapacity"] == group.target_size == 2


def test_forced_deletion_can_not_give_up_what_aws_insists_on(workers) -> None:
    group = workers(low=3, machines=[machine(1)], desired=3)
    with pytest.raises(SizeLimitError, match="still waits for 1 machines: AWS keeps its minimum of 3"):
        group.force_delete_nodes([placeholder(2)])


def test_a_group_below_its_minimum_loses_nothing_and_gains_nothing_by_force(aws, workers) -> None:
    group = workers("5:9:workers", desired=3, low=0)
    with pytest.raises(SizeLimitError, match=re.escape("can't lose 1 of 3 machines: 5 is its minimum")):
        group.delete_nodes([node(1)])
    assert asg(aws)["DesiredCapacity"] == 3


def test_groups_change_side_by_side(aws, start) -> None:
    for name in "abcd":
        aws.add(name)
    groups = start({"groups": [f"0:9:{name}" for name in "abcd"]}).groups()
    threads = [Thread(target=group.increase, args=(3,)) for group in groups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [group["DesiredCapacity"] for group in aws.groups.values()] == [3, 3, 3, 3]
    assert [group.target_size for group in groups] == [3, 3, 3, 3]
