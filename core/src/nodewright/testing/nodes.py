"""Nodes of a cluster, made and taken away by hand: for doubles of clouds."""

from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from nodewright.api import ApiServerError, ConflictError, NodeTemplate, format_resource

_NODES = "/api/v1/nodes"


class Nodes:
    """Lets the machines of a cloud's double become nodes of the cluster behind a kubeconfig file, and leave it.

    Without one, the file is that of ``$KUBECONFIG``.

    Made for the world of ``nodewright world up --adopt``, which runs a kubelet for each node. Any other cluster has the
    node as well, but nobody runs pods there. Every method raises `ApiServerError` if the API server does not do it.
    """

    def __init__(self, kubeconfig: str | Path = "") -> None:
        # The client of the API server is heavy, and most tests do without.
        from nodewright.kube.transport import connect

        self._transport = connect(kubeconfig=str(kubeconfig), user_agent="nodewright-testing")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.close()

    def join(self, name: str, provider_id: str, template: NodeTemplate) -> None:
        """Let the machine *provider_id* become the node *name*, as *template* says; nothing happens if it is there."""
        capacity = {key: format_resource(key, amount) for key, amount in template.capacity.items()}
        allocatable = {key: format_resource(key, amount) for key, amount in template.allocatable.items()}
        taints = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in template.taints]
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {**template.labels, "kubernetes.io/hostname": name},
                "annotations": dict(template.annotations),
            },
            "spec": {"providerID": provider_id, "taints": taints, "unschedulable": template.unschedulable},
            "status": {"capacity": capacity, "allocatable": allocatable or capacity},
        }
        with suppress(ConflictError):
            self._transport.post(_NODES, node)

    def leave(self, name: str) -> None:
        """Take the node *name* away, as clouds do with nodes whose machine is gone; nothing happens if it is gone."""
        try:
            self._transport.delete(f"{_NODES}/{name}")
        except ApiServerError as error:
            if error.status != 404:
                raise
