"""Events, as ``kubectl describe`` shows them: how often each may be written, and the thread that writes them."""

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Thread
from typing import Any, Generic, TypeVar
from uuid import uuid4

from nodewright.api.clock import Clock
from nodewright.api.errors import AccessDeniedError, ApiServerError, ConflictError, NodewrightError
from nodewright.config.model import Settings
from nodewright.kube.event_queue import EventQueue, QueuedEvent
from nodewright.kube.rate_limiter import RateLimiter
from nodewright.kube.transport import Transport
from nodewright.objects import Node

_COMPONENT = "cluster-autoscaler"
#: Bytes of a message that the API accepts.
_LONGEST_MESSAGE = 1024
#: Seconds that `EventWriter.close` waits for the rest.
_LAST_SECONDS = 5.0
#: The API server's message about anything new in a namespace that is being deleted.
_TERMINATING = "being terminated"

_REPEAT_INTERVAL = timedelta(minutes=5)
_REMEMBERED = 8192
#: Events of one object, whatever the reason, that client-go lets pass if repeats are wanted.
_DUPLICATES = 25
#: The longest name of an API object, and the part of it that a dot and a random suffix take.
_LONGEST_NAME = 253
_SUFFIX = 17

_log = logging.getLogger(__name__)


_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class InvolvedObject:
    """The object that an event is about."""

    kind: str
    name: str
    #: Empty for cluster-wide objects.
    namespace: str = ""
    uid: str = ""
    #: The group and version of its API.
    api: str = "v1"


@dataclass(kw_only=True)
class Series:
    """Repeats of the same message about the same object: one event with a count."""

    #: The name of the event.
    name: str
    first: datetime
    count: int = 0


class EventHistory:
    """Decides which events may be written now, as Cluster Autoscaler's filter does.

    One event per object and reason may pass, then one every five minutes; for events limited by message, one per
    message. With *duplicates*, 25 per object may pass, then one every five minutes. Remembers the last few thousand
    objects and events, and forgets the least recently used first.
    """

    def __init__(self, *, duplicates: bool = False) -> None:
        self._duplicates = duplicates
        self._limiters: _Recent[Hashable, RateLimiter] = _Recent()
        self._series: _Recent[Hashable, Series] = _Recent()

    def note(
        self, about: InvolvedObject, reason: str, message: str, now: datetime, *, by_message: bool = False
    ) -> Series | None:
        """Count an event; return its series if it may be written now, else None."""
        series = self._series.get((about, reason, message))
        if series is None:
            series = Series(name=_event_name(about.name), first=now)
            self._series.put((about, reason, message), series)
        series.count += 1
        key: Hashable = about if self._duplicates else message if by_message else (about, reason)
        limiter = self._limiters.get(key)
        if limiter is None:
            limiter = RateLimiter(_REPEAT_INTERVAL, _DUPLICATES if self._duplicates else 1)
            self._limiters.put(key, limiter)
        return series if limiter.take(now) else None


class _Recent(Generic[_Key, _Value]):
    """A bounded dictionary that forgets the least recently used entry."""

    def __init__(self) -> None:
        self._known: dict[_Key, _Value] = {}

    def get(self, key: _Key) -> _Value | None:
        value = self._known.pop(key, None)
        if value is not None:
            self._known[key] = value
        return value

    def put(self, key: _Key, value: _Value) -> None:
        self._known[key] = value
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]


class EventWriter:
    """Writes events as often as Cluster Autoscaler would: see `EventHistory`. A repeat raises the count of its event.

    Call the methods on the loop's thread; all but `flush` and `close` return at once. The writer's own thread writes
    queued events: those about pods last, and at the rate that the settings allow for requests. If too many wait, the
    oldest is dropped and *on_drop* called. After a temporary failure an event is tried again for two minutes; one that
    can't be written is logged and dropped, and stops nothing. A dry run writes no events.

    *status_uid* returns the uid of the status ConfigMap; it is called on the writer's thread.
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
        self._queue = EventQueue(clock, _limiter(settings), on_drop)
        self._failing = False
        self._thread: Thread | None = None
        self._apply(settings)

    @property
    def room(self) -> int:
        """How many more events about pods fit into the queue. Further ones would displace others."""
        return self._queue.room

    def reconfigure(self, settings: Settings) -> None:
        """Use other *settings* from now on."""
        self._queue.limit_by(_limiter(settings))
        self._apply(settings)

    def flush(self, timeout: float) -> bool:
        """Wait until no queued event may be written now, at most *timeout* seconds; return whether that was reached."""
        return self._queue.flush(timeout)

    def close(self, timeout: float = _LAST_SECONDS) -> None:
        """Write queued events for up to *timeout* seconds and end the thread. Later events are not written."""
        left = self._queue.close(timeout)
        if left:
            _log.warning("%d events were not written before the process ends: the API server takes too long", left)
        elif self._thread is not None:
            self._thread.join()

    def on_pod(self, key: str, uid: str, reason: str, message: str, *, warning: bool = False) -> bool:
        """Write an event about the pod ``namespace/name``; return whether it may be written now and is queued."""
        namespace, _, name = key.partition("/")
        about = InvolvedObject(kind="Pod", name=name, namespace=namespace, uid=uid)
        return self._record(about, reason, message, warning=warning, pod=key)

    def on_node(self, node: Node, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about a node."""
        about = InvolvedObject(kind="Node", name=node.name, uid=node.metadata.uid)
        self._record(about, reason, message, warning=warning)

    def on_lease(self, key: str, uid: str, reason: str, message: str) -> None:
        """Write an event about the Lease ``namespace/name``."""
        namespace, _, name = key.partition("/")
        about = InvolvedObject(kind="Lease", api="coordination.k8s.io/v1", name=name, namespace=namespace, uid=uid)
        # Each change of leaders is written, however soon it follows the last one.
        self._record(about, reason, message, by_message=True)

    def on_status(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about the autoscaler itself, attached to its status ConfigMap."""
        self._record(self._status, reason, message, warning=warning, by_message=True)

    def on_config_map(self, name: str, reason: str, message: str, *, uid: str = "", warning: bool = False) -> None:
        """Write an event about a ConfigMap in the autoscaler's namespace, whether it exists or not."""
        about = InvolvedObject(kind="ConfigMap", name=name, namespace=self.namespace, uid=uid)
        self._record(about, reason, message, warning=warning)

    def _apply(self, settings: Settings) -> None:
        self.namespace = settings.namespace
        self._status = InvolvedObject(kind="ConfigMap", name=settings.status.name, namespace=settings.namespace)
        self._history = EventHistory(duplicates=settings.events.duplicates)

    def _record(
        self,
        about: InvolvedObject,
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
            # The API server insists on the default namespace for events about cluster-wide objects.
            "metadata": {"name": series.name, "namespace": about.namespace or "default"},
            "involvedObject": _reference(about),
            "reason": reason,
            "message": message,
            "type": "Warning" if warning else "Normal",
            "source": {"component": _COMPONENT},
            "reportingComponent": _COMPONENT,
            "firstTimestamp": _timestamp(series.first),
            "lastTimestamp": _timestamp(now),
            "count": series.count,
        }
        self._queue.put(event, pod)
        if self._thread is None:
            # A daemon thread, as a hanging API server must not keep the process alive.
            self._thread = Thread(target=self._work, name="events", daemon=True)
            self._thread.start()
        return True

    def _work(self) -> None:
        while queued := self._queue.take():
            self._write(queued)

    def _write(self, queued: QueuedEvent) -> None:
        event, about = queued.event, queued.event["involvedObject"]
        if about == _reference(self._status) and (uid := self._status_uid()):
            # kubectl selects events by the uid of the object that it shows.
            about["uid"] = uid
        try:
            self._send(event)
        except AccessDeniedError as error:
            if _TERMINATING not in str(error):
                self._log_failure(event, error)
        except ApiServerError as error:
            if error.status == 404:
                _log.debug("event %s is about a namespace that is gone: %s", event["metadata"]["name"], error)
            elif _is_temporary(error) and self._queue.retry(queued):
                self._log_failure(event, error, "; it is tried again")
            else:
                self._log_failure(event, error)
        except Exception as error:
            self._log_failure(event, error)
        else:
            self._failing = False
            what = (event["reason"], about["kind"], about["name"], event["message"])
            _log.debug("event %s about %s %s: %s", *what)

    def _send(self, event: dict[str, Any]) -> None:
        folder = f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
        if event["count"] > 1 and self._count_up(folder, event):
            return
        try:
            self._transport.post(folder, event)
        except ConflictError:
            # An earlier attempt wrote it, and only the response was lost.
            _log.debug("event %s is there already", event["metadata"]["name"])

    def _count_up(self, folder: str, event: dict[str, Any]) -> bool:
        """Raise the count of a written event; False if it is gone or may not be changed and a new one is needed."""
        change = {"count": event["count"], "lastTimestamp": event["lastTimestamp"]}
        try:
            self._transport.patch(f"{folder}/{event['metadata']['name']}", change)
        except AccessDeniedError as error:
            _log.debug("the count of event %s is not raised: %s", event["metadata"]["name"], error)
            event["metadata"]["name"] = _event_name(event["involvedObject"]["name"])
            return False
        except ApiServerError as error:
            if error.status != 404:
                raise
            return False
        return True

    def _log_failure(self, event: dict[str, Any], error: Exception, more: str = "") -> None:
        # A cause that affects one event mostly affects all, so one line says so. `Rights` logs missing rights.
        logged = self._failing or getattr(error, "right", None) is not None
        level = logging.DEBUG if logged else logging.WARNING
        about = event["involvedObject"]
        what = (event["reason"], about["kind"], about["name"])
        unexpected = None if isinstance(error, NodewrightError) else error
        _log.log(level, "event %s about %s %s could not be written%s: %s", *what, more, error, exc_info=unexpected)
        self._failing = True


def _limiter(settings: Settings) -> RateLimiter:
    return RateLimiter(timedelta(seconds=1 / settings.kube.qps), settings.kube.burst)


def _reference(about: InvolvedObject) -> dict[str, str]:
    reference = {"kind": about.kind, "apiVersion": about.api, "name": about.name}
    return reference | {key: value for key in ("namespace", "uid") if (value := getattr(about, key))}


def _is_temporary(error: ApiServerError) -> bool:
    return error.status in (0, 429) or error.status >= 500


def _timestamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _event_name(of: str) -> str:
    """Return a new name for an event about the object named *of*, however long that name is."""
    return f"{of[: _LONGEST_NAME - _SUFFIX].rstrip('.-')}.{uuid4().hex[:16]}"
