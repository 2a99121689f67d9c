"""What is asked of Google to shrink a group, and to give up what has not come."""

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
from nodewright_gce.testing.urls import url

from .words import CREATE, DELETE, RESIZE, again, asked, node, placeholder, states


def names(machines):
    return [each.name for each in machines]


def left(double, name="workers"):
    return [each.name for each in double.machines(name) if not each.going]


def test_deleted_machines_take_their_place_in_the_target_along(double, workers) -> None:
    group = workers()
    first, second, third = double.machines("workers")
    group.delete_nodes([node(first), node(third)])
    assert left(double) == [second.name]
    assert double.mig("workers").target == group.target_size == 1
    assert states(group) == {
        first.name: InstanceState.DELETING,
        second.name: InstanceState.RUNNING,
        third.name: InstanceState.DELETING,
    }
    (order,) = asked(double, "delete_instances")
    assert order["skipInstancesOnValidationError"] is True
    assert all(each.startswith("https://") for each in order["instances"])


@pytest.mark.scenario(22)
def test_nothing_is_deleted_if_that_would_fall_below_the_minimum(double, workers) -> None:
    group = workers(least=3, size=4)
    first, second, *_ = double.machines("workers")
    with pytest.raises(SizeLimitError, match="can't lose 2 of 4 machines: 3 is its minimum"):
        group.delete_nodes([node(first), node(second)])
    assert double.calls[DELETE] == 0
    assert len(left(double)) == double.mig("workers").target == 4


def test_the_minimum_holds_against_what_another_client_did_since(double, workers) -> None:
    group = workers(least=2, size=4)
    first, second, *_ = double.machines("workers")
    double.do("instance_group_managers", "resize", "workers", size=3)
    with pytest.raises(SizeLimitError, match="of 3 machines: 2 is its minimum"):
        group.delete_nodes([node(first), node(second)])
    assert double.mig("workers").target == 3


def test_by_force_machines_are_deleted_below_the_minimum(double, workers) -> None:
    group = workers(least=3)
    first, *_ = double.machines("workers")
    group.force_delete_nodes([node(first)])
    assert double.mig("workers").target == group.target_size == 2


@pytest.mark.scenario(23)
@pytest.mark.parametrize(
    "provider_id", ["gce://double/europe-west1-b/others-1", "gce://other/europe-west1-b/{}", "aws:///a/i-1", ""]
)
def test_nothing_is_deleted_if_one_node_is_foreign(double, workers, provider_id) -> None:
    group = workers()
    first, *_ = double.machines("workers")
    foreign = a_node("n", provider_id=provider_id.format(first.name))
    with pytest.raises(ForeignNodeError, match=r"is not a machine of group .*workers: nothing is deleted"):
        group.delete_nodes([node(first), foreign])
    assert not double.calls


@pytest.mark.scenario(23)
def test_a_node_of_another_group_is_foreign(double, start) -> None:
    double.make_mig("workers", size=1)
    double.make_mig("writers", size=1)
    workers, _ = start().groups()
    (theirs,) = double.machines("writers")
    with pytest.raises(ForeignNodeError):
        workers.delete_nodes([node(theirs)])
    assert left(double, "writers") == [theirs.name]


@pytest.mark.scenario(24)
def test_deleting_twice_is_no_error_and_lowers_the_target_once(double, workers) -> None:
    group = workers(least=2)
    first, *_ = double.machines("workers")
    group.delete_nodes([node(first), node(first)])
    group.delete_nodes([node(first)])
    assert double.mig("workers").target == group.target_size == 2
    assert double.calls[DELETE] == 1


@pytest.mark.scenario(24)
def test_a_machine_that_is_gone_since_is_no_error(double, start) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    first, second, _ = double.machines("workers")
    double.do("instance_group_managers", "delete_instances", "workers", instances=[url(first.path)])
    double.settle()
    provider.groups()[0].delete_nodes([node(first), node(second)])
    double.settle()
    again(provider).delete_nodes([node(first)])
    assert double.mig("workers").target == provider.groups()[0].target_size == 1


def test_a_machine_that_was_abandoned_and_lives_on_is_foreign(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start()
    first, _ = double.machines("workers")
    double.do("instance_group_managers", "abandon_instances", "workers", instances=[url(first.path)])
    group = again(provider)
    assert states(group)[first.name] is InstanceState.DELETING
    double.settle()
    with pytest.raises(ForeignNodeError):
        again(provider).delete_nodes([node(first)])


@pytest.mark.scenario(25)
def test_more_machines_than_one_request_may_name_are_deleted_in_two(double, workers) -> None:
    group = workers(size=1200, most=2000)
    group.delete_nodes([node(each) for each in double.machines("workers")])
    assert double.calls[DELETE] == 2
    assert [len(each["instances"]) for each in asked(double, "delete_instances")] == [1000, 200]
    assert double.mig("workers").target == group.target_size == 0


def test_where_only_the_first_request_is_taken_the_facts_say_so(double, workers) -> None:
    group = workers(size=1200, most=2000)
    double.faults.throttle("instance_group_managers:delete_instances").spared = 1
    with pytest.raises(ThrottledError):
        group.delete_nodes([node(each) for each in double.machines("workers")])
    assert double.mig("workers").target == group.target_size == 200
    assert [*states(group).values()].count(InstanceState.RUNNING) == 200


def test_a_deletion_that_was_refused_leaves_the_facts(double, workers) -> None:
    group = workers()
    first, *_ = double.machines("workers")
    double.faults.throttle("instance_group_managers:delete_instances")
    with pytest.raises(ThrottledError):
        group.delete_nodes([node(first)])
    assert group.target_size == 3
    assert states(group)[first.name] is InstanceState.RUNNING


def test_a_deletion_whose_answer_was_lost_is_made_once(double, workers) -> None:
    group = workers()
    first, *_ = double.machines("workers")
    double.faults.drop("instance_group_managers:delete_instances", times=1, after=True)
    group.delete_nodes([node(first)])
    assert double.mig("workers").target == group.target_size == 2


def test_a_deletion_of_a_group_that_is_gone_says_so(double, workers) -> None:
    group = workers()
    first, *_ = double.machines("workers")
    double.do("instance_group_managers", "delete", "workers")
    with pytest.raises(GroupNotFoundError):
        group.delete_nodes([node(first)])


def test_a_machine_that_was_told_to_go_is_not_told_again_while_google_shows_it(double, start) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    first, *_ = double.machines("workers")
    double.faults.stale()
    provider.groups()[0].delete_nodes([node(first)])
    group = again(provider)
    assert (group.target_size, states(group)[first.name]) == (2, InstanceState.DELETING)
    group.delete_nodes([node(first)])
    assert double.calls[DELETE] == 1
    assert double.mig("workers").target == 2


@pytest.mark.scenario(26)
def test_machines_that_are_only_listed_are_given_up_by_name(double, start) -> None:
    double.make_mig("workers", size=2)
    running = names(double.machines("workers"))
    double.run_out(silent=True)
    provider = start()
    provider.groups()[0].increase(3)
    group = again(provider)
    group.decrease_target(2)
    assert double.mig("workers").target == group.target_size == 3
    assert (double.calls[DELETE], double.calls[RESIZE]) == (1, 0)
    assert {*running} < {*left(double)}


@pytest.mark.scenario(26)
def test_a_target_that_is_met_is_not_lowered(double, workers) -> None:
    group = workers()
    with pytest.raises(SizeLimitError, match="waits for 0 machines, so its target of 3 can't be lowered by 1"):
        group.decrease_target(1)
    assert (double.calls[DELETE], double.calls[RESIZE], double.mig("workers").target) == (0, 0, 3)


@pytest.mark.parametrize("count", [0, -1])
def test_giving_up_nothing_changes_nothing(double, workers, count) -> None:
    group = workers()
    with pytest.raises(SizeLimitError):
        group.decrease_target(count)
    assert double.mig("workers").target == 3


def test_a_machine_that_exists_by_now_is_not_given_up(double, start) -> None:
    double.make_mig("workers", size=1)
    double.run_out(silent=True)
    provider = start()
    provider.groups()[0].increase(1)
    group = again(provider)
    double.restock()
    double.settle()
    with pytest.raises(SizeLimitError, match="waits for 0 machines"):
        group.decrease_target(1)
    assert len(left(double)) == 2


def test_what_has_not_come_is_given_up_only_down_to_the_minimum(double, start) -> None:
    double.make_mig("workers", size=1)
    double.run_out(silent=True)
    provider = start(least=2)
    provider.groups()[0].increase(1)
    with pytest.raises(SizeLimitError, match="2 is its minimum"):
        again(provider).decrease_target(1)
    assert double.mig("workers").target == 2


def test_what_is_not_even_listed_is_given_up_by_a_resize_once_answers_are_sure(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start()
    double.faults.stale("instance_group_managers:list_managed_instances")
    provider.groups()[0].increase(1)
    group = again(provider)
    with pytest.raises(TemporaryError, match="may not list yet what came of the last order"):
        group.decrease_target(1)
    double.clock.advance(61)
    again(provider).decrease_target(1)
    assert (double.calls[RESIZE], double.mig("workers").target) == (1, 2)


def test_machines_that_failed_are_deleted_as_they_never_became_nodes(double, start) -> None:
    double.make_mig("workers", size=1)
    double.run_out()
    provider = start()
    provider.groups()[0].increase(2)
    double.settle()
    group = again(provider)
    group.delete_nodes([placeholder(each) for each in group.instances() if each.error])
    double.settle()
    assert double.mig("workers").target == again(provider).target_size == 1
    assert not [each for each in provider.groups()[0].instances() if each.error]


@pytest.mark.scenario(27)
def test_a_machine_that_is_made_anew_is_creating_under_its_id_and_not_deleted_twice(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start()
    first, _ = double.machines("workers")
    before = next(each for each in provider.groups()[0].instances() if each.id == first.provider_id)
    double.take_away(first)
    group = again(provider)
    now = next(each for each in group.instances() if each.id == first.provider_id)
    assert (now.state, now.error, before.state) == (InstanceState.CREATING, None, InstanceState.RUNNING)
    group.delete_nodes([node(first)])
    group.delete_nodes([node(first)])
    assert double.calls[DELETE] == 1
    assert double.mig("workers").target == 1


def test_a_spot_machine_that_comes_back_under_its_name_is_not_taken_for_the_one_that_was_deleted(double, start) -> None:
    double.make_mig("workers", size=2, spot=True)
    provider = start()
    first, second = double.machines("workers")
    old = {each.id: each.incarnation for each in provider.groups()[0].instances()}
    double.preempt(first)
    double.clock.advance(31)
    assert states(again(provider))[first.name] is InstanceState.CREATING
    double.settle()
    group = again(provider)
    new = {each.id: each.incarnation for each in group.instances()}
    assert new.keys() == old.keys()
    assert new[first.provider_id] != old[first.provider_id]
    assert new[second.provider_id] == old[second.provider_id]
    assert group.target_size == 2
    assert [*states(group).values()] == [InstanceState.RUNNING] * 2


def test_a_machine_made_anew_after_its_deletion_was_ordered_is_not_shown_as_going(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start()
    first, _ = double.machines("workers")
    provider.groups()[0].delete_nodes([node(first)])
    double.settle()
    instances = [{"name": first.name}]
    double.do("instance_group_managers", "create_instances", "workers", instances=instances)
    double.settle()
    assert states(again(provider))[first.name] is InstanceState.RUNNING


def test_a_machine_that_was_repaired_as_it_was_deleted_is_shown_as_going_and_deleted_once(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start()
    first, _ = double.machines("workers")
    double.take_away(first)
    double.lags(30)
    provider.groups()[0].delete_nodes([node(first)])
    group = again(provider)
    assert states(group)[first.name] is InstanceState.DELETING
    group.delete_nodes([node(first)])
    assert double.mig("workers").target == group.target_size == 1


def test_machines_that_stand_by_are_no_part_of_the_target(double, start) -> None:
    double.make_mig("workers", size=2, stopped=1, suspended=1)
    (group,) = start().groups()
    assert group.target_size == 2
    assert sorted(states(group).values()) == [InstanceState.RUNNING] * 2 + [InstanceState.STOPPED] * 2


def test_connection_loss_while_deleting_says_so(double, workers) -> None:
    group = workers()
    first, *_ = double.machines("workers")
    double.faults.drop()
    with pytest.raises(CloudUnavailableError):
        group.delete_nodes([node(first)])
    double.faults.heal()
    assert double.mig("workers").target == group.target_size == 3


def test_machines_in_a_queue_are_given_up_together_by_cancelling_their_request(double, start) -> None:
    double.make_mig("workers", size=1, accelerators={"nvidia-tesla-t4": 1}, machine_type="n1-standard-8", **UNREPAIRED)
    double.run_out()
    provider = start()
    (group,) = provider.groups()
    assert group.atomic
    group.increase_atomically(2)
    assert double.calls[CREATE] == 0
    double.settle()
    group = again(provider)
    waiting = [each for each in group.instances() if each.state is InstanceState.CREATING]
    assert [each.error for each in waiting] == [None, None]
    assert group.target_size == 3

    with pytest.raises(PermanentError, match=r"2 machines .* wait in its queue, and all of a resize request come"):
        group.delete_nodes([placeholder(waiting[0])])
    group.delete_nodes(list(map(placeholder, waiting)))
    assert double.mig("workers").target == group.target_size == 1
    assert [each.state for each in double.mig("workers").requests.values()] == ["CANCELLED"]


def test_machines_of_a_queue_come_when_they_can_be_had(double, start) -> None:
    double.make_mig("workers", size=0, accelerators={"nvidia-tesla-t4": 1}, machine_type="n1-standard-8", **UNREPAIRED)
    double.run_out()
    provider = start()
    provider.groups()[0].increase_atomically(2)
    provider.refresh()
    double.restock()
    double.settle()
    assert [*states(again(provider)).values()] == [InstanceState.RUNNING] * 2


#: Google takes resize requests only for groups that do not repair machines.
UNREPAIRED = {"instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"}}


def test_an_order_still_counts_while_google_lags_behind_if_nothing_could_be_given_up(double, start) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    double.lags(30)
    provider.groups()[0].increase(2)
    group = again(provider)
    with pytest.raises(TemporaryError):
        group.decrease_target(2)
    assert again(provider).target_size == 5


def test_the_target_does_not_fall_below_none_if_others_deleted_the_same_machines(double, start) -> None:
    double.make_mig("workers", size=2)
    (group,) = start().groups()
    machines = double.machines("workers")
    double.do("instance_group_managers", "resize", "workers", size=1)
    double.settle()
    group.force_delete_nodes([node(each) for each in machines])
    assert group.target_size == double.mig("workers").target == 0
