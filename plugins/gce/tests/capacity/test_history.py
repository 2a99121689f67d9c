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


def read(history, *groups):
    history.refresh(groups, lambda group: POOL)


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


def test_different_causes_are_told_once_each_with_the_newest_first(compute, history, an_error) -> None:
    compute.errors["one"] = [an_error("PERMISSIONS_ERROR"), an_error("INSUFFICIENT_CAPACITY", age=5)]
    compute.errors["one"] += [an_error("PERMISSIONS_ERROR", age=9)]
    read(history, ONE)
    assert codes(history, ONE) == ["PERMISSIONS_ERROR", "INSUFFICIENT_CAPACITY"]
    assert history.causes(ONE.address.id)[1].pool == str(POOL)


def test_errors_of_earlier_orders_and_of_other_actions_do_not_count(compute, history, an_error) -> None:
    compute.errors["one"] = [an_error("PERMISSIONS_ERROR", age=121), an_error("INTERNAL_ERROR", action="DELETING")]
    read(history, ONE)
    assert codes(history, ONE) == []


def test_a_history_is_read_again_after_half_a_minute(compute, clock, history) -> None:
    read(history, ONE)
    clock.advance(29)
    read(history, ONE)
    assert compute.asked == ["one"]
    clock.advance(1)
    read(history, ONE)
    assert compute.asked == ["one", "one"]


def test_what_was_told_goes_when_the_group_is_no_longer_short(compute, history, an_error) -> None:
    compute.errors["one"] = [an_error("PERMISSIONS_ERROR")]
    read(history, ONE)
    read(history)
    assert codes(history, ONE) == []


def test_a_history_that_can_not_be_read_does_not_keep_others_from_being_read_next(compute, history, an_error) -> None:
    compute.errors = {"one": CloudUnavailableError("no answer"), "two": [an_error("PERMISSIONS_ERROR")]}
    with pytest.raises(CloudUnavailableError):
        read(history, ONE, TWO)
    read(history, ONE, TWO)
    assert compute.asked == ["one", "two"]
    assert codes(history, TWO) == ["PERMISSIONS_ERROR"]
