"""``nodewright run``: the autoscaler itself."""

import logging
import os
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from threading import Event, Thread
from time import sleep
from types import FrameType

from nodewright.api.command import Command
from nodewright.api.errors import NodewrightError

#: So long, in seconds, a call that is under way may hold up the end; Kubernetes gives a pod 30 by default.
_GRACE_SECONDS = 20.0

_log = logging.getLogger("nodewright.run")


class RunCommand(Command):
    """Runs until SIGTERM or Ctrl-C."""

    summary = "run the autoscaler"
    passthrough = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the flags; they are read in Cluster Autoscaler's own syntax."""
        parser.add_argument("--config", metavar="FILE", help="the YAML configuration; it is watched for changes")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="act on nothing; tell what would be done, and where another autoscaler does otherwise",
        )
        parser.add_argument(
            "--<flag>", metavar="VALUE", help="any flag of Cluster Autoscaler; lies over what the file says"
        )

    def run(self, arguments: Namespace) -> int:
        """Run the autoscaler and return 0 after a clean stop.

        A signal ends the process in any case: what is cut short is found in the cluster and the cloud by the next life.
        """
        from nodewright.cli.start import autoscaler_for
        from nodewright.serve.server import Server

        autoscaler, settings = autoscaler_for(arguments.rest)
        try:
            server = Server(settings.server.address, autoscaler.metrics)
        except OSError as error:
            raise NodewrightError(
                f"can't listen on {settings.server.address}: {error.strerror}. "
                "Free the port, or name another one with server.address or --address"
            ) from error
        stop, watching = Event(), Event()

        def end() -> None:
            stop.set()
            autoscaler.wake()
            if not watching.is_set():
                # Nothing is under way yet that could end well or badly.
                _log.info("stopping before the cluster was seen for the first time")
                os._exit(0)
            # The process takes this thread with it, unless a plugin's call does not end.
            sleep(_GRACE_SECONDS)
            _log.warning("a call is still under way after %g s: stopping without its end", _GRACE_SECONDS)
            os._exit(0)

        _on_signals(end)
        server.start()
        try:
            autoscaler.start()
            watching.set()
            _log.info("watching the cluster at %s", autoscaler.host)
            if settings.dry_run:
                _log.info("this is a dry run: nothing in the cluster and in the clouds is changed")
            autoscaler.run(stop)
            _log.info("stopping")
        finally:
            autoscaler.close()
            server.stop()
        return 0


def _on_signals(end: Callable[[], None]) -> None:
    def handle(number: int, frame: FrameType | None) -> None:
        # The main thread may hold the lock of the very event that *end* sets: another thread waits its turn.
        Thread(target=end, name="end", daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
