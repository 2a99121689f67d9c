"""Output: what plugins print, told as log lines that name them."""

import io
import logging
import threading
from typing import TextIO

from nodewright.plugins.calls import current_call

_log = logging.getLogger(__name__)


class PluginOutput(io.TextIOBase):
    """Stands in for the standard output *stream*: what is printed while a plugin is called becomes log lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        #: What each thread has written of a line that has no end yet.
        self._begun = threading.local()

    def write(self, text: str) -> int:
        """Write *text*, or log it if a plugin prints it."""
        call = current_call()
        if call is None:
            return self._stream.write(text)
        *lines, self._begun.line = (getattr(self._begun, "line", "") + text).split("\n")
        for line in filter(None, map(str.strip, lines)):
            _log.warning(
                "plugin %s printed in %s: %s",
                call.plugin,
                call.where,
                line,
                extra={"plugin": call.plugin, "where": call.where},
            )
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def writable(self) -> bool:
        """Return that it can be written."""
        return True
