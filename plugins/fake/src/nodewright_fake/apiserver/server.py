"""The API server: a store behind HTTP on loopback."""

import socket
import time
from collections.abc import Mapping
from threading import Lock, Thread, current_thread

import yaml

from nodewright_fake.apiserver.access import ADMINISTRATOR, Access, Authorizer
from nodewright_fake.apiserver.admission import PRIORITY_CLASSES, SYSTEM_PRIORITIES
from nodewright_fake.apiserver.catalogue import Catalogue
from nodewright_fake.apiserver.changelog import Changelog
from nodewright_fake.apiserver.faults import Hook
from nodewright_fake.apiserver.reads import Reader
from nodewright_fake.apiserver.record import Record
from nodewright_fake.apiserver.router import Router
from nodewright_fake.apiserver.store import Store
from nodewright_fake.apiserver.wire import Connection, ConnectionEndedError

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

_HOST = "127.0.0.1"
_STOP_SECONDS = 1.0


class ApiServer:
    """Serves a store over plain HTTP on loopback, for the official clients and for kubectl.

    With *tokens* (user by bearer token) requests without a known token are answered with 401. kubectl never sends a
    token over plain HTTP, so a server with tokens is for other clients. *authorize* is asked about each request: None
    allows it, a text is the reason for a 403; it can be exchanged through `authorize` while the server runs.

    *log_length* is the number of changes of one resource that watches can look back on. Real servers answer a watch
    from a version that is too old with an event 410 in the stream; with ``expires_in_band=False`` it is the HTTP
    status instead, as old servers do it.
    """

    def __init__(
        self,
        store: Store,
        port: int = 0,
        *,
        tokens: Mapping[str, str] | None = None,
        authorize: Authorizer | None = None,
        log_length: int = 8192,
        bookmark_interval: float = 60.0,
        expires_in_band: bool = True,
    ) -> None:
        self.store = store
        #: What goes wrong: each is called with each request before it is handled; change the list at any time.
        self.faults: list[Hook] = []
        #: Who asked for what.
        self.record = Record()
        self._port = port
        self._access = Access(tokens or {}, authorize)
        self._changelog = Changelog(store, log_length)
        self._catalogue = Catalogue(store)
        self._reader = Reader(
            store, self._changelog, bookmark_interval=bookmark_interval, expires_in_band=expires_in_band
        )
        self._router = Router(store, self._catalogue, self._reader, self._access, self.record, self.faults)
        self._listener: socket.socket | None = None
        self._connections: dict[Thread, Connection] = {}
        self._lock = Lock()
        self._stopping = False

    def start(self) -> "ApiServer":
        """Create what every cluster has, bind the port and serve until `stop`; a stopped server stays stopped."""
        self._furnish()
        self._listener = socket.create_server((_HOST, self._port), backlog=128)
        self._port = self._listener.getsockname()[1]
        self._acceptor = Thread(target=self._accept, args=(self._listener,), name="apiserver", daemon=True)
        self._acceptor.start()
        return self

    def stop(self) -> None:
        """End all watches, connections and threads. The store stays as it is."""
        if self._listener is None or self._stopping:
            return
        self._stopping = True
        # Nothing but a connection wakes a thread in accept() on every system.
        with socket.socket() as knock:
            knock.connect_ex((_HOST, self._port))
        self._acceptor.join(_STOP_SECONDS)
        self._listener.close()
        self._changelog.close()
        self._catalogue.close()
        with self._lock:
            connections = dict(self._connections)
        for connection in connections.values():
            connection.close()
        deadline = time.monotonic() + _STOP_SECONDS
        for thread in connections:
            thread.join(max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> "ApiServer":
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"http://{_HOST}:{self._port}"

    @property
    def authorize(self) -> Authorizer | None:
        """The hook that is called with each request; may be replaced at any time."""
        return self._access.authorize

    @authorize.setter
    def authorize(self, authorizer: Authorizer | None) -> None:
        self._access.authorize = authorizer

    def kubeconfig(self, token: str = "") -> str:
        """Return the YAML of a kubeconfig file for this server, for kubectl and the official clients."""
        user = {"token": token} if token else {}
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "nodewright", "cluster": {"server": self.url}}],
                "users": [{"name": ADMINISTRATOR, "user": user}],
                "contexts": [
                    {"name": "nodewright", "context": {"cluster": "nodewright", "user": ADMINISTRATOR}},
                ],
                "current-context": "nodewright",
            },
            sort_keys=False,
        )

    def open_watches(self, resource: str) -> int:
        """Return how many watches of *resource* (its name in the store) have shown their beginning and are open."""
        return self._changelog.log(resource).readers

    def send_bookmarks(self) -> None:
        """Send a bookmark with the current version, after everything before it, to each watch that takes bookmarks.

        So does a watch that begins later, from an earlier version: its client was between two watches.
        Returns at once. A client that has got its bookmark has seen all changes that were made before this call.
        """
        self._changelog.signal(bookmarks=True)

    def drop_watches(self) -> None:
        """Break all open watches off in the middle, as a failing network does."""
        self._changelog.signal(cut=True)

    def compact(self) -> None:
        """Forget the past, as etcd does every few minutes: old versions and unfinished lists are answered with 410."""
        self._changelog.compact()
        self._reader.forget()

    def _furnish(self) -> None:
        for name in NAMESPACES:
            if self.store.find("namespaces", name) is None:
                self.store.create("namespaces", {"metadata": {"name": name}})
        for name, value in SYSTEM_PRIORITIES.items():
            if self.store.find(PRIORITY_CLASSES, name) is None:
                self.store.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})

    def _accept(self, listener: socket.socket) -> None:
        while True:
            client, _ = listener.accept()
            if self._stopping:
                client.close()
                return
            connection = Connection(client)
            thread = Thread(target=self._serve, args=(connection,), name="apiserver-connection", daemon=True)
            with self._lock:
                self._connections[thread] = connection
            thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            while (message := connection.read()) is not None:
                connection.send(self._router.answer(message))
                if message.is_last:
                    return
        except (ConnectionEndedError, OSError):
            pass  # the client left, or is meant to think that the server did
        finally:
            connection.close()
            connection.release()
            with self._lock:
                self._connections.pop(current_thread(), None)
