"""Writes to nodes and their pods: taints, cordon and evictions, and how soon a written taint is seen."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from nodewright.api.clock import Clock
from nodewright.api.errors import ApiServerError, ConflictError
from nodewright.kube.answer import object_in
from nodewright.kube.transport import Transport
from nodewright.objects import Node
from nodewright.objects.node import CORDONED_BEFORE, DELETION_CANDIDATE, TO_BE_DELETED
from nodewright.objects.taint import NO_SCHEDULE, PREFER_NO_SCHEDULE

_ATTEMPTS = 6
_LATENCY_WINDOW = timedelta(hours=1)

_log = logging.getLogger(__name__)

#: Takes a node and returns a merge patch for it, empty if it is right already.
_Change = Callable[[dict[str, Any]], dict[str, Any]]


class TaintLatency:
    """Measures how long after its write our watch shows a taint. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._written_at: dict[str, datetime] = {}
        self._measured: list[tuple[datetime, timedelta]] = []

    @property
    def longest(self) -> timedelta | None:
        """The longest latency of the past hour; None if none was measured."""
        now = self._clock.now()
        with self._lock:
            self._measured = [(at, took) for at, took in self._measured if now - at <= _LATENCY_WINDOW]
            return max((took for _, took in self._measured), default=None)

    def writing(self, name: str) -> None:
        """Note that the taint of a node is about to be written."""
        with self._lock:
            self._written_at[name] = self._clock.now()

    def forget(self, name: str) -> None:
        """Note that the taint of a node was not written, or is about to be removed."""
        with self._lock:
            self._written_at.pop(name, None)

    def saw(self, nodes: Iterable[Node]) -> None:
        """Take up nodes as the watch shows them."""
        if not self._written_at:
            return
        with self._lock:
            now = self._clock.now()
            for node in nodes:
                if node.name in self._written_at and node.taint(TO_BE_DELETED):
                    self._measured.append((now, max(timedelta(0), now - self._written_at.pop(node.name))))


class NodeWriter:
    """Taints and cordons nodes, and undoes that. Blocks; for worker threads. Raises the errors of `Transport`.

    Each write changes one thing of the node as it is at that moment, so no change of others is lost. A node that is
    right already is not written.
    """

    def __init__(self, transport: Transport, latency: TaintLatency, *, cordon: bool) -> None:
        self._transport = transport
        self._latency = latency
        self._cordon = cordon

    def mark(self, name: str, now: datetime) -> None:
        """Taint a node so that no new pod is scheduled to it, and cordon it if so configured.

        If somebody else has cordoned it before, an annotation says so, and the cordon stays when the taint comes off.
        """

        def marked(node: dict[str, Any]) -> dict[str, Any]:
            # Right before each write, so that failed attempts do not count.
            self._latency.writing(name)
            spec = node.get("spec", {})
            change: dict[str, Any] = {
                "spec": {"taints": [*_without(TO_BE_DELETED, spec), _taint(TO_BE_DELETED, now)]},
            }
            if self._cordon:
                change["spec"]["unschedulable"] = True
            if self._cordon and not _has(TO_BE_DELETED, spec):
                before = "true" if spec.get("unschedulable") else None
                change["metadata"] = {"annotations": {CORDONED_BEFORE: before}}
            return change

        try:
            self._change(name, marked)
        except Exception:
            self._latency.forget(name)
            raise

    def unmark(self, name: str) -> None:
        """Remove the taint, and the cordon unless it was there before; a node that is gone is fine."""
        self._latency.forget(name)

        def unmarked(node: dict[str, Any]) -> dict[str, Any]:
            spec, annotations = node.get("spec", {}), node["metadata"].get("annotations") or {}
            change = _removal(TO_BE_DELETED, spec)
            if CORDONED_BEFORE in annotations:
                change["metadata"] = {"annotations": {CORDONED_BEFORE: None}}
            elif self._cordon and spec.get("unschedulable"):
                change.setdefault("spec", {})["unschedulable"] = None
            return change

        self._change_if_there(name, unmarked)

    def soft_taint(self, name: str, since: datetime) -> None:
        """Have the scheduler prefer other nodes to this one, unneeded *since* then; a node that is gone is fine."""

        def hinted(node: dict[str, Any]) -> dict[str, Any]:
            hint = _taint(DELETION_CANDIDATE, since, effect=PREFER_NO_SCHEDULE)
            return {"spec": {"taints": [*_without(DELETION_CANDIDATE, node.get("spec", {})), hint]}}

        self._change_if_there(name, hinted)

    def soft_untaint(self, name: str) -> None:
        """Have the scheduler treat a node like any other again; a node that is gone is fine."""
        self._change_if_there(name, lambda node: _removal(DELETION_CANDIDATE, node.get("spec", {})))

    def _change_if_there(self, name: str, change: _Change) -> None:
        try:
            self._change(name, change)
        except ApiServerError as error:
            if error.status != 404:
                raise

    def _change(self, name: str, change: _Change) -> None:
        """Change a node as it is now; tries again if someone else changes the node in between."""
        path = f"/api/v1/nodes/{name}"
        for attempt in range(1, _ATTEMPTS + 1):
            node = object_in(self._transport.get(path))
            patch = change(node)
            if not patch:
                return
            version = {"resourceVersion": node["metadata"]["resourceVersion"]}
            body = {**patch, "metadata": {**patch.get("metadata", {}), **version}}
            try:
                self._transport.patch(path, body)
            except ConflictError:
                if attempt == _ATTEMPTS:
                    raise
                _log.debug("node %s changed meanwhile, trying again", name)
            else:
                return


class Evictor:
    """Evicts pods within their disruption budgets. Blocks; for worker threads."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def evict(self, pod: str, grace_seconds: int, uid: str = "") -> None:
        """Evict ``namespace/name`` with a grace period of *grace_seconds*; a pod that is gone is fine.

        A *uid* protects a later pod of the same name. Raises `ApiServerError` with status 429 while a disruption budget
        does not allow it, and `ConflictError` if the uid differs.
        """
        namespace, name = pod.split("/", 1)
        options: dict[str, Any] = {"gracePeriodSeconds": grace_seconds}
        if uid:
            options["preconditions"] = {"uid": uid}
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": options,
        }
        try:
            self._transport.post(f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", body)
        except ApiServerError as error:
            if error.status != 404:
                raise


def _taint(key: str, at: datetime, *, effect: str = NO_SCHEDULE) -> dict[str, Any]:
    return {"key": key, "value": str(int(at.timestamp())), "effect": effect}


def _removal(key: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"taints": _without(key, spec) or None}} if _has(key, spec) else {}


def _has(key: str, spec: dict[str, Any]) -> bool:
    return any(taint["key"] == key for taint in spec.get("taints") or [])


def _without(key: str, spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [taint for taint in spec.get("taints") or [] if taint["key"] != key]
