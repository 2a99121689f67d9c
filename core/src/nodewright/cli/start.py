"""How commands that work on a cluster start: configuration, a connection, an autoscaler."""

import logging
from collections.abc import Sequence
from socket import gethostname
from uuid import uuid4

from nodewright.config.document import load
from nodewright.config.flag import Flag
from nodewright.config.flags import parse_flags
from nodewright.config.model import Settings
from nodewright.config.watch import ConfigFile
from nodewright.kube.lease import Lease
from nodewright.kube.transport import Transport, connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.runtime.clock import SystemClock
from nodewright.runtime.log import set_up_logging

_log = logging.getLogger("nodewright.start")


def autoscaler_for(
    words: Sequence[str], *, own: Sequence[Flag] = (), acts: bool = False
) -> tuple[Autoscaler, Settings]:
    """Return an autoscaler for the flags in *words*, not started yet, and its settings. Sets up logging.

    *own* are flags of the command itself. An autoscaler that *acts* has to hold a lease, unless that is turned off.
    Raises `ConfigurationError` with everything that is wrong.
    """
    registry = Registry()
    flags = parse_flags(words, own=own)
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
    autoscaler = Autoscaler(
        settings,
        transport,
        SystemClock(),
        registry=registry,
        config_file=config_file,
        lease=_lease(settings, transport) if acts else None,
    )
    return autoscaler, settings


def _lease(settings: Settings, transport: Transport) -> Lease | None:
    # A dry run goes on beside the replica that acts.
    if settings.dry_run or not settings.leader_election.enabled:
        return None
    # A host name is not enough: pods on the host's network, and processes on one machine, share it.
    identity = f"{gethostname()}_{uuid4()}"
    return Lease(transport, settings.namespace, settings.leader_election, identity)
