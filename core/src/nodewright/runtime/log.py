"""Logs: one line per decision at the default level, as text or JSON."""

import json
import logging
import sys
from datetime import UTC, datetime

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class TextFormatter(logging.Formatter):
    """``2030-01-01T00:00:00Z INFO    message``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for *record*."""
        line = f"{_time(record)} {record.levelname:<7} {record.getMessage()}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object per line, with whatever was given as ``extra``."""

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


def set_up_logging(*, verbosity: int = 0, json_format: bool = False) -> None:
    """Send all logs of Nodewright to standard error; from *verbosity* 5 on, details too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if json_format else TextFormatter())
    logger = logging.getLogger("nodewright")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG if verbosity >= 5 else logging.INFO)
    logger.propagate = False


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
