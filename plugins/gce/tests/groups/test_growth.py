"""What is asked of Google to grow a group."""

import re

import pytest
from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    GroupNotFoundError,
    InstanceState,
    NodewrightError,
    PartialIncreaseError,
    PermanentError,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
    UnsupportedError,
)
from nodewright_gce.groups.names import Names

from .words import CREATE, DELETE, RESIZE, again, asked, states

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.scenario(10)
def test_growth_orders_machines_by_name_in_one_request_and_shows_at_once(double, workers) -> None:
    group = workers()
    group.increase(3)
    (order,) = asked(double, "create_instances")
    names = [each["name"] for each in order["instances"]]
    assert len({*names}) == 3
    assert all(re.fullmatch("workers-[bcdfghjklmnpqrstvwxz2456789]{4}", each) for each in names)
    assert order["requestId"]
    assert double.mig("workers").target == group.target_size == 6
    assert double.calls == {("instance_group_managers", "get"): 1, CREATE: 1, ("zone_operations", "get"): 1}


def test_machines_that_were_ordered_show_in_the_next_loop(double, start) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    provider.groups()[0].increase(2)
    assert sorted(states(again(provider)).values()) == [InstanceState.CREATING] * 2 + [InstanceState.RUNNING]


@pytest.mark.scenario(11)
def test_more_machines_than_one_request_names_are_ordered_by_one_resize(double, workers) -> None:
    group = workers(most=2000)
    group.increase(1500)
    assert double.mig("workers").target == group.target_size == 1503
    assert (double.calls[RESIZE], double.calls[CREATE]) == (1, 0)


@pytest.mark.scenario(11)
def test_a_resize_that_is_refused_leaves_nothing_ordered(double, workers) -> None:
    group = workers(most=2000)
    double.faults.throttle("instance_group_managers:resize")
    with pytest.raises(ThrottledError):
        group.increase(1500)
    assert double.mig("workers").target == group.target_size == 3


@pytest.mark.scenario(12)
def test_growth_beyond_the_maximum_is_refused_before_any_call(double, workers) -> None:
    group = workers(most=4)
    with pytest.raises(SizeLimitError, match="can't grow to 5: its maximum is 4"):
        group.increase(2)
    assert not double.calls


@pytest.mark.parametrize("count", [0, -1])
def test_growth_by_nothing_is_refused_before_any_call(double, workers, count) -> None:
    group = workers()
    with pytest.raises(SizeLimitError, match="can't grow by"):
        group.increase(count)
    assert not double.calls


def test_growth_counts_what_another_client_ordered_since(double, workers) -> None:
    group = workers(most=5)
    double.do("instance_group_managers", "resize", "workers", size=5)
    with pytest.raises(SizeLimitError, match="can't grow to 6: its maximum is 5"):
        group.increase(1)
    assert double.mig("workers").target == 5


def test_growth_by_name_adds_to_what_another_client_ordered_since(double, workers) -> None:
    group = workers()
    double.do("instance_group_managers", "resize", "workers", size=5)
    group.increase(1)
    assert double.mig("workers").target == group.target_size == 6


def test_a_resize_never_takes_back_what_another_client_ordered_since(double, workers) -> None:
    group = workers(base="workers-###")
    double.do("instance_group_managers", "resize", "workers", size=5)
    with pytest.raises(TemporaryError, match="was resized by another client, from 3 to 5"):
        group.increase(1)
    assert double.mig("workers").target == 5


def test_a_resize_never_takes_back_an_order_that_an_answer_shows_no_more(double, start) -> None:
    double.make_mig("workers", size=3, base="workers-###")
    provider = start()
    provider.groups()[0].increase(4)
    provider.refresh()
    double.do("instance_group_managers", "resize", "workers", size=3)
    provider.refresh()
    (group,) = provider.groups()

    with pytest.raises(TemporaryError, match="may not show the last order"):
        group.increase(1)

    assert double.mig("workers").target == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"base": "workers-###"},
        {"types": ["n2-standard-8", "n2-standard-4"]},
        {"bulk": True},
        {"standbyPolicy": {"mode": "SCALE_OUT_POOL"}},
    ],
    ids=str,
)
def test_groups_whose_machines_google_names_or_chooses_itself_are_resized(double, workers, fields) -> None:
    group = workers(size=1, **fields)
    group.increase(2)
    assert double.mig("workers").target == group.target_size == 3
    assert (double.calls[RESIZE], double.calls[CREATE]) == (1, 0)


def test_machines_that_stand_by_are_started_for_an_order(double, start) -> None:
    double.make_mig("workers", size=1, stopped=2, standbyPolicy={"mode": "SCALE_OUT_POOL"})
    provider = start()
    (group,) = provider.groups()
    assert (group.target_size, [*states(group).values()].count(InstanceState.STOPPED)) == (1, 2)
    group.increase(1)
    group = again(provider)
    assert (group.target_size, [*states(group).values()].count(InstanceState.CREATING)) == (2, 1)


@pytest.mark.scenario(13)
def test_an_order_that_its_operation_refuses_leaves_the_target(double, workers, monkeypatch) -> None:
    group = workers()
    taken = double.machines("workers")[0].name
    monkeypatch.setattr(Names, "machines", lambda *_: (taken, "workers-bcdf"))
    with pytest.raises(NodewrightError, match="already exists"):
        group.increase(2)
    assert double.mig("workers").target == group.target_size == 3


@pytest.mark.scenario(14)
def test_an_order_that_takes_longer_than_patience_is_no_failure(double, workers) -> None:
    group = workers()
    double.works(600)
    group.increase(2)
    assert double.mig("workers").target == group.target_size == 5
    # 24 of the 60 seconds that an action may take.
    assert double.calls["zone_operations", "get"] <= 26


@pytest.mark.scenario(14)
def test_an_order_that_fails_late_is_told_as_an_error_of_the_group_until_the_next_order(
    double, start, monkeypatch
) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    (group,) = provider.groups()
    taken = double.machines("workers")[0].name
    with monkeypatch.context() as patch:
        patch.setattr(Names, "machines", lambda *_: (taken,))
        double.works(60)
        group.increase(1)
    assert again(provider).target_size == 4
    assert provider.groups()[0].errors() == ()

    double.clock.advance(60)
    group = again(provider)
    (error,) = group.errors()
    assert (error.error_class, error.code) == (ErrorClass.OTHER, "OPERATION_FAILED")
    assert "already exists" in error.message
    assert group.target_size == 3

    double.works(0)
    group.increase(1)
    assert group.errors() == ()


@pytest.mark.scenario(15)
def test_an_order_whose_answer_was_lost_is_repeated_as_it_was_and_made_once(double, workers) -> None:
    group = workers()
    double.faults.drop("instance_group_managers:create_instances", times=1, after=True)
    group.increase(2)
    first, second = asked(double, "create_instances")
    assert first == second
    assert double.mig("workers").target == group.target_size == 5


@pytest.mark.scenario(15)
def test_an_order_without_any_answer_is_repeated_by_the_next_loop_and_made_once(double, workers) -> None:
    group = workers()
    double.faults.stale()
    lost = double.faults.drop("instance_group_managers:create_instances", after=True)
    with pytest.raises(CloudUnavailableError):
        group.increase(2)
    lost.times = 0
    group.increase(2)
    assert len({str(each) for each in asked(double, "create_instances")}) == 1
    assert double.mig("workers").target == group.target_size == 5


def test_an_order_of_another_size_after_one_without_an_answer_uses_its_names(double, workers) -> None:
    group = workers()
    lost = double.faults.drop("instance_group_managers:create_instances", after=True)
    with pytest.raises(CloudUnavailableError):
        group.increase(2)
    lost.times = 0
    with pytest.raises(NodewrightError, match="already exists"):
        group.increase(3)
    assert double.mig("workers").target == 5


def test_an_order_that_was_refused_is_not_repeated_under_its_id(double, workers) -> None:
    group = workers()
    double.faults.throttle("instance_group_managers:create_instances", times=1)
    with pytest.raises(ThrottledError):
        group.increase(2)
    group.increase(2)
    first, second = asked(double, "create_instances")
    assert first["requestId"] != second["requestId"]


def test_what_came_of_an_order_that_failed_is_taken_back(double, workers, monkeypatch) -> None:
    group = workers()
    _fails_half_way(double, group, monkeypatch)
    with pytest.raises(PermanentError, match="no more"):
        group.increase(2)
    assert double.calls[DELETE] == 1
    assert double.mig("workers").target == group.target_size == 3


def test_what_can_not_be_taken_back_is_told(double, workers, monkeypatch) -> None:
    group = workers()
    _fails_half_way(double, group, monkeypatch)
    double.faults.throttle("instance_group_managers:delete_instances")
    with pytest.raises(PartialIncreaseError, match="only 1 more machines were ordered: no more") as error:
        group.increase(2)
    assert error.value.increased == 1
    assert double.mig("workers").target == 4


def _fails_half_way(double, group, monkeypatch):
    """Let Google make only the first machine of an order."""
    compute = group._services.compute
    create = compute.create_instances

    def half(address, names, *, request_id):
        create(address, names[:1], request_id=request_id)
        raise PermanentError("no more")

    monkeypatch.setattr(compute, "create_instances", half)


def test_a_quota_that_refuses_an_order_is_a_lack_of_capacity(double, workers) -> None:
    group = workers()
    message = "Quota 'INSTANCES' exceeded.  Limit: 24.0 in region europe-west1."
    double.faults.refuse("instance_group_managers:create_instances", "quotaExceeded", message, status=403)
    with pytest.raises(CapacityError) as error:
        group.increase(2)
    cause = error.value.cause
    assert (cause.error_class, cause.pool) == (ErrorClass.QUOTA, "europe-west1/INSTANCES")
    assert double.mig("workers").target == group.target_size == 3


def test_growth_without_the_right_says_so(double, workers) -> None:
    group = workers()
    double.faults.deny("instance_group_managers:create_instances")
    with pytest.raises(AccessDeniedError, match=r"compute\.instanceGroupManagers\.update"):
        group.increase(2)


def test_growth_of_a_group_that_is_gone_says_so(double, workers) -> None:
    group = workers()
    double.do("instance_group_managers", "delete", "workers")
    with pytest.raises(GroupNotFoundError, match="workers"):
        group.increase(1)


def test_an_operation_that_may_not_be_read_is_no_failure_and_not_waited_for(double, workers, caplog) -> None:
    group = workers()
    double.works(600)
    double.faults.deny("zone_operations:get")
    group.increase(1)
    assert double.mig("workers").target == group.target_size == 4
    assert double.calls["zone_operations", "get"] == 1
    assert "allow compute.zoneOperations.get" in caplog.text


@pytest.mark.parametrize("status", [400, 404])
def test_machines_of_an_operation_that_google_has_lost_are_not_taken_back(double, workers, status) -> None:
    group = workers()
    double.works(600)
    double.faults.refuse("zone_operations:get", "notFound", "The resource was not found", status=status)
    group.increase(1)
    assert double.mig("workers").target == group.target_size == 4
    assert double.calls[DELETE] == 0


def test_an_operation_that_can_not_be_read_now_is_read_by_the_next_refresh(double, start) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    double.faults.throttle("zone_operations:get", times=1)
    provider.groups()[0].increase(1)
    assert provider.groups()[0].target_size == 4
    assert double.calls["zone_operations", "get"] == 1
    provider.refresh()
    provider.refresh()
    assert double.calls["zone_operations", "get"] == 2


def test_growth_counts_while_google_still_shows_the_size_before(double, start) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    double.faults.stale()
    provider.groups()[0].increase(2)
    group = again(provider)
    assert group.target_size == 5
    group.increase(1)
    assert double.mig("workers").target == 6


def test_a_size_that_google_shows_for_a_minute_is_the_truth(double, start) -> None:
    double.make_mig("workers", size=3)
    provider = start()
    double.faults.stale()
    provider.groups()[0].increase(2)
    double.clock.advance(61)
    assert again(provider).target_size == 3


def test_a_resize_counts_while_google_still_shows_the_size_before(double, start) -> None:
    double.make_mig("workers", size=3, base="w-###")
    provider = start()
    double.faults.stale()
    provider.groups()[0].increase(4)
    again(provider).increase(2)
    assert double.mig("workers").target == 9


def test_a_resize_never_lowers_the_size_though_an_answer_falls_back_behind_the_last_one(double, start) -> None:
    group = double.make_mig("workers", size=3, base="w-###")
    provider = start()
    provider.groups()[0].increase(4)
    assert again(provider).target_size == 7
    # As a replica tells that lags behind.
    group.target = 3
    with pytest.raises(TemporaryError, match="may not show the last order"):
        again(provider).increase(2)
    assert double.calls[RESIZE] == 1


@pytest.mark.parametrize("fields", [{}, {"base": "workers-###"}], ids=["by name", "by size"])
def test_only_groups_in_bulk_or_with_a_queue_grow_all_or_nothing(double, workers, fields) -> None:
    group = workers(**fields)
    assert not group.atomic
    with pytest.raises(UnsupportedError, match="targetSizePolicy to BULK"):
        group.increase_atomically(2)
    assert not double.calls


def test_a_group_in_bulk_is_resized_all_or_nothing(double, start) -> None:
    double.make_mig("workers", size=1, bulk=True)
    provider = start()
    (group,) = provider.groups()
    assert group.atomic
    double.run_out(available=1)
    group.increase_atomically(2)
    double.settle()
    group = again(provider)
    assert group.target_size == 3
    assert {each.error.error_class for each in group.instances() if each.error} == {ErrorClass.STOCK_OUT}


def test_all_or_nothing_keeps_to_the_maximum(double, workers) -> None:
    group = workers(most=4, bulk=True)
    with pytest.raises(SizeLimitError, match="its maximum is 4"):
        group.increase_atomically(2)
    assert not double.calls


@pytest.mark.scenario(15)
def test_a_resize_request_without_any_answer_is_repeated_as_it_was_and_made_once(double, workers) -> None:
    unrepaired = {"instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"}}
    group = workers(size=0, machine_type="g2-standard-4", **unrepaired)
    lost = double.faults.drop("instance_group_manager_resize_requests:insert", after=True)
    with pytest.raises(CloudUnavailableError):
        group.increase_atomically(2)
    lost.times = 0
    group.increase_atomically(2)
    assert len(double.mig("workers").requests) == 1
    assert double.mig("workers").target == group.target_size == 2
