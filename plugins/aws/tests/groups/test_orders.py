"""Orders that AWS has taken, and does not tell of yet."""

from copy import deepcopy

import pytest
from nodewright.api import InstanceState, TemporaryError

from .machines import machine, node, placeholder


class Replica:
    """Answers of AWS about groups as these were some time ago, while *behind*."""

    def __init__(self, aws):
        self.aws = aws
        self.behind = deepcopy(aws.groups)
        self._matches = aws.matches
        aws.pages = self.pages
        self._pages = type(aws).pages

    def pages(self, service, operation, **arguments):
        truth = self.aws.groups
        self.aws.groups = truth if self.behind is None else self.behind
        try:
            yield from self._pages(self.aws, service, operation, **arguments)
        finally:
            self.aws.groups = truth


@pytest.fixture
def provider(aws, start):
    aws.add("workers", machines=[machine(1), machine(2), machine(3)])
    return start()


@pytest.fixture
def replica(aws, provider):
    return Replica(aws)


def workers(provider):
    (group,) = provider.groups()
    return group


def again(provider):
    provider.refresh()
    return workers(provider)


def desired(aws):
    return aws.groups["workers"]["DesiredCapacity"]


def test_growth_counts_while_aws_still_tells_of_the_size_before(provider, replica) -> None:
    workers(provider).increase(4)
    group = again(provider)
    assert group.target_size == 7
    assert len(group.instances()) == 7


def test_further_growth_goes_on_from_the_size_that_was_ordered(aws, provider, replica) -> None:
    workers(provider).increase(4)
    again(provider).increase(1)
    assert desired(aws) == 8


def test_growth_never_lowers_the_size_though_an_answer_falls_back_behind_the_last_one(aws, provider, replica) -> None:
    late, replica.behind = replica.behind, None
    workers(provider).increase(4)
    assert again(provider).target_size == 7

    replica.behind = late
    with pytest.raises(TemporaryError, match="AWS may not show the last order of group workers yet"):
        again(provider).increase(2)
    assert desired(aws) == 7


def test_a_machine_that_was_told_to_go_is_not_told_again(aws, provider, replica) -> None:
    workers(provider).delete_nodes([node(1)])
    group = again(provider)
    assert group.target_size == 2
    assert [each.state for each in group.instances()] == [
        InstanceState.DELETING,
        InstanceState.RUNNING,
        InstanceState.RUNNING,
    ]

    group.delete_nodes([node(1)])
    assert aws.calls["terminate_instance_in_auto_scaling_group"] == 1
    assert desired(aws) == 2


def test_several_deletions_are_counted_though_answers_are_of_any_moment_between(
    aws, provider, replica, monkeypatch
) -> None:
    replica.behind["workers"]["DesiredCapacity"] = 2
    replica.behind["workers"]["Instances"].pop(0)
    late, replica.behind = replica.behind, None
    call = aws.call

    def is_late_from_now(*names, **arguments):
        replica.behind = late
        return call(*names, **arguments)

    monkeypatch.setattr(aws, "call", is_late_from_now)
    workers(provider).delete_nodes([node(1), node(2)])
    assert again(provider).target_size == 1


def test_a_size_that_somebody_else_sets_counts_at_once(aws, provider, replica) -> None:
    replica.behind = None
    workers(provider).increase(4)
    aws.groups["workers"]["DesiredCapacity"] = 5
    assert again(provider).target_size == 5


def test_who_takes_an_order_back_is_believed_at_once_if_aws_told_of_it(aws, provider, replica) -> None:
    replica.behind = None
    workers(provider).increase(4)
    aws.groups["workers"]["DesiredCapacity"] = 3
    assert again(provider).target_size == 3


def test_who_takes_a_deletion_back_is_believed_at_once_if_aws_told_of_it(aws, provider, replica) -> None:
    replica.behind = None
    workers(provider).delete_nodes([node(1)])
    aws.groups["workers"]["DesiredCapacity"] = 3
    assert again(provider).target_size == 3


def test_a_size_that_stays_as_it_was_for_a_minute_is_the_truth(provider, replica) -> None:
    workers(provider).increase(4)
    provider.context.clock.advance(61)
    assert again(provider).target_size == 3


def test_nothing_is_given_up_while_aws_does_not_tell_what_became_of_the_order(aws, provider, replica) -> None:
    workers(provider).increase(4)
    aws.groups["workers"]["Instances"] += [machine(4), machine(5)]

    group = again(provider)
    with pytest.raises(TemporaryError, match="AWS does not show the last order of group workers yet"):
        group.delete_nodes([node(1), *(placeholder(number) for number in (3, 4, 5, 6))])
    with pytest.raises(TemporaryError, match="AWS does not show the last order of group workers yet"):
        group.decrease_target(4)
    assert desired(aws) == 7
    assert aws.calls["terminate_instance_in_auto_scaling_group"] == 0

    replica.behind = None
    again(provider).delete_nodes([placeholder(number) for number in (3, 4, 5, 6)])
    assert desired(aws) == 5
