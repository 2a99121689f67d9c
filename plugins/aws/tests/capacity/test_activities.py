"""Failed launches: which of them tell that a group's missing machines will not come."""

from collections.abc import Sequence
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from nodewright.api import CloudUnavailableError, ErrorClass, PermanentError, ThrottledError
from nodewright.testing import EPOCH, SteppedClock
from nodewright_aws.autoscaling.activities import Activities
from nodewright_aws.pools import Pool

from .an_aws import AnAws, a_group, a_launch, an_instance

NO_SPOT = "There is no Spot capacity available that matches your request. Launching EC2 instance failed."
SHORT = a_group(desired=3)
SPOT_A = Pool.parse("eu-west-1a/m5.large/spot")


class World:
    """Activities, and the AWS and the clock they look at."""

    def __init__(self) -> None:
        self.aws = AnAws(describe_scaling_activities={"Activities": []})
        self.clock = SteppedClock()
        self.activities = Activities(self.aws, self.clock)

    def show(self, *newest_first: dict[str, Any]) -> None:
        self.aws.answers["describe_scaling_activities"] = {"Activities": list(newest_first)}

    def code(self, group: Any = SHORT) -> str:
        self.activities.refresh([group])
        failure = self.activities.failure(group)
        return failure.code if failure else ""


@pytest.fixture
def world() -> World:
    return World()


def test_a_stock_out_after_the_group_was_asked_for_more_is_a_failure(world) -> None:
    world.activities.asked("spot")
    world.show(a_launch("Failed", 5, NO_SPOT))
    world.activities.refresh([SHORT])
    failure = world.activities.failure(SHORT, [SPOT_A])
    assert failure is not None
    assert failure.error_class is ErrorClass.STOCK_OUT
    assert failure.pool == "eu-west-1a/m5.large/spot"
    assert failure.message == NO_SPOT


def test_what_failed_before_the_group_was_asked_for_more_does_not_count(world) -> None:
    world.show(a_launch("Failed", -1, NO_SPOT))
    world.activities.asked("spot")
    assert world.code() == ""


@pytest.mark.parametrize("years", [-4, 4])
def test_clocks_that_differ_by_years_change_nothing(world, years) -> None:
    then = EPOCH + timedelta(days=365 * years)
    old = a_launch("Failed", -1, NO_SPOT, clock=then)
    world.show(old)
    world.activities.asked("spot")
    assert world.code() == ""
    world.show(a_launch("Failed", 5, NO_SPOT, clock=then), old)
    assert world.code() == "InsufficientInstanceCapacity"


def test_a_launch_that_was_under_way_when_the_group_was_asked_for_more_counts_when_it_fails(world) -> None:
    trying = a_launch("InProgress", -1)
    world.show(trying)
    world.activities.asked("spot")
    world.show(trying | {"StatusCode": "Failed", "StatusMessage": NO_SPOT})
    assert world.code() == "InsufficientInstanceCapacity"


def test_asking_again_forgets_the_failure_at_once(world) -> None:
    world.activities.asked("spot")
    world.show(a_launch("Failed", 5, NO_SPOT))
    assert world.code()
    world.activities.asked("spot")
    assert world.activities.failure(SHORT) is None
    assert world.code() == ""


@pytest.mark.parametrize("later", ["InProgress", "Successful", "PendingSpotBidPlacement"])
def test_while_aws_goes_on_elsewhere_nothing_has_failed(world, later) -> None:
    world.activities.asked("spot")
    world.show(a_launch(later, 6), a_launch("Failed", 5, NO_SPOT))
    assert world.code() == ""


@pytest.mark.parametrize("dry", ["a", "ab"])
def test_an_attempt_that_goes_on_is_no_hope_once_all_pools_were_found_dry(world, dry) -> None:
    pools = [Pool.parse(f"eu-west-1{zone}/m5.large/spot") for zone in "ab"]
    world.activities.asked("spot")
    failed = [a_launch("Failed", 5, NO_SPOT, Details=f'{{"Availability Zone":"eu-west-1{zone}"}}') for zone in dry]
    world.show(a_launch("InProgress", 6), *failed)
    world.activities.refresh([SHORT])
    errors = world.activities.failures(SHORT, pools)
    assert [error.pool for error in errors] == ([str(pool) for pool in pools] if dry == "ab" else [])


def test_a_failure_is_found_behind_older_ones_in_a_list_out_of_order(world) -> None:
    old = a_launch("Failed", -1, NO_SPOT)
    world.show(old)
    world.activities.asked("spot")
    world.show(old, a_launch("Failed", 5, NO_SPOT))
    assert world.code() == "InsufficientInstanceCapacity"


def test_a_failure_is_found_behind_hundreds_of_successes(world) -> None:
    world.activities.asked("spot")
    came = [a_launch("Successful", 5, instance=number) for number in range(1, 151)]
    failed = a_launch("Failed", 5, NO_SPOT)
    world.aws.answers["describe_scaling_activities"] = [
        {"Activities": came[:100]},
        {"Activities": [*came[100:], failed]},
    ]
    assert world.code() == "InsufficientInstanceCapacity"


def test_who_gets_no_answer_for_one_group_does_not_wait_for_that_of_the_next(world) -> None:
    world.aws.answers["describe_scaling_activities"] = CloudUnavailableError("AWS did not answer")
    with pytest.raises(CloudUnavailableError):
        world.activities.refresh([a_group(f"group-{number}") for number in range(5)])
    assert world.aws.count("describe_scaling_activities") == 1


def test_machines_that_came_do_not_hide_that_others_failed_together_with_them(world) -> None:
    world.activities.asked("spot")
    failed = a_launch("Failed", 5, NO_SPOT)
    world.show(a_launch("Successful", 5, instance=1), failed, a_launch("Successful", 4, instance=2))
    assert world.code() == "InsufficientInstanceCapacity"


def test_a_machine_that_is_on_its_way_does_not_hide_that_the_others_failed(world) -> None:
    group = a_group(desired=3, instances=[an_instance(1, "Pending")])
    world.activities.asked("spot")
    world.show(a_launch("InProgress", 6, instance=1), a_launch("Failed", 5, NO_SPOT))
    assert world.code(group) == "InsufficientInstanceCapacity"


def test_every_pool_that_was_found_dry_since_the_last_success_is_told(world) -> None:
    world.activities.asked("spot")
    other_zone = '{"Availability Zone":"eu-west-1b"}'
    world.show(
        a_launch("Failed", 9, NO_SPOT),
        a_launch("Failed", 8, NO_SPOT, Details=other_zone),
        a_launch("Failed", 7, NO_SPOT),
        a_launch("Successful", 6),
        a_launch("Failed", 5, NO_SPOT, Details='{"Availability Zone":"eu-west-1c"}'),
    )
    pools = [Pool.parse(f"eu-west-1{zone}/m5.large/spot") for zone in "abc"]
    world.activities.refresh([SHORT])
    assert [error.pool[:10] for error in world.activities.failures(SHORT, pools)] == ["eu-west-1a", "eu-west-1b"]


def test_an_old_launch_that_is_still_open_comes_first_and_hides_nothing(world) -> None:
    world.show(a_launch("WaitingForSpotInstanceId", -9000), a_launch("Failed", -60, NO_SPOT))
    assert world.code() == "InsufficientInstanceCapacity"


@pytest.mark.parametrize(
    "other",
    [
        {"Description": "Terminating EC2 instance: i-0123456789abcdef0"},
        {"Description": "Launching a new EC2 instance into warm pool. Status Reason: no capacity"},
        {"StatusMessage": "Request limit exceeded."},
        {"StatusCode": "Cancelled", "StatusMessage": "Nobody wants it any more."},
    ],
)
def test_what_is_no_failed_launch_of_the_group_is_no_failure(world, other) -> None:
    world.activities.asked("spot")
    world.show(a_launch("Failed", 5, NO_SPOT) | other)
    assert world.code() == ""


def test_a_cancelled_launch_that_tells_a_reason_is_a_failure(world) -> None:
    world.activities.asked("spot")
    world.show(a_launch("Cancelled", 5, NO_SPOT))
    assert world.code() == "InsufficientInstanceCapacity"


def test_a_group_of_which_nothing_is_known_is_judged_by_its_newest_launch_of_the_last_hour(world) -> None:
    world.show(a_launch("Failed", -600, NO_SPOT))
    assert world.code() == "InsufficientInstanceCapacity"
    world = World()
    world.show(a_launch("Failed", -7200, NO_SPOT))
    assert world.code() == ""


def test_a_demand_that_somebody_else_raised_is_not_blamed_on_what_failed_before(world) -> None:
    world.activities.refresh([])
    world.clock.advance(300)
    world.activities.refresh([])
    world.clock.advance(10)
    old = a_launch("Failed", 100, NO_SPOT)
    world.show(old)
    assert world.code() == ""
    world.show(a_launch("Failed", 305, NO_SPOT), old)
    assert world.code() == "InsufficientInstanceCapacity"


def test_the_time_that_decides_is_the_one_that_aws_tells(world) -> None:
    ahead = EPOCH + timedelta(days=1)
    world.show(a_launch("Failed", -7200, NO_SPOT, clock=ahead))
    header = {"ResponseMetadata": {"HTTPHeaders": {"date": format_datetime(ahead, usegmt=True)}}}
    world.aws.answers["describe_scaling_activities"] |= header
    assert world.code() == ""


def test_a_group_whose_demand_was_met_starts_anew(world) -> None:
    world.activities.asked("spot")
    world.show(a_launch("Failed", 5, NO_SPOT))
    assert world.code()
    world.clock.advance(3600)
    world.activities.refresh([])
    world.clock.advance(10)
    assert world.code() == ""


def test_a_list_that_can_not_be_read_before_growing_is_no_reason_not_to_grow(world) -> None:
    world.aws.answers["describe_scaling_activities"] = ThrottledError("slow down")
    world.activities.asked("spot")
    world.show(a_launch("Failed", 5, NO_SPOT), a_launch("Failed", -600, NO_SPOT))
    assert world.code() == "InsufficientInstanceCapacity"


def test_a_group_that_vanished_does_not_keep_others_from_being_read(world) -> None:
    def answer(**arguments: Any) -> Any:
        if arguments["AutoScalingGroupName"] == "gone":
            return PermanentError("AutoScalingGroup name not found")
        return {"Activities": [a_launch("Failed", 5, NO_SPOT)]}

    world.aws.answers["describe_scaling_activities"] = answer
    with pytest.raises(PermanentError, match="not found"):
        world.activities.refresh([a_group("gone"), SHORT])
    assert world.activities.failure(SHORT) is not None


def test_many_groups_are_read_with_one_list(world) -> None:
    groups = [a_group(f"group-{number}") for number in range(50)]
    world.show(*[a_launch("Failed", 5, NO_SPOT, group=group.name) for group in groups])
    world.activities.refresh(groups)
    assert world.aws.asked == [("describe_scaling_activities", {})]
    assert all(world.activities.failure(group) for group in groups)


def test_a_list_without_end_is_read_for_a_few_pages_only(world) -> None:
    world.aws.answers["describe_scaling_activities"] = [_page(5) for _ in range(100)]
    world.activities.refresh([SHORT])
    assert world.aws.count("describe_scaling_activities") == 2
    world.aws.asked.clear()
    world.activities.refresh([a_group(f"group-{number}") for number in range(50)])
    assert world.aws.count("describe_scaling_activities") == 8


def test_pages_of_an_earlier_time_are_not_asked_for(world) -> None:
    world.aws.answers["describe_scaling_activities"] = [_page(5), _page(-7200), _page(-9000)]
    world.activities.refresh([a_group(f"group-{number}") for number in range(50)])
    assert world.aws.count("describe_scaling_activities") == 2


def test_nothing_is_asked_while_no_group_is_short(world) -> None:
    world.activities.refresh([])
    assert world.aws.asked == []


def test_a_group_that_may_not_launch_says_so_without_an_attempt(world) -> None:
    group = a_group(suspended_processes=frozenset({"Launch"}))
    failure = world.activities.failure(group)
    assert failure is not None
    assert failure.error_class is ErrorClass.CONFIGURATION
    assert failure.message == "the process Launch of group spot is suspended: resume it, or leave the group out"


def _page(at: float) -> dict[str, Sequence[Any]]:
    return {"Activities": [a_launch("Failed", at, NO_SPOT, group="elsewhere") for _ in range(3)]}
