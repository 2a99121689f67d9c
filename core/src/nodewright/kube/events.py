"""Events: what people see with ``kubectl describe``."""

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Condition, Thread
from typing import Any
from uuid import uuid4

from nodewright.api.clock import Clock
from nodewright.api.errors import NodewrightError
from nodewright.kube.transport import Transport
from nodewright.objects import Node

STATUS_CONFIG_MAP = "cluster-autoscaler-status"
_COMPONENT = "cluster-autoscaler"
_REPEAT = timedelta(minutes=5)
_REMEMBERED = 8192
#: So many events may wait to be written.
_WAITING = 1000
#: So long, in seconds, `EventWriter.close` waits for them.
_LAST_SECONDS = 5.0

_log = logging.getLogger(__name__)


class EventWriter:
    """Writes events; the same reason for the same object at most once in five minutes.

    Methods are for the loop's thread, and all but `flush` and `close` return at once: a thread of the writer's own
    writes what waits, in the order in which it came. If too many wait, the oldest is dropped and *on_drop* called. An
    event that can't be written is logged and forgotten: it never stops anything. One that is *silent* writes nothing.
    """

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        namespace: str,
        *,
        on_drop: Callable[[], None] = lambda: None,
        silent: bool = False,
    ) -> None:
        self._silent = silent
        self._transport = transport
        self._clock = clock
        self.namespace = namespace
        self._on_drop = on_drop
        self._told: dict[tuple[str, ...], datetime] = {}
        self._failing = False
        #: Guards what is below.
        self._changed = Condition()
        self._waiting: deque[dict[str, Any]] = deque()
        self._writing = False
        self._closing = False
        self._thread: Thread | None = None

    def flush(self, timeout: float) -> bool:
        """Wait until nothing waits to be written, but no longer than *timeout* seconds; tell whether that came."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._writing, timeout)

    def close(self, timeout: float = _LAST_SECONDS) -> None:
        """Write what waits, for up to *timeout* seconds, and end the thread; what is told later is not written."""
        in_time = self.flush(timeout)
        with self._changed:
            self._closing = True
            left = len(self._waiting) + self._writing
            self._waiting.clear()
            self._changed.notify_all()
        if not in_time:
            _log.warning("%d events were not written before the end: the API server takes too long", left)
        elif self._thread is not None:
            self._thread.join()

    def on_pod(self, key: str, uid: str, reason: str, message: str) -> None:
        """Write an event about the pod ``namespace/name``."""
        namespace, _, name = key.partition("/")
        about = {"kind": "Pod", "apiVersion": "v1", "name": name, "namespace": namespace, "uid": uid}
        self._tell(about, reason, message)

    def on_node(self, node: Node, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about a node."""
        # Kubelets give a node's name for its uid; kubectl looks for either.
        about = {"kind": "Node", "apiVersion": "v1", "name": node.name, "uid": node.metadata.uid}
        self._tell(about, reason, message, warning=warning)

    def on_status(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about the autoscaler itself, attached to its status ConfigMap."""
        self.on_config_map(STATUS_CONFIG_MAP, reason, message, warning=warning)

    def on_config_map(self, name: str, reason: str, message: str, *, uid: str = "", warning: bool = False) -> None:
        """Write an event about a ConfigMap in the autoscaler's namespace, whether it exists or not."""
        about = {"kind": "ConfigMap", "apiVersion": "v1", "name": name, "namespace": self.namespace}
        self._tell(about | ({"uid": uid} if uid else {}), reason, message, warning=warning, key=message)

    def _tell(self, about: dict[str, Any], reason: str, message: str, *, warning: bool = False, key: str = "") -> None:
        if self._silent:
            return
        now = self._clock.now()
        identity = (about["kind"], about.get("namespace", ""), about["name"], reason, key)
        last = self._told.get(identity)
        # A clock that was set back must not silence it until it catches up.
        if last is not None and timedelta(0) <= now - last < _REPEAT:
            return
        if len(self._told) >= _REMEMBERED:
            self._told.clear()
        self._told[identity] = now
        namespace = about.get("namespace") or "default"
        time = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about['name']}.{uuid4().hex[:16]}", "namespace": namespace},
            "involvedObject": about,
            "reason": reason,
            "message": message[:1024],
            "type": "Warning" if warning else "Normal",
            "source": {"component": _COMPONENT},
            "reportingComponent": _COMPONENT,
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": 1,
        }
        self._enqueue(event)

    def _enqueue(self, event: dict[str, Any]) -> None:
        with self._changed:
            if self._closing:
                return
            if len(self._waiting) >= _WAITING:
                self._waiting.popleft()
                self._on_drop()
            self._waiting.append(event)
            self._changed.notify_all()
        if self._thread is None:
            # A daemon: an API server that hangs must not keep the process.
            self._thread = Thread(target=self._work, name="events", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if not self._waiting:
                    return
                event = self._waiting.popleft()
                self._writing = True
            self._post(event)

    def _post(self, event: dict[str, Any]) -> None:
        try:
            self._transport.post(f"/api/v1/namespaces/{event['metadata']['namespace']}/events", event)
        except Exception as error:
            # Without the right to write them, none can be written: one line says so.
            level = logging.DEBUG if self._failing else logging.WARNING
            about = event["involvedObject"]
            what = (event["reason"], about["kind"], about["name"])
            unexpected = None if isinstance(error, NodewrightError) else error
            _log.log(level, "event %s about %s %s could not be written: %s", *what, error, exc_info=unexpected)
            self._failing = True
        else:
            self._failing = False
