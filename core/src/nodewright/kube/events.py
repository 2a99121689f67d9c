"""Events: what people see with ``kubectl describe``."""

import logging
from datetime import datetime, timedelta
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

_log = logging.getLogger(__name__)


class EventWriter:
    """Writes events; the same reason for the same object at most once in five minutes.

    For the loop's thread. An event that can't be written is logged and forgotten: it never stops anything.
    """

    def __init__(self, transport: Transport, clock: Clock, namespace: str) -> None:
        self._transport = transport
        self._clock = clock
        self.namespace = namespace
        self._written: dict[tuple[str, ...], datetime] = {}
        self._failing = False

    def on_pod(self, key: str, uid: str, reason: str, message: str) -> None:
        """Write an event about the pod ``namespace/name``."""
        namespace, _, name = key.partition("/")
        about = {"kind": "Pod", "apiVersion": "v1", "name": name, "namespace": namespace, "uid": uid}
        self._write(about, reason, message)

    def on_node(self, node: Node, reason: str, message: str) -> None:
        """Write an event about a node."""
        # Kubelets give a node's name for its uid; kubectl looks for either.
        about = {"kind": "Node", "apiVersion": "v1", "name": node.name, "uid": node.metadata.uid}
        self._write(about, reason, message)

    def on_status(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about the autoscaler itself, attached to its status ConfigMap."""
        self.on_config_map(STATUS_CONFIG_MAP, reason, message, warning=warning)

    def on_config_map(self, name: str, reason: str, message: str, *, uid: str = "", warning: bool = False) -> None:
        """Write an event about a ConfigMap in the autoscaler's namespace, whether it exists or not."""
        about = {"kind": "ConfigMap", "apiVersion": "v1", "name": name, "namespace": self.namespace}
        self._write(about | ({"uid": uid} if uid else {}), reason, message, warning=warning, key=message)

    def _write(self, about: dict[str, Any], reason: str, message: str, *, warning: bool = False, key: str = "") -> None:
        now = self._clock.now()
        identity = (about["kind"], about.get("namespace", ""), about["name"], reason, key)
        last = self._written.get(identity)
        if last is not None and now - last < _REPEAT:
            return
        if len(self._written) >= _REMEMBERED:
            self._written.clear()
        self._written[identity] = now
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
        try:
            self._transport.post(f"/api/v1/namespaces/{namespace}/events", event)
        except NodewrightError as error:
            # Without the right to write them, none can be written: one line says so.
            level = logging.DEBUG if self._failing else logging.WARNING
            what = (reason, about["kind"], about["name"])
            _log.log(level, "event %s about %s %s could not be written: %s", *what, error)
            self._failing = True
        else:
            self._failing = False
