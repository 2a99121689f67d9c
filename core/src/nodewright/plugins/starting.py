"""Starting: plugins are imported, configured and made with care for the process that does it."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from nodewright.plugins.calls import Call
from nodewright.plugins.conduct import Conduct
from nodewright.plugins.output import PluginOutput

_log = logging.getLogger(__name__)


@contextmanager
def starting(plugin: str, where: str) -> Iterator[None]:
    """Import or make *plugin* within this context; *where* says which.

    All that leaves it is an `Exception`, as from any call. What it changes of the process is put back. Standard output
    may be data for another program: what is printed is logged instead.
    """
    call = Call(plugin, where, _log_fault, Conduct(may_start_programs=True))
    with redirect_stdout(PluginOutput(sys.stderr)), call:
        yield


def _log_fault(plugin: str, where: str, error: Exception) -> None:
    _log.warning("plugin %s, %s: %s", plugin, where, error, extra={"plugin": plugin, "where": where})
