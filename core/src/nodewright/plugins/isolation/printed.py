"""What a plugin prints in its process: log lines that name it."""

import logging
import os
import selectors
import threading
import time
from typing import IO

#: What is longer is cut: a line, a line that explains an end, and the lines of a minute.
_LONGEST, _LONGEST_LAST, _MOST_IN_A_MINUTE = 2000, 200, 600

_log = logging.getLogger(__name__)


class PrintedLines(threading.Thread):
    """Reads both streams of a plugin's process until they end."""

    def __init__(self, plugin: str, out: IO[bytes], err: IO[bytes]) -> None:
        super().__init__(name=f"output-{plugin}", daemon=True)
        #: The last line on standard error.
        self.last = ""
        self._plugin = plugin
        self._out = out
        self._err = err
        self._minute = 0.0
        self._lines = 0

    def run(self) -> None:
        """Read, and log each line."""
        with self._out, self._err, selectors.DefaultSelector() as selector:
            rests = {self._out.fileno(): b"", self._err.fileno(): b""}
            for each in rests:
                selector.register(each, selectors.EVENT_READ)
            while selector.get_map():
                for key, _ in selector.select():
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fd)
                    *whole, rests[key.fd] = (rests[key.fd] + (data or b"\n")).split(b"\n")
                    rests[key.fd] = rests[key.fd][:_LONGEST]
                    for line in filter(None, (each.decode(errors="replace").strip() for each in whole)):
                        self._tell(line, is_error=key.fd == self._err.fileno())

    def _tell(self, line: str, *, is_error: bool) -> None:
        if is_error:
            self.last = line[:_LONGEST_LAST]
        if time.monotonic() > self._minute + 60:
            self._minute, self._lines = time.monotonic(), 0
        self._lines += 1
        if self._lines <= _MOST_IN_A_MINUTE:
            _log.info("plugin %s: %s", self._plugin, line[:_LONGEST])
        elif self._lines == _MOST_IN_A_MINUTE + 1:
            _log.warning("plugin %s prints too much: the rest of this minute is left out", self._plugin)
