"""Evictions: asking pods to leave, within their disruption budgets."""

from nodewright.api.errors import ApiServerError
from nodewright.kube.transport import Transport


class Evictor:
    """Evicts pods. Blocks; for worker threads."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def evict(self, pod: str, grace_seconds: int) -> None:
        """Evict ``namespace/name``, giving it *grace_seconds* to end; a pod that is gone is fine.

        Raises `ApiServerError` with status 429 while a budget does not allow it.
        """
        namespace, name = pod.split("/", 1)
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": {"gracePeriodSeconds": grace_seconds},
        }
        try:
            self._transport.post(f"/api/v1/namespaces/{namespace}/pods/{name}/eviction", body)
        except ApiServerError as error:
            if error.status != 404:
                raise
