"""Evictions: asking pods to leave, within their disruption budgets."""

from typing import Any

from nodewright.api.errors import ApiServerError
from nodewright.kube.transport import Transport


class Evictor:
    """Evicts pods. Blocks; for worker threads."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def evict(self, pod: str, grace_seconds: int, uid: str = "") -> None:
        """Evict ``namespace/name``, giving it *grace_seconds* to end; a pod that is gone is fine.

        With a *uid*, no other pod that has taken the name since. Raises `ApiServerError` with status 429 while a budget
        does not allow it, `ConflictError` if the pod is another one.
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
