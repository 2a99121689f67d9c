"""Events of EC2 and AWS Health, as EventBridge delivers them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """What an event announces."""

    INTERRUPTION = "AWS takes the spot machine back"
    REBALANCE = "AWS expects to take the spot machine back"
    STOPPING = "the machine was told to stop"
    MAINTENANCE = "AWS has scheduled maintenance of the machine"


@dataclass(frozen=True, kw_only=True)
class Event:
    """News about machines."""

    kind: Kind
    instances: tuple[str, ...]
    #: What distinguishes it from others of its kind: the action, the state, the code of the maintenance.
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind.value} ({self.detail})" if self.detail else self.kind.value


def parse_event(body: str) -> Event | None:
    """Return the event in a message; None if it is about something else. Raises `ValueError` if it is no event."""
    event = _object(body)
    if event.get("Type") == "Notification" and "Message" in event:
        # It came by way of SNS.
        event = _object(event["Message"])
    if "detail-type" not in event or not isinstance(event.get("detail"), dict):
        raise ValueError("the message is no event of EventBridge")
    detail: Mapping[str, Any] = event["detail"]
    match event["detail-type"]:
        case "EC2 Spot Instance Interruption Warning":
            return Event(kind=Kind.INTERRUPTION, instances=_machine(detail), detail=detail.get("instance-action", ""))
        case "EC2 Instance Rebalance Recommendation":
            return Event(kind=Kind.REBALANCE, instances=_machine(detail))
        case "EC2 Instance State-change Notification":
            state = detail.get("state", "")
            if state in ("shutting-down", "terminated", "stopping", "stopped"):
                return Event(kind=Kind.STOPPING, instances=_machine(detail), detail=state)
        case "AWS Health Event":
            if detail.get("service") == "EC2" and detail.get("eventTypeCategory") == "scheduledChange":
                return Event(
                    kind=Kind.MAINTENANCE, instances=_affected(event, detail), detail=detail.get("eventTypeCode", "")
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
