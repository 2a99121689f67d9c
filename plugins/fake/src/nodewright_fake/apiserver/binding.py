"""Bindings: how a scheduler puts a pod on a node."""

from nodewright_fake.apiserver.document import Document, Object, dig, encode
from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import conflict, invalid, success
from nodewright_fake.apiserver.store import Store, timestamp
from nodewright_fake.apiserver.wire import Response


class Binder:
    """Answers POST on bindings and on the binding subresource of pods."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def bind(self, request: Request, resource: Resource) -> Response:
        """Give the pod its node."""
        assert request.target is not None
        binding = request.document()
        metadata = binding.get("metadata") or {}
        name = request.target.name or metadata.get("name", "")
        node = dig(binding, "target.name")
        if not node:
            raise invalid("Binding", "", name, [("target.name", "Required value")])
        with self._store.lock:
            pod = self._store.get("pods", name, request.target.namespace)
            _check(pod, metadata.get("uid"))
            if not request.dry_run:
                self._store.modify(
                    "pods", name, request.target.namespace, lambda draft: self._put(draft, node, metadata)
                )
        return Response(status=201, body=encode(success(code=201)))

    def _put(self, pod: Object, node: str, metadata: Object) -> None:
        pod["spec"]["nodeName"] = node
        for key in ("labels", "annotations"):
            if metadata.get(key):
                pod["metadata"].setdefault(key, {}).update(metadata[key])
        conditions = pod["status"].setdefault("conditions", [])
        conditions[:] = [one for one in conditions if one["type"] != "PodScheduled"]
        now = timestamp(self._store.clock.now())
        conditions.append({"type": "PodScheduled", "status": "True", "lastTransitionTime": now})


def _check(pod: Document, uid: str | None) -> None:
    name, bound_to = pod["metadata"]["name"], pod["spec"].get("nodeName")
    if uid and uid != pod["metadata"]["uid"]:
        raise conflict("pods/binding", name, f"the UID {uid} is not the pod's: it was deleted and created anew")
    if pod["metadata"].get("deletionTimestamp"):
        raise conflict("pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
    if bound_to:
        raise conflict("pods/binding", name, f'pod {name} is already assigned to node "{bound_to}"')
    if pod["spec"].get("schedulingGates"):
        raise conflict("pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")
