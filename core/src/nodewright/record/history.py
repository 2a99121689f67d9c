"""What the record says of one pod: the only place that still knows of one that is gone."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Mention:
    """An action that was decided for a pod, or with it."""

    at: datetime
    #: As the record has it: ``grow``, ``drain``, ``evict``.
    action: str
    group: str = ""
    node: str = ""
    #: For growth: by how many nodes.
    count: int = 0
    why: str = ""
    #: Whether a dry run would only have done it.
    dry_run: bool = False
    #: Whether the record names only some pods of this action, so that the pod may or may not be among them.
    unsure: bool = False

    def __str__(self) -> str:
        match self.action:
            case "grow":
                done = f"{self.group} {'would grow' if self.dry_run else 'was grown'} by {self.count} for it"
            case "drain":
                done = f"node {self.node} {'would be drained' if self.dry_run else 'was drained'} with it"
            case _:
                done = f"it {'would be evicted' if self.dry_run else 'was evicted'} from node {self.node}"
        return f"{done}{' or for others' if self.unsure else ''}{f': {self.why}' if self.why else ''}"


def mentions(lines: Iterable[bytes], pod: str) -> Iterator[Mention]:
    """Yield what the *lines* of a record say of a *pod*, oldest first. Lines that can't be read are left out.

    The record names a few pods of each action. Growth that names only others is told as unsure.
    """
    for line in lines:
        try:
            document = json.loads(line)
            at = datetime.fromisoformat(document["at"])
            for field, dry_run in (("actions", False), ("wouldDo", True)):
                for action in document.get(field, ()):
                    named = pod in action.get("pods", ())
                    unsure = action["action"] == "grow" and action.get("podCount", 0) > len(action.get("pods", ()))
                    if named or unsure:
                        yield _mention(action, at, dry_run=dry_run, unsure=not named)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue


def _mention(action: Mapping[str, Any], at: datetime, *, dry_run: bool, unsure: bool) -> Mention:
    return Mention(
        at=at,
        action=action["action"],
        group=action.get("group", ""),
        node=action.get("node", ""),
        count=action.get("count", 0),
        why=action.get("why", ""),
        dry_run=dry_run,
        unsure=unsure,
    )
