"""The record of decisions: what each loop decided, and in a dry run what the other autoscaler did."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from nodewright import __version__
from nodewright.api.decision import Decision, Outcome
from nodewright.config.model import Record, Settings
from nodewright.objects.duration import format_duration
from nodewright.record.files import RecordFile
from nodewright.shadow.judgement import Judgement
from nodewright.shadow.observation import Actions

#: The version of the format.
FORMAT = 1
#: How many pods are named for each action. Their number is always written.
_NAMED = 20
#: How often a line says that the loop goes on, if there is nothing else to write.
_STILL_HERE = timedelta(hours=1)


class DecisionRecord:
    """Writes lines to the file that the settings name. For the loop's thread. It raises nothing."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = _file_of(settings.record)
        self._proposed: list[dict[str, Any]] = []
        self._loops = 0
        self._last: datetime | None = None
        self._wrote: datetime | None = None

    def reconfigure(self, settings: Settings) -> None:
        """Go on with other *settings*."""
        if settings.record != self._settings.record:
            self._file = _file_of(settings.record)
        self._settings = settings

    def looped(self, now: datetime) -> None:
        """Count a loop. The first one, and one in an hour, is written even if it decided nothing."""
        self._loops, self._last = self._loops + 1, now
        if self._wrote is None:
            settings = self._settings
            self._append(
                "began",
                now,
                format=FORMAT,
                version=__version__,
                cluster=settings.cluster,
                dryRun=settings.dry_run,
                patience=format_duration(settings.shadow.patience),
            )
        elif now - self._wrote >= _STILL_HERE:
            self._count(now, "watched")

    def acting(self, decision: Decision) -> None:
        """Write what is about to be done."""
        if not decision.quiet:
            self._append("decided", decision.at, actions=actions_of(decision), **_halted(decision))

    def acted(self, outcomes: Iterable[Outcome]) -> None:
        """Write what failed."""
        for outcome in outcomes:
            if not outcome.ok:
                about = {"action": outcome.action, "target": outcome.target, "error": outcome.error}
                self._append("failed", outcome.at, **about)

    def compared(self, decision: Decision, theirs: Actions, judgements: Sequence[Judgement]) -> None:
        """Write what would have been done, if that is new, what the other one did, and how the two compare."""
        proposed = [] if decision.quiet else actions_of(decision)
        news = proposed != self._proposed
        self._proposed = proposed
        if news or theirs.any or judgements:
            self._append(
                "compared",
                decision.at,
                **({"wouldDo": proposed} if news else {}),
                **({"they": _actions_json(theirs)} if theirs.any else {}),
                **({"findings": [each.to_json() for each in judgements]} if judgements else {}),
                **_halted(decision),
            )

    def close(self) -> None:
        """Write the end."""
        if self._last is not None:
            self._count(self._last, "ended")

    def _count(self, now: datetime, event: str) -> None:
        self._append(event, now, loops=self._loops)
        self._loops = 0

    def _append(self, event: str, at: datetime, **fields: Any) -> None:
        self._wrote = at
        if self._file is not None:
            self._file.append({"event": event, "at": at, **fields})


def _file_of(settings: Record) -> RecordFile | None:
    return RecordFile(Path(settings.path), max_size=settings.max_size, keep=settings.keep) if settings.path else None


def actions_of(decision: Decision) -> list[dict[str, Any]]:
    """Return the actions of *decision*, except hints to the scheduler, in few words each."""
    return [
        *({"action": "restore", "node": each.node, "why": str(each.verdict)} for each in decision.restore),
        *(
            {"action": "shrink", "group": each.group, "count": each.count, "why": str(each.verdict)}
            for each in decision.shrink
        ),
        *(
            {
                "action": "grow",
                "group": each.group,
                "from": each.from_size,
                "count": each.count,
                **_pods(each.pods),
                "why": str(each.verdict),
            }
            for each in decision.grow
        ),
        *(
            {
                "action": "delete-instances",
                "group": each.group,
                "instances": list(each.instances),
                "nodes": list(each.nodes),
                "why": str(each.verdict),
            }
            for each in decision.delete
        ),
        *(
            {
                "action": "drain",
                "group": each.group,
                "node": each.node,
                **_pods(each.pods),
                "why": str(each.verdict),
            }
            for each in decision.drain
        ),
        *({"action": "evict", "node": each.node, **_pods(tuple(each.pods))} for each in decision.evict),
    ]


def _pods(keys: Sequence[str]) -> dict[str, Any]:
    return {"podCount": len(keys), "pods": list(islice(keys, _NAMED))} if keys else {}


def _halted(decision: Decision) -> dict[str, str]:
    return {} if decision.halted is None else {"halted": str(decision.halted)}


def _actions_json(theirs: Actions) -> dict[str, Any]:
    fields = {
        "grew": dict(theirs.grew),
        "shrank": dict(theirs.shrank),
        "began": {name: node.group for name, node in theirs.began.items()},
        "gaveUp": dict(theirs.gave_up),
        "left": dict(theirs.left),
    }
    return {name: value for name, value in fields.items() if value}
