"""How commands that work on a cluster start: configuration, a connection, an autoscaler."""

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from socket import gethostname
from uuid import uuid4

from nodewright.cli.progress import Progress
from nodewright.cli.warning import warn
from nodewright.config.document import Loaded, load
from nodewright.config.flags import Flags, parse_flags
from nodewright.config.model import Settings
from nodewright.config.watch import ConfigFile
from nodewright.kube.lease import Lease
from nodewright.kube.transport import Transport, connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.runtime.clock import SystemClock
from nodewright.runtime.log import set_up_logging

_log = logging.getLogger("nodewright.start")


def autoscaler_for(words: Sequence[str]) -> tuple[Autoscaler, Settings]:
    """Return an autoscaler for the flags in *words*, not started yet, and its settings. Sets up logging.

    It has to hold a lease to act, unless that is turned off. Raises `ConfigurationError` with everything that is wrong.
    """
    registry = Registry()
    loaded, config_file = _loaded(parse_flags(words), registry)
    settings = loaded.settings
    set_up_logging(verbosity=settings.logging.verbosity, json_format=settings.logging.format == "json")
    for warning in loaded.warnings:
        _log.warning("%s", warning)
    transport = _connected(settings)
    autoscaler = Autoscaler(
        settings,
        transport,
        SystemClock(),
        registry=registry,
        config_file=config_file,
        lease=_lease(settings, transport),
    )
    return autoscaler, settings


@contextmanager
def looking(flags: Flags) -> Iterator[tuple[Autoscaler, Settings, Progress]]:
    """Yield an autoscaler that has seen the cluster, and the memory of the one that runs, for one look; its settings.

    What goes wrong meanwhile, such as a provider that can't be read, is told at the end, after the answer, and each
    thing once. Warnings about the configuration are counted only: `nodewright config check` tells them. Raises
    `ConfigurationError` with everything that is wrong.
    """
    registry = Registry()
    loaded, config_file = _loaded(flags, registry)
    settings = loaded.settings
    set_up_logging(verbosity=settings.logging.verbosity)
    warnings = _Warnings()
    if not logging.getLogger("nodewright").isEnabledFor(logging.DEBUG):
        logging.getLogger("nodewright").handlers[:] = [warnings]
    autoscaler = Autoscaler(settings, _connected(settings), SystemClock(), registry=registry, config_file=config_file)
    try:
        with Progress("reading the cluster") as progress:
            autoscaler.start()
            autoscaler.glance_at_memory()
            progress.now("reading the clouds and deciding")
            yield autoscaler, settings, progress
    finally:
        autoscaler.close()
        for text in warnings.texts:
            warn(text)
        if loaded.warnings:
            count = len(loaded.warnings)
            print(
                f"the configuration has {count} warning{'s' if count > 1 else ''}: nodewright config check shows them",
                file=sys.stderr,
            )


class _Warnings(logging.Handler):
    """Gathers what is logged as a warning or worse, each text once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of *record*."""
        self.texts.setdefault(record.getMessage())


def _loaded(flags: Flags, registry: Registry) -> tuple[Loaded, ConfigFile | None]:
    if not flags.config:
        return load(flags=flags, classes=registry, tolerant=True), None
    config_file = ConfigFile(flags.config, flags=flags, classes=registry)
    return config_file.load(tolerant=True), config_file


def _connected(settings: Settings) -> Transport:
    kube = settings.kube
    return connect(kubeconfig=kube.kubeconfig, server=kube.server, user_agent=kube.user_agent)


def _lease(settings: Settings, transport: Transport) -> Lease | None:
    # A dry run goes on beside the replica that acts.
    if settings.dry_run or not settings.leader_election.enabled:
        return None
    # A host name is not enough: pods on the host's network, and processes on one machine, share it.
    identity = f"{gethostname()}_{uuid4()}"
    return Lease(transport, settings.namespace, settings.leader_election, identity)
