"""Events about instances that AWS is about to interrupt."""

import json
import logging
from typing import Any

import pytest
from nodewright.api import PermanentError
from nodewright.testing import SteppedClock
from nodewright_aws.config import InterruptionSettings, Rebalance
from nodewright_aws.interruptions.interruptions import Interruptions

from .an_aws import AnAws, a_group, an_instance

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/interruptions"
MACHINE = an_instance(1)
GROUP = a_group(instances=[MACHINE, an_instance(2)])


class World:
    """Interruptions, and the queue they come from."""

    def __init__(self, **settings: Any) -> None:
        self.waiting: list[dict[str, Any]] = []
        self.aws = AnAws(receive_message=self._receive, get_queue_url={"QueueUrl": URL})
        self.clock = SteppedClock()
        settings = {"queue": URL} | settings
        self.interruptions = Interruptions(self.aws, InterruptionSettings(**settings), self.clock)

    def send(self, *bodies: str) -> None:
        for body in bodies:
            number = str(len(self.waiting))
            self.waiting.append({"MessageId": number, "ReceiptHandle": f"handle-{number}", "Body": body})

    def interrupted(self, *groups: Any) -> dict[str, str]:
        self.interruptions.refresh(groups or [GROUP])
        return dict(self.interruptions.interrupted)

    def _receive(self, **arguments: Any) -> dict[str, Any]:
        if arguments.get("VisibilityTimeout") == 0:
            return {"Messages": self.waiting[:10]}
        given, self.waiting = self.waiting[:10], self.waiting[10:]
        return {"Messages": given} if given else {}


def an_event(kind: str, machine: str = MACHINE.id, **detail: Any) -> str:
    return json.dumps({"detail-type": kind, "source": "aws.ec2", "detail": {"instance-id": machine} | detail})


SPOT = an_event("EC2 Spot Instance Interruption Warning", **{"instance-action": "terminate"})
REBALANCE = an_event("EC2 Instance Rebalance Recommendation")
MAINTENANCE = json.dumps(
    {
        "detail-type": "AWS Health Event",
        "detail": {
            "service": "EC2",
            "eventTypeCategory": "scheduledChange",
            "eventTypeCode": "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED",
            "affectedEntities": [{"entityValue": MACHINE.id}],
        },
    }
)


def test_a_spot_machine_that_aws_takes_back_is_interrupted() -> None:
    world = World()
    world.send(SPOT)
    assert world.interrupted() == {MACHINE.id: "AWS interrupts the spot machine (terminate)"}


@pytest.mark.parametrize("state", ["shutting-down", "terminated", "stopping", "stopped"])
def test_a_machine_that_somebody_stops_is_interrupted(state) -> None:
    world = World()
    world.send(an_event("EC2 Instance State-change Notification", state=state))
    assert world.interrupted() == {MACHINE.id: f"the machine was told to stop ({state})"}


def test_an_event_may_come_by_way_of_sns() -> None:
    world = World()
    world.send(json.dumps({"Type": "Notification", "Message": SPOT}))
    assert MACHINE.id in world.interrupted()


@pytest.mark.parametrize(
    "body",
    [
        an_event("EC2 Instance State-change Notification", state="running"),
        an_event("EC2 Spot Instance Interruption Warning", "i-00000000000000099"),
        an_event("EC2 Spot Instance Request Fulfillment"),
        REBALANCE,
        MAINTENANCE,
        "not JSON",
        "[]",
        "{}",
        json.dumps({"detail-type": "EC2 Spot Instance Interruption Warning", "detail": {}}),
    ],
)
def test_other_messages_interrupt_nothing_and_are_deleted_from_the_queue(body) -> None:
    world = World()
    world.send(body)
    assert world.interrupted() == {}
    assert world.aws.asked[1] == (
        "delete_message_batch",
        {"QueueUrl": URL, "Entries": [{"Id": "0", "ReceiptHandle": "handle-0"}]},
    )


def test_maintenance_is_told_to_people(caplog) -> None:
    world = World()
    world.send(MAINTENANCE)
    with caplog.at_level(logging.WARNING):
        world.interrupted()
    told = "AWS has scheduled maintenance of the machine (AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED)"
    assert caplog.messages == [f"machine {MACHINE.id} of group spot: {told}"]


@pytest.mark.parametrize(("replaces", "interrupted"), [(True, [MACHINE.id]), (False, [])])
def test_a_recommendation_counts_where_it_is_wanted_and_aws_replaces_the_machine(replaces, interrupted) -> None:
    world = World(rebalance=Rebalance.AVOID)
    world.send(REBALANCE)
    assert list(world.interrupted(a_group(instances=[MACHINE], capacity_rebalance=replaces))) == interrupted


def test_a_machine_is_forgotten_when_it_is_gone_from_its_group() -> None:
    world = World()
    world.send(SPOT)
    assert world.interrupted()
    assert world.interrupted(a_group(instances=[an_instance(2)])) == {}


def test_a_machine_that_outlives_the_news_is_not_interrupted_for_ever() -> None:
    world = World()
    world.send(SPOT)
    assert world.interrupted()
    world.clock.advance(540)
    assert world.interrupted()
    world.clock.advance(120)
    assert world.interrupted() == {}


def test_a_message_that_comes_twice_says_nothing_new(caplog) -> None:
    world = World()
    world.send(SPOT, SPOT)
    with caplog.at_level(logging.INFO):
        assert len(world.interrupted()) == 1
    assert caplog.messages == [f"machine {MACHINE.id} of group spot: AWS interrupts the spot machine (terminate)"]


def test_a_machine_that_was_told_to_go_already_is_no_news(caplog) -> None:
    world = World()
    world.send(an_event("EC2 Instance State-change Notification", state="shutting-down"))
    with caplog.at_level(logging.INFO):
        assert world.interrupted(a_group(instances=[an_instance(1, "Terminating")])) == {}
    assert caplog.messages == []


def test_a_queue_of_other_things_is_told_once(caplog) -> None:
    world = World(delete_messages=False)
    world.send("not JSON", "{}")
    world.interrupted()
    world.interrupted()
    (told,) = caplog.messages
    assert told.startswith(f"2 messages in the queue {URL} are no events of EventBridge: see who sends them")


def test_an_interruption_follows_upon_a_recommendation() -> None:
    world = World(rebalance=Rebalance.AVOID)
    group = a_group(instances=[MACHINE], capacity_rebalance=True)
    world.send(REBALANCE)
    assert world.interrupted(group) == {MACHINE.id: "AWS expects to interrupt the spot machine"}
    world.send(SPOT)
    assert world.interrupted(group) == {MACHINE.id: "AWS interrupts the spot machine (terminate)"}


def test_a_hundred_messages_are_read_in_a_loop_and_the_rest_in_the_next() -> None:
    world = World()
    world.send(*["{}"] * 120)
    world.interrupted()
    assert len(world.waiting) == 20
    assert world.aws.count("receive_message") == 10
    assert world.aws.count("delete_message_batch") == 10


def test_messages_of_somebody_else_stay_on_the_queue_for_all_to_see() -> None:
    world = World(delete_messages=False)
    world.send(SPOT)
    assert world.interrupted()
    assert len(world.waiting) == 1
    world.clock.advance(3600)
    assert world.interrupted() == {}
    assert [operation for operation, _ in world.aws.asked] == ["receive_message"] * 4


def test_a_queue_is_found_by_its_name_once() -> None:
    world = World(queue="interruptions")
    world.interrupted()
    world.interrupted()
    assert world.aws.count("get_queue_url") == 1
    assert world.aws.asked[-1] == (
        "receive_message",
        {"QueueUrl": URL, "MaxNumberOfMessages": 10, "WaitTimeSeconds": 0},
    )


def test_nothing_is_asked_where_there_is_no_queue() -> None:
    world = World(queue="")
    assert world.interrupted() == {}
    assert world.aws.asked == []


def test_a_queue_that_can_not_be_read_leaves_what_was_known() -> None:
    world = World()
    world.send(SPOT)
    world.interrupted()
    world.aws.answers["receive_message"] = PermanentError("the queue does not exist")
    with pytest.raises(PermanentError, match="does not exist"):
        world.interrupted()
    assert MACHINE.id in world.interruptions.interrupted
