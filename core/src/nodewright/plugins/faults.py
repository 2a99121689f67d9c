"""Faults: what plugins did wrong while they were in use, and the guard that keeps a fault from spreading."""

import logging
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TypeVar, overload

from nodewright.api import Clock, NodewrightError
from nodewright.plugins.calls import Call
from nodewright.plugins.conduct import Conduct, MisconductError
from nodewright.plugins.error_text import describe
from nodewright.plugins.trespass import watch_for_trespasses

T = TypeVar("T")

logger = logging.getLogger(__name__)

_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One failure of one plugin."""

    #: The plugin's name, as in YAML.
    plugin: str
    #: The method or hook that failed.
    where: str
    #: What went wrong, in one line.
    error: str


class Faults:
    """Calls plugins so that a failing one affects no other part, and counts their faults.

    Every fault is counted and reported to the listeners. The first one of each plugin and place is logged, and after
    that one every *repeat*, with the number of faults in between. Safe to use from any thread.
    """

    def __init__(self, clock: Clock, *, repeat: timedelta = timedelta(minutes=5)) -> None:
        self._clock = clock
        self._repeat = repeat
        self._lock = Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._logged: dict[tuple[str, str], tuple[datetime, int]] = {}
        self._listeners: list[Callable[[Fault], None]] = []
        self._conducts: dict[str, Conduct] = {}

    @property
    def counts(self) -> Mapping[tuple[str, str], int]:
        """Faults so far by plugin and place: the numbers of ``nodewright_plugin_faults_total``."""
        with self._lock:
            return dict(self._counts)

    def listen(self, listener: Callable[[Fault], None]) -> None:
        """Have *listener* called for every fault from now on, at once, on the thread on which the plugin failed.

        A listener must be safe to call from any thread and must not raise.
        """
        self._listeners.append(listener)

    def forget(self, listener: Callable[[Fault], None]) -> None:
        """Stop calling *listener*."""
        self._listeners.remove(listener)

    def watch(self, plugin: str, *, may_start_programs: bool) -> None:
        """Look from now on at what *plugin* does to the process: it is not known to behave.

        What it changes is put back, and what touches the whole process is refused; each is a fault.
        """
        watch_for_trespasses()
        self._conducts[plugin] = Conduct(may_start_programs=may_start_programs)

    def trust(self, plugin: str) -> None:
        """Look no longer at what *plugin* does to the process: it is one of Nodewright's own."""
        self._conducts.pop(plugin, None)

    def calling(self, plugin: str, where: str) -> Call:
        """Return a context for a call of *plugin* whose failure the caller handles itself.

        Inside it the call is known to whoever looks for plugins that hang, and all that leaves it is an `Exception`.
        """
        return Call(plugin, where, self.note, self._conducts.get(plugin))

    @overload
    def call(self, plugin: str, where: str, function: Callable[..., T], *arguments: object, default: T) -> T: ...

    @overload
    def call(
        self,
        plugin: str,
        where: str,
        function: Callable[..., object],
        *arguments: object,
        default: T,
        returns: Callable[[object], T],
    ) -> T: ...

    def call(
        self,
        plugin: str,
        where: str,
        function: Callable[..., T],
        *arguments: object,
        default: T,
        returns: Callable[[object], T] | None = None,
    ) -> T:
        """Return what *function* returns for *arguments*, or *default* after noting a fault if it raises.

        *returns* (see `nodewright.plugins.results`) checks the result and raises `TypeError` if it is not what the
        contract promises, which is a fault like any other. So is an attempt to end the process; only Ctrl-C passes.
        """
        try:
            with self.calling(plugin, where):
                result = function(*arguments)
                return result if returns is None else returns(result)
        except Exception as error:
            self.note(plugin, where, error)
            return default

    def note(self, plugin: str, where: str, error: Exception) -> None:
        """Count, log and report that *plugin* failed in *where* with *error*."""
        fault = Fault(plugin=plugin, where=where, error=describe(error))
        key = (plugin, where)
        with self._lock:
            self._counts[key] += 1
            count = self._counts[key]
            unlogged = self._due(key, count)
        if unlogged:
            self._log(fault, error, again=unlogged - 1)
        for listener in tuple(self._listeners):
            listener(fault)

    def _due(self, key: tuple[str, str], count: int) -> int:
        """Return how many faults the next log line is about, this one included; 0 if no line is due yet."""
        now = self._clock.now()
        last, logged_count = self._logged.get(key, (None, 0))
        # The difference is negative if the clock was set back. Log then, or nothing is logged until it catches up.
        if last is not None and timedelta(0) <= now - last < self._repeat:
            return 0
        self._logged[key] = (now, count)
        return count - logged_count

    def _log(self, fault: Fault, error: Exception, *, again: int) -> None:
        logger.warning(
            "plugin %s failed in %s: %s%s%s",
            fault.plugin,
            fault.where,
            fault.error,
            _place(error),
            f" (and {again} more times since the last report)" if again else "",
            exc_info=error if logger.isEnabledFor(logging.DEBUG) else None,
            extra={"plugin": fault.plugin, "where": fault.where},
        )


def _place(error: Exception) -> str:
    """Return the line of a plugin's code that raised *error*; empty if the core did, or if it was meant for people."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, NodewrightError | MisconductError) or not frames:
        return ""
    last = Path(frames[-1].filename)
    return "" if last.is_relative_to(_PACKAGE) else f" (at {last.name}:{frames[-1].lineno}, in {frames[-1].name})"
