"""The record of decisions: what was decided, loop by loop, and in a dry run what the other one did."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from nodewright import __version__
from nodewright.api.decision import Decision, Outcome
from nodewright.config.model import Record, Settings
from nodewright.objects.duration import format_duration
from nodewright.record.record_file import RecordFile
from nodewright.shadow.finding import Finding
from nodewright.shadow.sighting import Deeds

#: The version of the format.
FORMAT = 1
#: So many pods are named for each action; how many there are is told in any case.
_NAMED = 20
#: How often it is told that the loop goes on, though there is nothing to tell of.
_STILL_HERE = timedelta(hours=1)


class DecisionRecord:
    """Writes lines where the settings want them. For the loop's thread; nothing here stops a loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = _file_of(settings.record)
        self._told: list[dict[str, Any]] = []
        self._loops = 0
        self._last: datetime | None = None
        self._spoke: datetime | None = None

    def reconfigure(self, settings: Settings) -> None:
        """Go on where other *settings* want it."""
        if settings.record != self._settings.record:
            self._file = _file_of(settings.record)
        self._settings = settings

    def looped(self, now: datetime) -> None:
        """Count a loop; the first one, and one in an hour, is told of even if it decided nothing."""
        self._loops, self._last = self._loops + 1, now
        if self._spoke is None:
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
        elif now - self._spoke >= _STILL_HERE:
            self._count(now, "watched")

    def acting(self, decision: Decision) -> None:
        """Note what is about to be done."""
        if not decision.quiet:
            self._append("decided", decision.at, actions=actions_of(decision), **_halted(decision))

    def acted(self, outcomes: Iterable[Outcome]) -> None:
        """Note what failed."""
        for outcome in outcomes:
            if not outcome.ok:
                about = {"action": outcome.action, "target": outcome.target, "error": outcome.error}
                self._append("failed", outcome.at, **about)

    def compared(self, decision: Decision, deeds: Deeds, findings: Sequence[Finding]) -> None:
        """Note what would have been done, if it is something new, what the other one did, and how these compare."""
        wished = [] if decision.quiet else actions_of(decision)
        news = wished != self._told
        self._told = wished
        if news or deeds.any or findings:
            self._append(
                "compared",
                decision.at,
                **({"wouldDo": wished} if news else {}),
                **({"they": _deeds(deeds)} if deeds.any else {}),
                **({"findings": [_finding(each) for each in findings]} if findings else {}),
                **_halted(decision),
            )

    def close(self) -> None:
        """Note the end."""
        if self._last is not None:
            self._count(self._last, "ended")

    def _count(self, now: datetime, event: str) -> None:
        self._append(event, now, loops=self._loops)
        self._loops = 0

    def _append(self, event: str, at: datetime, **fields: Any) -> None:
        self._spoke = at
        if self._file is not None:
            self._file.append({"event": event, "at": at, **fields})


def _file_of(settings: Record) -> RecordFile | None:
    return RecordFile(Path(settings.path), max_size=settings.max_size, keep=settings.keep) if settings.path else None


def actions_of(decision: Decision) -> list[dict[str, Any]]:
    """Return the actions of *decision*, but for hints to the scheduler, in few words each."""
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


def _deeds(deeds: Deeds) -> dict[str, Any]:
    told = {
        "grew": dict(deeds.grew),
        "shrank": dict(deeds.shrank),
        "began": {name: going.group for name, going in deeds.began.items()},
        "gaveUp": dict(deeds.gave_up),
        "left": dict(deeds.left),
    }
    return {name: value for name, value in told.items() if value}


def _finding(finding: Finding) -> dict[str, Any]:
    told = {
        "sort": finding.sort.value,
        "kind": finding.kind.value,
        "group": finding.group,
        "node": finding.node,
        "ours": finding.ours,
        "why": finding.why,
        "theirs": finding.theirs,
        "theirWhy": finding.their_why,
        "machines": finding.machines,
        "lag": finding.lag,
    }
    return {name: value for name, value in told.items() if value not in ("", None) and (value or name == "lag")}
