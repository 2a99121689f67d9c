"""Logs: one line per decision at the default level, as text or JSON."""

import json
import logging
import sys
from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime
from typing import TextIO

#: The logger of decisions and of their outcomes. Lines about outcomes have an ``action``.
DECISIONS = "nodewright.decision"
#: From this verbosity on, details are logged.
_DETAILED = 5
_MOST_LINES, _MOST_DETAILED_LINES = 20, 1000
#: The default of `loop.scanInterval`.
_WINDOW_SECONDS = 10.0
_MOST_KINDS = 1000
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class TextFormatter(logging.Formatter):
    """``2030-01-01T00:00:00Z INFO    message``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for *record*."""
        line = f"{_time(record)} {record.levelname:<7} {record.getMessage()}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object per line, with the fields given as ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for *record*."""
        entry = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in _STANDARD},
        }
        if record.exc_info:
            entry["error"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class Quota:
    """Admits at most so many lines of one kind in ten seconds, and says how many were left out. Decisions always pass.

    Lines are of one kind if they differ only in what is filled in, and are about one plugin. So a thousand pods, or
    objects that can't be read, don't make a thousand lines.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        #: By kind: when the window began, and how many lines came in it.
        self._seen: dict[tuple[object, ...], tuple[float, int]] = {}

    def admit(self, record: logging.LogRecord) -> logging.LogRecord | None:
        """Return what to write for *record*; None if it is one too many. *record* itself is not changed.

        Call it on one thread at a time.
        """
        action = getattr(record, "action", "")
        if record.name == DECISIONS and not action:
            return record
        kind = (
            record.name,
            record.levelno,
            record.msg,
            action,
            getattr(record, "plugin", ""),
            getattr(record, "where", ""),
        )
        began, count = self._seen.get(kind, (record.created, 0))
        notes = []
        # After a clock was set back, lines must not stop until it catches up.
        if not 0 <= record.created - began < _WINDOW_SECONDS:
            if count > self._most:
                notes.append(f"{count - self._most} lines like this were left out before")
            began, count = record.created, 0
        if len(self._seen) >= _MOST_KINDS:
            self._seen.clear()
        self._seen[kind] = began, count + 1
        if count >= self._most:
            return None
        if count + 1 == self._most:
            notes.append(f"more lines like this are left out for {_WINDOW_SECONDS:g} s")
        return _with_notes(record, notes) if notes else record


class StandardErrorHandler(logging.StreamHandler[TextIO]):
    """Writes what *quota* admits to the current standard error."""

    def __init__(self, quota: Quota) -> None:
        # The constructor of the base class would keep the stream.
        logging.Handler.__init__(self)
        self._quota = quota

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        """Standard error as it is now."""
        return sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Write *record*, unless it is one too many. Called with the handler's lock held."""
        admitted = self._quota.admit(record)
        if admitted is not None:
            super().emit(admitted)


def set_up_logging(*, verbosity: int = 0, json_format: bool = False) -> None:
    """Send all logs of Nodewright, and warnings of libraries, to standard error; from *verbosity* 5 on, details too."""
    detailed = verbosity >= _DETAILED
    handler = StandardErrorHandler(Quota(_MOST_DETAILED_LINES if detailed else _MOST_LINES))
    handler.setFormatter(JsonFormatter() if json_format else TextFormatter())
    logger = logging.getLogger("nodewright")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG if detailed else logging.INFO)
    logger.propagate = False
    root = logging.getLogger()
    # The level of the root logger stays as it is: warnings.
    root.handlers[:] = [each for each in root.handlers if not isinstance(each, StandardErrorHandler)] + [handler]


def _with_notes(record: logging.LogRecord, notes: Sequence[str]) -> logging.LogRecord:
    noted = copy(record)
    noted.msg, noted.args = "; ".join((record.getMessage(), *notes)), ()
    return noted


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
