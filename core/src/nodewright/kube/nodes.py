"""Writes to nodes: the taint that marks a node for deletion, and the cordon that goes with it."""

import logging
from datetime import datetime
from typing import Any

import msgspec

from nodewright.api.errors import ApiServerError, ConflictError
from nodewright.kube.transport import Transport
from nodewright.objects.node import TO_BE_DELETED

_ATTEMPTS = 6

_log = logging.getLogger(__name__)


class NodeWriter:
    """Marks nodes and takes the marks off. Blocks; for worker threads. Errors are those of `Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def mark(self, name: str, now: datetime, *, cordon: bool) -> None:
        """Taint a node so that nothing new comes to it, and cordon it if wanted."""
        taint = {"key": TO_BE_DELETED, "value": str(int(now.timestamp())), "effect": "NoSchedule"}

        def marked(spec: dict[str, Any]) -> dict[str, Any]:
            change: dict[str, Any] = {"taints": [*_other_taints(spec), taint]}
            if cordon:
                change["unschedulable"] = True
            return change

        self._change(name, marked)

    def unmark(self, name: str) -> None:
        """Take taint and cordon off; a node that is gone needs none."""

        def unmarked(spec: dict[str, Any]) -> dict[str, Any]:
            return {"taints": _other_taints(spec) or None, "unschedulable": None}

        try:
            self._change(name, unmarked)
        except ApiServerError as error:
            if error.status != 404:
                raise

    def _change(self, name: str, change: Any) -> None:
        """Change a node's spec as it is now; tried again when somebody else changed the node meanwhile."""
        path = f"/api/v1/nodes/{name}"
        for attempt in range(1, _ATTEMPTS + 1):
            node = msgspec.json.decode(self._transport.get(path))
            body = {
                "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
                "spec": change(node.get("spec", {})),
            }
            try:
                self._transport.patch(path, body)
            except ConflictError:
                if attempt == _ATTEMPTS:
                    raise
                _log.debug("node %s changed meanwhile, trying again", name)
            else:
                return


def _other_taints(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [taint for taint in spec.get("taints") or [] if taint["key"] != TO_BE_DELETED]
