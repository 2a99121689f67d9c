"""``nodewright run``: the autoscaler itself."""

import logging
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from threading import Event
from types import FrameType

from nodewright.api.command import Command
from nodewright.api.errors import NodewrightError

_log = logging.getLogger("nodewright.run")


class RunCommand(Command):
    """Runs until SIGTERM or Ctrl-C."""

    summary = "run the autoscaler"
    passthrough = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the flags; they are read in Cluster Autoscaler's own syntax."""
        parser.add_argument("--config", metavar="FILE", help="the YAML configuration; it is watched for changes")
        parser.add_argument(
            "--<flag>", metavar="VALUE", help="any flag of Cluster Autoscaler; lies over what the file says"
        )

    def run(self, arguments: Namespace) -> int:
        """Run the autoscaler and return 0 after a clean stop."""
        from nodewright.config.document import load
        from nodewright.config.flags import parse_flags
        from nodewright.config.watch import ConfigFile
        from nodewright.kube.transport import connect
        from nodewright.plugins import Registry
        from nodewright.runtime.autoscaler import Autoscaler
        from nodewright.runtime.clock import SystemClock
        from nodewright.runtime.log import set_up_logging
        from nodewright.serve.server import Server

        registry = Registry()
        flags = parse_flags(arguments.rest)
        config_file = ConfigFile(flags.config, flags=flags, classes=registry) if flags.config else None
        if config_file is not None:
            loaded = config_file.load(tolerant=True)
        else:
            loaded = load(flags=flags, classes=registry, tolerant=True)
        settings = loaded.settings
        set_up_logging(verbosity=settings.logging.verbosity, json_format=settings.logging.format == "json")
        for warning in loaded.warnings:
            _log.warning("%s", warning)
        kube = settings.kube
        transport = connect(kubeconfig=kube.kubeconfig, server=kube.server, user_agent=kube.user_agent)
        autoscaler = Autoscaler(settings, transport, SystemClock(), registry=registry, config_file=config_file)
        try:
            server = Server(settings.server.address, autoscaler.metrics)
        except OSError as error:
            raise NodewrightError(
                f"can't listen on {settings.server.address}: {error.strerror}. "
                "Free the port, or name another one with server.address or --address"
            ) from error
        stop = Event()

        def end() -> None:
            stop.set()
            autoscaler.wake()

        _on_signals(end)
        server.start()
        try:
            autoscaler.start()
            _log.info("watching the cluster at %s", transport.host)
            autoscaler.run(stop)
            _log.info("stopping")
        finally:
            autoscaler.close()
            server.stop()
        return 0


def _on_signals(end: Callable[[], None]) -> None:
    def handle(number: int, frame: FrameType | None) -> None:
        end()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handle)
