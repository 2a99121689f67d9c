"""The memory store keeps memory in a ConfigMap or a file, so that it survives the process."""

import socket
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from nodewright.api.clock import Clock
from nodewright.config.model import Settings
from nodewright.kube.transport import Transport
from nodewright.memory_store.config_map import ConfigMapStore
from nodewright.memory_store.file import FileStore
from nodewright.memory_store.keeper import MemoryKeeper
from nodewright.memory_store.ownership import Ownership, WriteResult
from nodewright.memory_store.store import Store

__all__ = ["MemoryKeeper", "WriteResult", "keeper_for", "store_for"]


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
    on_write: Callable[[WriteResult], None] = lambda result: None,
) -> MemoryKeeper:
    """Return the keeper of the store that *settings* name. *identity* must be unique to the process.

    *on_write* gets the result of every attempt to write, on the keeper's thread.
    """
    store = store_for(settings, transport)
    ownership = None
    if store is not None:
        identity = identity or f"{socket.gethostname()}_{uuid4()}"
        ownership = Ownership(store, clock, identity=identity, cluster=settings.cluster, on_write=on_write)
    return MemoryKeeper(ownership, clock, interval=settings.loop.scan_interval)
