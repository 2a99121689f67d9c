"""The scale subresource: the number of replicas of anything that has some."""

from typing import Any

from nodewright_fake.apiserver.document import Document, Object, copied, dig, encode
from nodewright_fake.apiserver.patch import patch_of
from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.resources import SCALE, Resource, ScalePaths
from nodewright_fake.apiserver.selectors import selector_text
from nodewright_fake.apiserver.status import bad_request, conflict, invalid
from nodewright_fake.apiserver.store import Store
from nodewright_fake.apiserver.wire import Response


class Scaler:
    """Answers get, update and patch on scale subresources."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, request: Request, resource: Resource) -> Response:
        """Show the scale."""
        return Response(body=encode(_scale_of(resource, self._found(request, resource))))

    def update(self, request: Request, resource: Resource) -> Response:
        """Set the number of replicas."""
        sent = request.document()
        return self._set(request, resource, lambda current: sent)

    def patch(self, request: Request, resource: Resource) -> Response:
        """Set the number of replicas by a patch of the scale."""
        change = patch_of(request.media_type, request.body, custom=False)

        def patched(current: Object) -> Object:
            draft: Object = copied(current)
            change(draft)
            return draft

        return self._set(request, resource, patched)

    def _found(self, request: Request, resource: Resource) -> Document:
        assert request.target is not None
        return self._store.get(resource.key, request.target.name, request.target.namespace)

    def _set(self, request: Request, resource: Resource, make: Any) -> Response:
        with self._store.lock:
            found = self._found(request, resource)
            sent = make(_scale_of(resource, found))
            replicas = _checked_replicas(sent, found)
            stated = dig(sent, "metadata.resourceVersion")
            if stated and stated != found["metadata"]["resourceVersion"]:
                raise conflict(resource.qualified_name, found["metadata"]["name"])
            draft = copied(found)
            _put(draft, _paths(resource).replicas, replicas)
            after = self._store.update(resource.key, draft, dry_run=request.dry_run)
        return Response(body=encode(_scale_of(resource, after)))


def _paths(resource: Resource) -> ScalePaths:
    assert resource.scale is not None
    return resource.scale


def _scale_of(resource: Resource, found: Document) -> Object:
    paths, metadata = _paths(resource), found["metadata"]
    status: Object = {"replicas": dig(found, paths.observed) or 0}
    if paths.selector and dig(found, paths.selector) is not None:
        status["selector"] = selector_text(dig(found, paths.selector))
    identity = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": SCALE,
        "metadata": {key: metadata[key] for key in identity if key in metadata},
        "spec": {"replicas": dig(found, paths.replicas) or 0},
        "status": status,
    }


def _checked_replicas(sent: Object, found: Document) -> int:
    if sent.get("kind", "Scale") != "Scale":
        raise bad_request(f"the body is no scale: expected kind Scale of {SCALE}, got {sent['kind']}")
    replicas = dig(sent, "spec.replicas")
    replicas = 0 if replicas is None else replicas
    if not isinstance(replicas, int) or replicas < 0:
        problem = f"Invalid value: {replicas!r}: must be greater than or equal to 0"
        raise invalid("Scale", "autoscaling", found["metadata"]["name"], [("spec.replicas", problem)])
    return replicas


def _put(target: Object, path: str, value: int) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        target = target.setdefault(parent, {})
    target[last] = value
