"""The status ConfigMap: written on a thread of its own, so that a slow API server delays no loop."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

from nodewright.api.errors import ApiServerError, ConflictError, NodewrightError, NotLeaderError
from nodewright.kube.answer import object_in
from nodewright.kube.transport import Transport

#: Attempts for one write if someone else changes the ConfigMap in between.
_TRIES = 3
#: Seconds that an event about the ConfigMap waits for the first write.
_FIRST_WRITE_SECONDS = 5.0
#: Seconds that `StatusWriter.close` waits.
_LAST_SECONDS = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class StatusText:
    """The content to write."""

    annotations: Mapping[str, str]
    data: Mapping[str, str]


class StatusWriter:
    """Keeps a ConfigMap up to date with the latest status.

    Call `write`, `delete` and `close` on the loop's thread; the first two return at once, and the writer's own thread
    does the work. A status that is replaced before it was written is skipped. Metadata and keys of others stay as they
    are. A failed write is logged, once until one succeeds, and the next status tries again.

    Needs the rights to get, create, update and delete this one ConfigMap.
    """

    def __init__(self, transport: Transport, namespace: str, name: str) -> None:
        self.namespace = namespace
        self.name = name
        self._transport = transport
        self._folder = f"/api/v1/namespaces/{namespace}/configmaps"
        self._path = f"{self._folder}/{name}"
        #: The ConfigMap as last seen, None if unknown. For the thread only.
        self._known: dict[str, Any] | None = None
        self._failing = False
        self._written = False
        #: Guards everything below.
        self._changed = Condition()
        self._next: Callable[[], StatusText] | None = None
        self._tried = False
        self._uid = ""
        self._ending = False
        self._thread: Thread | None = None

    def write(self, render: Callable[[], StatusText]) -> None:
        """Write what *render* returns; it is called on the writer's thread. Does nothing after `delete`."""
        with self._changed:
            if self._ending:
                return
            self._next = render
            self._changed.notify_all()
        if self._thread is None:
            # A daemon thread, as a hanging API server must not keep the process alive.
            self._thread = Thread(target=self._work, name="status", daemon=True)
            self._thread.start()

    def uid(self) -> str:
        """Return the uid of the ConfigMap, empty if there is none. May wait for the first write: not for the loop."""
        with self._changed:
            self._changed.wait_for(lambda: self._tried or self._thread is None, _FIRST_WRITE_SECONDS)
            return self._uid

    def flush(self, timeout: float) -> bool:
        """Wait at most *timeout* seconds until the latest status was tried; return whether it was."""
        with self._changed:
            return self._changed.wait_for(lambda: self._next is None and (self._tried or self._thread is None), timeout)

    def delete(self) -> None:
        """Delete the ConfigMap if this process wrote it last. Nothing is written any more."""
        with self._changed:
            self._ending = True
            self._next = None
            self._changed.notify_all()

    def close(self, timeout: float = _LAST_SECONDS) -> None:
        """Delete the ConfigMap as `delete` does, and wait for that up to *timeout* seconds."""
        self.delete()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                _log.warning("ConfigMap %s/%s stays: the API server takes too long", self.namespace, self.name)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None or self._ending)
                render = self._next
            if render is None:
                self._remove()
                return
            self._keep(render)
            with self._changed:
                if self._next is render:
                    self._next = None
                self._tried = True
                self._changed.notify_all()

    def _keep(self, render: Callable[[], StatusText]) -> None:
        try:
            self._store(render())
        except Exception as error:
            self._log_failure(error)
        else:
            self._failing, self._written = False, True

    def _store(self, text: StatusText) -> None:
        for left in reversed(range(_TRIES)):
            try:
                seen = self._send(text, self._known or self._read())
            except ConflictError:
                # Changed or created by someone else: read it again.
                self._known = None
                if not left:
                    raise
            except ApiServerError as error:
                gone = error.status == 404 and self._known is not None
                self._known = None
                if not gone or not left:
                    raise
            else:
                self._note(seen)
                return

    def _read(self) -> dict[str, Any] | None:
        try:
            found = object_in(self._transport.get(self._path))
        except ApiServerError as error:
            if error.status == 404:
                return None
            raise
        return found

    def _send(self, text: StatusText, known: dict[str, Any] | None) -> dict[str, Any]:
        metadata: dict[str, Any] = (
            dict(known["metadata"]) if known else {"name": self.name, "namespace": self.namespace}
        )
        metadata.pop("managedFields", None)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **text.annotations}
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap"} | (known or {})
        body |= {"metadata": metadata, "data": {**(body.get("data") or {}), **text.data}}
        answer = self._transport.put(self._path, body) if known else self._transport.post(self._folder, body)
        return object_in(answer)

    def _note(self, seen: dict[str, Any]) -> None:
        self._known = seen
        with self._changed:
            self._uid = seen["metadata"].get("uid", "")

    def _remove(self) -> None:
        if self._known is None or not self._written:
            return
        metadata = self._known["metadata"]
        # The preconditions spare it if another leader has written it since.
        seen = {"uid": metadata.get("uid"), "resourceVersion": metadata.get("resourceVersion")}
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": seen}
        try:
            self._transport.delete(self._path, options)
        except ConflictError:
            _log.info("ConfigMap %s/%s stays: another process writes to it", self.namespace, self.name)
        except ApiServerError as error:
            if error.status != 404:
                self._log_failure(error, "deleted")
        except Exception as error:
            self._log_failure(error, "deleted")

    def _log_failure(self, error: Exception, what: str = "written") -> None:
        # `Rights` logs missing rights, and the loop logs the end of leadership.
        logged = self._failing or getattr(error, "right", None) is not None or isinstance(error, NotLeaderError)
        level = logging.DEBUG if logged else logging.WARNING
        unexpected = None if isinstance(error, NodewrightError) else error
        about = (self.namespace, self.name, what, error)
        _log.log(level, "status ConfigMap %s/%s could not be %s: %s", *about, exc_info=unexpected)
        self._failing = True
