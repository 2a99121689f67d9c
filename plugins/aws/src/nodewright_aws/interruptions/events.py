"""Events of EC2 and AWS Health, as EventBridge delivers them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class EventType(Enum):
    """What an event announces; the value is the sentence that is logged."""

    INTERRUPTION = "AWS interrupts the spot machine"
    REBALANCE = "AWS expects to interrupt the spot machine"
    STOPPING = "the machine was told to stop"
    MAINTENANCE = "AWS has scheduled maintenance of the machine"


@dataclass(frozen=True, kw_only=True)
class Event:
    """An announcement about instances."""

    type: EventType
    instances: tuple[str, ...]
    #: The action, the state, or the code of the maintenance.
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.type.value} ({self.detail})" if self.detail else self.type.value


def parse_event(body: str) -> Event | None:
    """Return the event in a message; None if it is of another type. Raises `ValueError` if it is no event."""
    event = _object(body)
    if event.get("Type") == "Notification" and "Message" in event:
        # Delivered through SNS.
        event = _object(event["Message"])
    if "detail-type" not in event or not isinstance(event.get("detail"), dict):
        raise ValueError("the message is no event of EventBridge")
    detail: Mapping[str, Any] = event["detail"]
    match event["detail-type"]:
        case "EC2 Spot Instance Interruption Warning":
            return Event(
                type=EventType.INTERRUPTION, instances=_machine(detail), detail=detail.get("instance-action", "")
            )
        case "EC2 Instance Rebalance Recommendation":
            return Event(type=EventType.REBALANCE, instances=_machine(detail))
        case "EC2 Instance State-change Notification":
            state = detail.get("state", "")
            if state in ("shutting-down", "terminated", "stopping", "stopped"):
                return Event(type=EventType.STOPPING, instances=_machine(detail), detail=state)
        case "AWS Health Event":
            if detail.get("service") == "EC2" and detail.get("eventTypeCategory") == "scheduledChange":
                return Event(
                    type=EventType.MAINTENANCE,
                    instances=_affected(event, detail),
                    detail=detail.get("eventTypeCode", ""),
                )
    return None


def _object(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("the message is no event of EventBridge")
    return found


def _machine(detail: Mapping[str, Any]) -> tuple[str, ...]:
    machine = detail.get("instance-id")
    return (machine,) if isinstance(machine, str) else ()


def _affected(event: Mapping[str, Any], detail: Mapping[str, Any]) -> tuple[str, ...]:
    entities = [entity.get("entityValue", "") for entity in detail.get("affectedEntities", ())]
    named = [str(resource).rpartition("/")[2] for resource in event.get("resources", ())]
    return tuple(dict.fromkeys(name for name in entities + named if name.startswith("i-")))
