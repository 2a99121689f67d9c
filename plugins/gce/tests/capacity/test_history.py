"""Histories of errors of groups that are short."""

from datetime import timedelta

import pytest
from nodewright.api import CloudUnavailableError
from nodewright.testing.clock import SteppedClock
from nodewright_gce.migs.history import History
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import Pool
from nodewright_gce.resources.address import Address, Place
from nodewright_gce.resources.managed_instance import AttemptError, InstanceActionDetails, MigError
from nodewright_gce.resources.mig import Mig

POOL = Pool(zone="europe-west1-b", machine_type="n2-standard-8")


def a_group(name):
    return ManagedGroup(address=Address(place=Place(project="p", name="europe-west1-b"), name=name), mig=Mig(name=name))


ONE, TWO = a_group("one"), a_group("two")


class Errors:
    """What Google tells of the history of groups, by name."""

    def __init__(self):
        self.errors = {}
        self.asked = []

    def mig_errors(self, address):
        self.asked.append(address.name)
        errors = self.errors.get(address.name, [])
        if isinstance(errors, Exception):
            raise errors
        return errors


@pytest.fixture
def compute():
    return Errors()


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def history(compute, clock):
    return History(compute, clock)


@pytest.fixture
def read(history, clock):
    """Let groups be silent for *seconds* and read; all others are well."""

    def read(*silent, seconds=30):
        clock.advance(seconds)
        history.refresh([ONE, TWO], lambda group: group in silent, lambda group: POOL)

    read(seconds=0)
    return read


def codes(history, group):
    return [each.code for each in history.causes(group.address.id)]


@pytest.fixture
def an_error(clock):
    def an_error(code, *, action="CREATING", age=0):
        return MigError(
            error=AttemptError(code=code),
            instance_action_details=InstanceActionDetails(action=action),
            timestamp=(clock.now() - timedelta(seconds=age)).isoformat(),
        )

    return an_error


def test_different_causes_are_told_once_each_with_the_newest_first(compute, history, read, an_error) -> None:
    compute.errors["one"] = [an_error("PERMISSIONS_ERROR"), an_error("INSUFFICIENT_CAPACITY", age=5)]
    compute.errors["one"] += [an_error("PERMISSIONS_ERROR", age=9)]
    read(ONE)
    assert codes(history, ONE) == ["PERMISSIONS_ERROR", "INSUFFICIENT_CAPACITY"]
    assert history.causes(ONE.address.id)[1].pool == str(POOL)


def test_errors_of_earlier_orders_and_of_other_actions_do_not_count(compute, history, read, an_error) -> None:
    compute.errors["one"] = [an_error("PERMISSIONS_ERROR", age=61), an_error("INTERNAL_ERROR", action="DELETING")]
    read(ONE)
    assert codes(history, ONE) == []


def test_a_history_is_read_once_the_group_has_been_silent_for_half_a_minute_and_then_as_often(compute, read) -> None:
    read(ONE, seconds=29)
    assert compute.asked == []
    read(ONE, seconds=1)
    read(ONE, seconds=29)
    assert compute.asked == ["one"]
    read(ONE, seconds=1)
    assert compute.asked == ["one", "one"]


def test_a_group_that_says_why_now_and_then_is_not_asked(compute, read) -> None:
    for _ in range(6):
        read(ONE, seconds=10)
        read(seconds=10)
    assert compute.asked == []


def test_what_was_told_goes_when_the_group_is_no_longer_silent(compute, history, read, an_error) -> None:
    compute.errors["one"] = [an_error("PERMISSIONS_ERROR")]
    read(ONE)
    read()
    assert codes(history, ONE) == []


def test_a_history_that_can_not_be_read_keeps_what_is_known_of_others_and_comes_after_them(
    compute, history, read, an_error
) -> None:
    compute.errors["two"] = [an_error("PERMISSIONS_ERROR")]
    read(ONE, TWO)
    compute.errors["one"] = CloudUnavailableError("no answer")
    with pytest.raises(CloudUnavailableError):
        read(ONE, TWO)
    assert codes(history, TWO) == ["PERMISSIONS_ERROR"]
    read(ONE, TWO, seconds=1)
    assert compute.asked == ["one", "two", "one", "two"]


def test_a_few_histories_are_read_in_one_refresh_and_the_others_in_the_next(compute, history, clock) -> None:
    groups = [a_group(f"g{number}") for number in range(8)]
    history.refresh(groups, lambda group: False, lambda group: POOL)
    clock.advance(30)
    history.refresh(groups, lambda group: True, lambda group: POOL)
    assert len(compute.asked) == 5
    history.refresh(groups, lambda group: True, lambda group: POOL)
    assert sorted(compute.asked) == [group.address.name for group in groups]
