"""The memory store: what Nodewright remembers outlives its process."""

import socket
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from nodewright.api.clock import Clock
from nodewright.config.model import Settings
from nodewright.kube.transport import Transport
from nodewright.memory_store.config_map import ConfigMapStore
from nodewright.memory_store.custody import Custody, Written
from nodewright.memory_store.file import FileStore
from nodewright.memory_store.keeper import MemoryKeeper
from nodewright.memory_store.store import Store

__all__ = ["MemoryKeeper", "Written", "keeper_for", "store_for"]


def store_for(settings: Settings, transport: Transport) -> Store | None:
    """Return the store that *settings* name; None if memory is not kept, as in a dry run."""
    if settings.dry_run:
        return None
    match settings.memory.store:
        case "configMap":
            return ConfigMapStore(transport, settings.namespace, settings.memory.name)
        case "file":
            return FileStore(Path(settings.memory.path))
    return None


def keeper_for(
    settings: Settings,
    transport: Transport,
    clock: Clock,
    *,
    identity: str = "",
    tell: Callable[[Written], None] = lambda written: None,
) -> MemoryKeeper:
    """Return the keeper of the store that *settings* name; *identity* has to be another one for each process.

    *tell* hears of every attempt to write, on the keeper's thread.
    """
    store = store_for(settings, transport)
    custody = None
    if store is not None:
        identity = identity or f"{socket.gethostname()}_{uuid4()}"
        custody = Custody(store, clock, identity=identity, cluster=settings.cluster, tell=tell)
    return MemoryKeeper(custody, clock, interval=settings.loop.scan_interval)
