"""Events: what people see with ``kubectl describe``."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

from nodewright.api.clock import Clock
from nodewright.api.errors import AccessDeniedError, ApiServerError, ConflictError, NodewrightError
from nodewright.config.model import Settings
from nodewright.kube.event_history import About, EventHistory, event_name
from nodewright.kube.event_queue import EventQueue, Waiting
from nodewright.kube.pace import Pace
from nodewright.kube.transport import Transport
from nodewright.objects import Node

_COMPONENT = "cluster-autoscaler"
#: Bytes that the API takes of a message.
_LONGEST_MESSAGE = 1024
#: So long, in seconds, `EventWriter.close` waits for what is left.
_LAST_SECONDS = 5.0
#: What the API server says about anything new in a namespace that goes.
_ENDING = "being terminated"

_log = logging.getLogger(__name__)


class EventWriter:
    """Writes events, as often as Cluster Autoscaler would: see `EventHistory`. Repeats count an event up.

    Methods are for the loop's thread, and all but `flush` and `close` return at once: a thread of the writer's own
    writes what waits, those about pods last, and at the pace that the settings allow of requests. If too many wait, the
    oldest is dropped and *on_drop* called. What can't be written for the moment is tried again for two minutes, what
    can't be written at all is logged and forgotten: it never stops anything. One of a dry run writes nothing.

    *status_uid* tells the uid of the status ConfigMap, on the writer's thread.
    """

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        settings: Settings,
        *,
        status_uid: Callable[[], str] = lambda: "",
        on_drop: Callable[[], None] = lambda: None,
    ) -> None:
        self._silent = settings.dry_run
        self._transport = transport
        self._clock = clock
        self._status_uid = status_uid
        self._queue = EventQueue(clock, _pace(settings), on_drop)
        self._failing = False
        self._thread: Thread | None = None
        self._settle(settings)

    @property
    def room(self) -> int:
        """How many more events about pods may wait: what is told beyond that pushes others out of their turn."""
        return self._queue.room

    def reconfigure(self, settings: Settings) -> None:
        """Go on by other *settings*."""
        self._queue.keep_to(_pace(settings))
        self._settle(settings)

    def flush(self, timeout: float) -> bool:
        """Wait until nothing may be written now, but no longer than *timeout* seconds; tell whether that came."""
        return self._queue.flush(timeout)

    def close(self, timeout: float = _LAST_SECONDS) -> None:
        """Write what waits, for up to *timeout* seconds, and end the thread; what is told later is not written."""
        left = self._queue.close(timeout)
        if left:
            _log.warning("%d events were not written before the end: the API server takes too long", left)
        elif self._thread is not None:
            self._thread.join()

    def on_pod(self, key: str, uid: str, reason: str, message: str, *, warning: bool = False) -> bool:
        """Write an event about the pod ``namespace/name``; tell whether it is written, and not kept for later."""
        namespace, _, name = key.partition("/")
        about = About(kind="Pod", name=name, namespace=namespace, uid=uid)
        return self._tell(about, reason, message, warning=warning, pod=key)

    def on_node(self, node: Node, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about a node."""
        about = About(kind="Node", name=node.name, uid=node.metadata.uid)
        self._tell(about, reason, message, warning=warning)

    def on_lease(self, key: str, uid: str, reason: str, message: str) -> None:
        """Write an event about the Lease ``namespace/name``."""
        namespace, _, name = key.partition("/")
        about = About(kind="Lease", api="coordination.k8s.io/v1", name=name, namespace=namespace, uid=uid)
        # Each change of leaders is news, however soon it follows the last one.
        self._tell(about, reason, message, by_message=True)

    def on_status(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about the autoscaler itself, attached to its status ConfigMap."""
        self._tell(self._status, reason, message, warning=warning, by_message=True)

    def on_config_map(self, name: str, reason: str, message: str, *, uid: str = "", warning: bool = False) -> None:
        """Write an event about a ConfigMap in the autoscaler's namespace, whether it exists or not."""
        about = About(kind="ConfigMap", name=name, namespace=self.namespace, uid=uid)
        self._tell(about, reason, message, warning=warning)

    def _settle(self, settings: Settings) -> None:
        self.namespace = settings.namespace
        self._status = About(kind="ConfigMap", name=settings.status.name, namespace=settings.namespace)
        self._history = EventHistory(duplicates=settings.events.duplicates)

    def _tell(
        self,
        about: About,
        reason: str,
        message: str,
        *,
        warning: bool = False,
        pod: str = "",
        by_message: bool = False,
    ) -> bool:
        if self._silent:
            return False
        now = self._clock.now()
        message = message.encode()[:_LONGEST_MESSAGE].decode(errors="ignore")
        series = self._history.note(about, reason, message, now, by_message=by_message)
        if series is None:
            return False
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            # What is of the whole cluster has its events in this namespace: the API server insists.
            "metadata": {"name": series.name, "namespace": about.namespace or "default"},
            "involvedObject": _reference(about),
            "reason": reason,
            "message": message,
            "type": "Warning" if warning else "Normal",
            "source": {"component": _COMPONENT},
            "reportingComponent": _COMPONENT,
            "firstTimestamp": _written(series.first),
            "lastTimestamp": _written(now),
            "count": series.count,
        }
        self._queue.put(event, pod)
        if self._thread is None:
            # A daemon: an API server that hangs must not keep the process.
            self._thread = Thread(target=self._work, name="events", daemon=True)
            self._thread.start()
        return True

    def _work(self) -> None:
        while waiting := self._queue.take():
            self._write(waiting)

    def _write(self, waiting: Waiting) -> None:
        event, about = waiting.event, waiting.event["involvedObject"]
        if about == _reference(self._status) and (uid := self._status_uid()):
            # kubectl looks for the events of the very object that it shows.
            about["uid"] = uid
        try:
            self._send(event)
        except AccessDeniedError as error:
            if _ENDING not in str(error):
                self._complain(event, error)
        except ApiServerError as error:
            if error.status == 404:
                _log.debug("event %s is about a namespace that is gone: %s", event["metadata"]["name"], error)
            elif _passes(error) and self._queue.again(waiting):
                self._complain(event, error, "; it is tried again")
            else:
                self._complain(event, error)
        except Exception as error:
            self._complain(event, error)
        else:
            self._failing = False
            told = (event["reason"], about["kind"], about["name"], event["message"])
            _log.debug("event %s about %s %s: %s", *told)

    def _send(self, event: dict[str, Any]) -> None:
        folder = f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
        if event["count"] > 1 and self._count_up(folder, event):
            return
        try:
            self._transport.post(folder, event)
        except ConflictError:
            # It was written before, and only the answer was lost.
            _log.debug("event %s is there already", event["metadata"]["name"])

    def _count_up(self, folder: str, event: dict[str, Any]) -> bool:
        """Count an event up that is there; False if it is not, or may not be changed: then it is made anew."""
        change = {"count": event["count"], "lastTimestamp": event["lastTimestamp"]}
        try:
            self._transport.patch(f"{folder}/{event['metadata']['name']}", change)
        except AccessDeniedError as error:
            _log.debug("event %s is not counted up: %s", event["metadata"]["name"], error)
            event["metadata"]["name"] = event_name(event["involvedObject"]["name"])
            return False
        except ApiServerError as error:
            if error.status != 404:
                raise
            return False
        return True

    def _complain(self, event: dict[str, Any], error: Exception, more: str = "") -> None:
        # What keeps one from being written mostly keeps all: one line says so. Of a missing right, its finder tells.
        told = self._failing or getattr(error, "right", None) is not None
        level = logging.DEBUG if told else logging.WARNING
        about = event["involvedObject"]
        what = (event["reason"], about["kind"], about["name"])
        unexpected = None if isinstance(error, NodewrightError) else error
        _log.log(level, "event %s about %s %s could not be written%s: %s", *what, more, error, exc_info=unexpected)
        self._failing = True


def _pace(settings: Settings) -> Pace:
    return Pace(timedelta(seconds=1 / settings.kube.qps), settings.kube.burst)


def _reference(about: About) -> dict[str, str]:
    reference = {"kind": about.kind, "apiVersion": about.api, "name": about.name}
    return reference | {key: value for key in ("namespace", "uid") if (value := getattr(about, key))}


def _passes(error: ApiServerError) -> bool:
    return error.status in (0, 429) or error.status >= 500


def _written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
