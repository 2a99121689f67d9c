"""Writes to nodes: the marks of those that go, with the cordon, and the hints about those that could."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from nodewright.api.errors import ApiServerError, ConflictError
from nodewright.kube.taint_latency import TaintLatency
from nodewright.kube.transport import Transport
from nodewright.objects.node import DELETION_CANDIDATE, TO_BE_DELETED

_ATTEMPTS = 6

_log = logging.getLogger(__name__)

#: Returns a node's specification as it should be, as a merge patch of the one it is given; empty if it is right.
_Change = Callable[[dict[str, Any]], dict[str, Any]]


class NodeWriter:
    """Marks nodes and takes the marks off. Blocks; for worker threads. Errors are those of `Transport`.

    What is written is what a node has then and one thing more or less: nobody else's change is lost. A node that is
    right already is not written to.
    """

    def __init__(self, transport: Transport, latency: TaintLatency, *, cordon: bool) -> None:
        self._transport = transport
        self._latency = latency
        self._cordon = cordon

    def mark(self, name: str, now: datetime) -> None:
        """Taint a node so that nothing new comes to it, and cordon it if that is wanted."""

        def marked(spec: dict[str, Any]) -> dict[str, Any]:
            change: dict[str, Any] = {"taints": [*_without(TO_BE_DELETED, spec), _taint(TO_BE_DELETED, now)]}
            if self._cordon:
                change["unschedulable"] = True
            # In the same moment as it is written: a failed attempt is no measure.
            self._latency.writing(name)
            return change

        try:
            self._change(name, marked)
        except Exception:
            self._latency.forget(name)
            raise

    def unmark(self, name: str) -> None:
        """Take taint and cordon off; a node that is gone needs none."""
        self._latency.forget(name)

        def unmarked(spec: dict[str, Any]) -> dict[str, Any]:
            change = _removal(TO_BE_DELETED, spec)
            if self._cordon and spec.get("unschedulable"):
                change["unschedulable"] = None
            return change

        self._change_if_there(name, unmarked)

    def soft_taint(self, name: str, since: datetime) -> None:
        """Let the scheduler prefer other nodes to one that is unneeded *since* then; one that is gone is fine."""

        def hinted(spec: dict[str, Any]) -> dict[str, Any]:
            hint = _taint(DELETION_CANDIDATE, since, effect="PreferNoSchedule")
            return {"taints": [*_without(DELETION_CANDIDATE, spec), hint]}

        self._change_if_there(name, hinted)

    def soft_untaint(self, name: str) -> None:
        """Let the scheduler treat a node as any other again; one that is gone is fine."""
        self._change_if_there(name, lambda spec: _removal(DELETION_CANDIDATE, spec))

    def _change_if_there(self, name: str, change: _Change) -> None:
        try:
            self._change(name, change)
        except ApiServerError as error:
            if error.status != 404:
                raise

    def _change(self, name: str, change: _Change) -> None:
        """Change a node's spec as it is now; tried again when somebody else changed the node meanwhile."""
        path = f"/api/v1/nodes/{name}"
        for attempt in range(1, _ATTEMPTS + 1):
            node = msgspec.json.decode(self._transport.get(path))
            spec = change(node.get("spec", {}))
            if not spec:
                return
            body = {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"]}, "spec": spec}
            try:
                self._transport.patch(path, body)
            except ConflictError:
                if attempt == _ATTEMPTS:
                    raise
                _log.debug("node %s changed meanwhile, trying again", name)
            else:
                return


def _taint(key: str, at: datetime, *, effect: str = "NoSchedule") -> dict[str, Any]:
    return {"key": key, "value": str(int(at.timestamp())), "effect": effect}


def _removal(key: str, spec: dict[str, Any]) -> dict[str, Any]:
    left = _without(key, spec)
    return {"taints": left or None} if len(left) < len(spec.get("taints") or []) else {}


def _without(key: str, spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [taint for taint in spec.get("taints") or [] if taint["key"] != key]
