"""The process between Nodewright and a plugin's process: it sees that nothing of the plugin outlives either.

Run as a script, before anything of Nodewright is imported: it stays small, and a fork of it is safe. It waits for
the end of the plugin's process, or of Nodewright, whichever comes first; then it ends all that the plugin has started,
reaps it, and says how the plugin's process ended.
"""

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main(lifeline: int, channel: int, memory: int, paths: list[str]) -> None:
    """Run the plugin's process and watch over it. Only Nodewright holds the other end of *lifeline*."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    ended, notify = os.pipe()
    supervisor, plugin = os.getpid(), os.fork()
    if plugin == 0:
        for each in (lifeline, ended, notify):
            os.close(each)
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        sys.path[:] = paths
        from nodewright.plugins.isolation.child import run

        run(channel, memory)
        os._exit(0)
    os.close(channel)
    os.set_blocking(notify, False)
    signal.set_wakeup_fd(notify)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    status = None
    while status is None:
        status = _reaped(plugin)
        if status is None and lifeline in select.select([lifeline, ended], [], [])[0]:
            # Nodewright wants it to end, or has ended itself.
            break
        if status is None:
            os.read(ended, 4096)
    _end_all(plugin)
    with contextlib.suppress(OSError):
        socket.socket(fileno=lifeline).sendall(f"{0 if status is None else status}".encode())


def _reaped(plugin: int) -> int | None:
    """Reap what has ended; return the wait status of *plugin* if it is among that."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
            found = ended[1] if ended[0] == plugin else found
    return found


def _end_all(plugin: int) -> None:
    """End the plugin's process group, and whatever else it has left behind: all of it becomes ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(plugin, signal.SIGKILL)
    try:
        while True:
            for each in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def _children() -> list[int]:
    """Return our children; none where there is no /proc to read."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may contain anything.
            if int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


def _prctl(option: int, argument: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
