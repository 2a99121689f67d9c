"""Launches of machines, as scaling activities tell of them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from nodewright_aws.groups.causes import Cause, cause_of

_MACHINE = re.compile(r"\bi-[0-9a-f]{8,17}\b")


class Outcome(Enum):
    """What has become of a launch."""

    OPEN = "open"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One attempt of AWS to give a group a machine."""

    id: str
    started: datetime
    outcome: Outcome
    #: The machine, if it got so far.
    instance: str = ""
    #: Set with FAILED.
    cause: Cause | None = None


def parse_launch(body: Mapping[str, Any]) -> Launch | None:
    """Return an activity of boto3's as a value; None if it launches nothing for the group, or tells nothing."""
    described = body.get("Description", "")
    if (described and not described.startswith(("Launching", "Placing"))) or "into warm pool" in described:
        return None
    message = body.get("StatusMessage", "") or described.partition("Status Reason:")[2].strip()
    cause = None
    match body["StatusCode"]:
        case "Successful":
            outcome = Outcome.SUCCEEDED
        case "Failed" | "Cancelled" as status:
            outcome, cause = Outcome.FAILED, cause_of(message, _zone(body.get("Details", "")))
            # What was called off without a word was called off because nobody wants it any more.
            if cause is None or (status == "Cancelled" and cause.code == "LaunchFailed"):
                return None
        case _:
            outcome = Outcome.OPEN
    machine = _MACHINE.search(described)
    return Launch(
        id=body["ActivityId"],
        started=body["StartTime"],
        outcome=outcome,
        instance=machine[0] if machine else "",
        cause=cause,
    )


def _zone(details: str) -> str:
    try:
        known = json.loads(details)
    except ValueError:
        return ""
    return str(known.get("Availability Zone", "")) if isinstance(known, dict) else ""
