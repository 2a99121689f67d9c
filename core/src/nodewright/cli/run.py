"""``nodewright run``: the autoscaler itself."""

import logging
import os
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from threading import Event, Thread
from time import monotonic, sleep
from types import FrameType
from typing import TYPE_CHECKING, ClassVar

from nodewright.api.command import Command
from nodewright.api.errors import NodewrightError, NotLeaderError
from nodewright.cli.exit_status import ExitStatus

if TYPE_CHECKING:
    from nodewright.kube.lease import Lease
    from nodewright.runtime.watchdog import Watchdog

#: How long a call that is under way may hold up the end. Kubernetes gives a pod 30 s by default.
_GRACE_SECONDS = 20.0
#: Nothing is said about such a call before this.
_QUIET_SECONDS = 2.0
#: Signals within this time are one.
_ONE_SIGNAL_SECONDS = 1.0

_log = logging.getLogger("nodewright.run")


class RunCommand(Command):
    """Runs until SIGTERM or Ctrl-C."""

    passthrough = True
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright run --config nodewright.yaml": "run it",
        "nodewright run --config nodewright.yaml --dry-run": "change nothing, and tell what would be done",
        "nodewright run --cloud-provider=fake --nodes=1:10:base --scale-down-unneeded-time=5m": "by flags alone",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the flags; they are read in Cluster Autoscaler's own syntax."""
        parser.add_argument("--config", metavar="FILE", help="the YAML configuration; it is watched for changes")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="change nothing; log what would be done, and where another autoscaler decides differently",
        )
        parser.add_argument("--<flag>", metavar="VALUE", help="any flag of Cluster Autoscaler; it overrides the file")

    def run(self, arguments: Namespace) -> int:
        """Run the autoscaler; return 0 after a clean stop, `ExitStatus.LOST` if another replica may act by now.

        A signal always ends the process, a second one at once. The next process finds what was cut short in the
        cluster and the cloud.
        """
        from nodewright.plugins.output import PluginOutput
        from nodewright.runtime.watchdog import Watchdog

        with redirect_stdout(PluginOutput(sys.stdout)), Watchdog() as watchdog:
            return self._run(arguments.rest, watchdog)

    def _run(self, words: Sequence[str], watchdog: "Watchdog") -> int:
        from nodewright.cli.start import autoscaler_for
        from nodewright.runtime.watchdog import hanging
        from nodewright.serve.endpoints import Endpoints
        from nodewright.serve.server import Server

        autoscaler, settings = autoscaler_for(words)
        watchdog.patience_with = autoscaler.patience_with
        endpoints = Endpoints(
            autoscaler.metrics,
            trouble=autoscaler.liveness.trouble,
            obstacle=lambda: autoscaler.obstacle,
            snapshots=autoscaler.snapshots if settings.server.snapshot else None,
            profiling=settings.server.profiling,
        )
        try:
            server = Server(settings.server.address, endpoints)
        except OSError as error:
            raise NodewrightError(
                f"can't listen on {settings.server.address}: {error.strerror}. "
                "Name another address with server.address or --address, or free this one"
            ) from error
        stop, watching = Event(), Event()

        def late() -> str:
            return hanging() or (
                "a call is under way" if autoscaler.active else "the last loop has not come to its end"
            )

        def end() -> None:
            stop.set()
            autoscaler.wake()
            if not watching.is_set():
                # Nothing has begun yet that needs an end.
                _log.info("stopping before the cluster was seen for the first time")
                os._exit(0)
            # This thread dies with the process, unless a plugin's call does not end.
            quiet = min(_QUIET_SECONDS, _GRACE_SECONDS)
            sleep(quiet)
            _log.warning(
                "stopping takes long: %s; it is waited for up to %g s, or until a second signal",
                late(),
                _GRACE_SECONDS,
            )
            sleep(_GRACE_SECONDS - quiet)
            _log.warning("stopping without waiting any longer: %s", late())
            os._exit(0)

        def end_at_once() -> None:
            _log.warning("a second signal: stopping at once; %s", hanging() or "no plugin is being called")
            os._exit(ExitStatus.FAILED)

        _on_signals(end, end_at_once)
        if autoscaler.lease is not None:
            _on_loss(autoscaler.lease, stop, autoscaler.wake, late)
        server.start()
        try:
            autoscaler.start(patient=True)
            watching.set()
            _log.info("watching the cluster at %s", autoscaler.host)
            if settings.dry_run:
                _log.info("this is a dry run: nothing in the cluster and in the clouds is changed")
            if autoscaler.lead(stop):
                autoscaler.run(stop)
            _log.info("stopping")
        except NotLeaderError as error:
            _log.error("stopping: %s", error)
            return ExitStatus.LOST
        finally:
            autoscaler.close()
            server.stop()
        return 0


def _on_signals(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Have *first* called at the first signal to end, and *second* at each further one, on threads of their own."""
    numbers = frozenset({signal.SIGTERM, signal.SIGINT})
    signalled: list[float] = []
    heard, wakeup = os.pipe()
    os.set_blocking(wakeup, False)

    def note() -> None:
        signalled.append(monotonic())
        # Some who signal a process signal its group as well: that is one signal, not two.
        if signalled[-1] - signalled[0] >= _ONE_SIGNAL_SECONDS or len(signalled) == 1:
            # The main thread may hold a lock that they need: of an event, or of logging.
            Thread(target=second if signalled[1:] else first, name="end", daemon=True).start()

    def listen() -> None:
        while number := os.read(heard, 1):
            if number[0] in numbers:
                note()

    def handle(number: int, frame: FrameType | None) -> None:
        # It was not heard if a plugin's event loop has put its own in this place.
        if signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False) != wakeup:
            note()

    # Python calls handlers on the main thread, which a plugin's call into C may keep for ever. This tells at once.
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    Thread(target=listen, name="signals", daemon=True).start()
    for number in numbers:
        signal.signal(number, handle)


def _on_loss(lease: "Lease", stop: Event, wake: Callable[[], None], late: Callable[[], str]) -> None:
    """Have the process end when the *lease* is lost; *late* says what it does not wait for."""

    def end() -> None:
        lease.lost.wait()
        stop.set()
        wake()
        # Nothing else stops a plugin's call, and it must not meet the next leader's calls.
        sleep(lease.spare)
        _log.error("another replica may act by now: stopping without waiting any longer: %s", late())
        os._exit(ExitStatus.LOST)

    Thread(target=end, name="lease-lost", daemon=True).start()
