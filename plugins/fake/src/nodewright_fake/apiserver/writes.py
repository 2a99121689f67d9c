"""Writing requests: create, update, patch, delete, whole collections as well."""

from collections.abc import Callable
from typing import Any

from nodewright_fake.apiserver.document import Document, Object, copied, encode
from nodewright_fake.apiserver.patch import APPLY, patch_of
from nodewright_fake.apiserver.reads import Reader
from nodewright_fake.apiserver.request import Request, parsed_object
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import bad_request, conflict, forbidden, invalid, not_found, success
from nodewright_fake.apiserver.store import Store
from nodewright_fake.apiserver.validation import check, check_type
from nodewright_fake.apiserver.versions import presented, stored
from nodewright_fake.apiserver.wire import Response

#: The resources whose deletion is answered with the deleted object; the others' with a Status.
_SHOWN_WHEN_DELETED = frozenset(
    {"pods", "services", "serviceaccounts", "persistentvolumes", "persistentvolumeclaims", "podtemplates"}
)
#: A status that comes with a new object is kept: a kubelet registers its node with it.
_BORN_WITH_STATUS = frozenset({"nodes"})


class Writer:
    """Answers create, update, patch, delete and deletecollection, for objects and for their status."""

    def __init__(self, store: Store, reader: Reader) -> None:
        self._store = store
        self._reader = reader

    def create(self, request: Request, resource: Resource) -> Response:
        """Store a new object."""
        created = self.add(request, resource, request.document())
        return Response(status=201, body=self._reader.view(request, resource).one(created))

    def add(self, request: Request, resource: Resource, sent: Object) -> Document:
        """Check a new object and store it."""
        check_type(resource, sent)
        draft = stored(resource, sent)
        metadata = draft["metadata"]
        self._place(request, resource, metadata)
        generated = not metadata.get("name") and metadata.get("generateName")
        if resource.has_status and resource.key not in _BORN_WITH_STATUS:
            draft.pop("status", None)
        probe = {**metadata, "name": metadata["generateName"].rstrip("-.") + "-x"} if generated else metadata
        check(resource, {**draft, "metadata": probe})
        with self._store.lock:
            self._check_namespace(resource, metadata)
            return self._store.create(resource.key, draft, dry_run=request.dry_run)

    def update(self, request: Request, resource: Resource) -> Response:
        """Replace an object, or its status."""
        sent = request.document()
        check_type(resource, sent)
        self._place(request, resource, sent["metadata"])
        if resource.custom and not sent["metadata"].get("resourceVersion"):
            problem = "Invalid value: 0: must be specified for an update"
            raise invalid(
                resource.kind, resource.group, sent["metadata"]["name"], [("metadata.resourceVersion", problem)]
            )
        return self._change(request, resource, lambda before: sent)

    def patch(self, request: Request, resource: Resource) -> Response:
        """Change an object, or its status, by a patch. Server-side apply of what is not there yet creates it."""
        assert request.target is not None
        target = request.target
        change = patch_of(request.media_type, request.body, custom=resource.custom)
        if request.media_type == APPLY:
            _check_field_manager(request)
            if not target.subresource and self._store.find(resource.key, target.name, target.namespace) is None:
                sent = parsed_object(request.body)
                sent.setdefault("metadata", {}).setdefault("name", target.name)
                created = self.add(request, resource, sent)
                return Response(status=201, body=self._reader.view(request, resource).one(created))

        def patched(before: Document) -> Object:
            draft: Object = copied(presented(resource, before))
            change(draft)
            return draft

        return self._change(request, resource, patched)

    def delete(self, request: Request, resource: Resource) -> Response:
        """Delete an object, or begin to."""
        assert request.target is not None
        deleted = self.remove(request, resource, request.target.name, request.target.namespace, delete_options(request))
        if resource.key in _SHOWN_WHEN_DELETED or self._still_there(resource, deleted):
            return Response(body=self._reader.view(request, resource).one(deleted))
        metadata = deleted["metadata"]
        details = {"name": metadata["name"], "group": resource.group, "kind": resource.plural, "uid": metadata["uid"]}
        return Response(body=encode(success({key: value for key, value in details.items() if value})))

    def delete_collection(self, request: Request, resource: Resource) -> Response:
        """Delete all objects that the request's selectors pick."""
        options = delete_options(request)
        with self._store.lock:
            version = str(self._store.version)
            deleted = [
                self.remove(request, resource, one["metadata"]["name"], one["metadata"].get("namespace", ""), options)
                for one in self._reader.selected(request, resource)
            ]
        return Response(body=self._reader.view(request, resource).many(deleted, {"resourceVersion": version}))

    def remove(self, request: Request, resource: Resource, name: str, namespace: str, options: Object) -> Document:
        """Delete an object as *options* say.

        Dependents are the garbage collector's business: it follows when their owner is gone, so Foreground is the
        same as Background here; with Orphan the dependents lose their reference to the owner first and stay.
        """
        dry_run = request.dry_run or "All" in (options.get("dryRun") or ())
        with self._store.lock:
            found = self._store.get(resource.key, name, namespace)
            _check_preconditions(resource, found, options.get("preconditions") or {})
            if not dry_run and _orphans(options):
                self._orphan(found)
            grace = _grace_seconds(options)
            return self._store.delete(resource.key, name, namespace, grace_seconds=grace, dry_run=dry_run)

    def _change(self, request: Request, resource: Resource, make: Callable[[Document], Object]) -> Response:
        assert request.target is not None
        target = request.target
        with self._store.lock:
            before = self._store.get(resource.key, target.name, target.namespace)
            sent = make(before)
            _check_identity(resource, before, sent)
            draft = stored(resource, sent)
            if target.subresource == "status":
                draft = _only_status(before, draft)
            else:
                if resource.has_status:
                    draft = _without_status(before, draft)
                check(resource, draft)
            after = self._store.update(resource.key, draft, dry_run=request.dry_run)
        return Response(body=self._reader.view(request, resource).one(after))

    def _place(self, request: Request, resource: Resource, metadata: Object) -> None:
        """Make name and namespace of an object agree with the path. Raises `StatusError` 400."""
        assert request.target is not None
        target = request.target
        if resource.namespaced:
            if metadata.setdefault("namespace", target.namespace) != target.namespace:
                raise bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
        else:
            metadata.pop("namespace", None)
        if target.name and metadata.setdefault("name", target.name) != target.name:
            raise bad_request(
                f"the name of the object ({metadata['name']}) does not match the name on the URL ({target.name})"
            )

    def _check_namespace(self, resource: Resource, metadata: Object) -> None:
        if not resource.namespaced:
            return
        name = metadata["namespace"]
        namespace = self._store.find("namespaces", name)
        if namespace is None:
            raise not_found("namespaces", name)
        if namespace["metadata"].get("deletionTimestamp"):
            because = f"unable to create new content in namespace {name} because it is being terminated"
            error = forbidden(resource.qualified_name, metadata.get("name", ""), because)
            error.details["causes"] = [
                {"reason": "NamespaceTerminating", "message": f"namespace {name} is being terminated"}
            ]
            raise error

    def _still_there(self, resource: Resource, deleted: Document) -> bool:
        metadata = deleted["metadata"]
        found = self._store.find(resource.key, metadata["name"], metadata.get("namespace", ""))
        return found is not None and found["metadata"]["uid"] == metadata["uid"]

    def _orphan(self, owner: Document) -> None:
        uid = owner["metadata"]["uid"]

        def let_go(dependent: Object) -> None:
            references = dependent["metadata"]["ownerReferences"]
            dependent["metadata"]["ownerReferences"] = [one for one in references if one["uid"] != uid]

        for resource, dependent in self._store.dependents(uid):
            metadata = dependent["metadata"]
            self._store.modify(resource, metadata["name"], metadata.get("namespace", ""), let_go)


def delete_options(request: Request) -> dict[str, Any]:
    """Return the options of a deletion, from the body or from the query."""
    options: dict[str, Any] = request.document() if request.body.strip() else {}
    if "gracePeriodSeconds" in request.query:
        options.setdefault("gracePeriodSeconds", request.number("gracePeriodSeconds", 0))
    if "propagationPolicy" in request.query:
        options.setdefault("propagationPolicy", request.query["propagationPolicy"])
    return options


def _grace_seconds(options: Object) -> int | None:
    grace = options.get("gracePeriodSeconds")
    if grace is None or (isinstance(grace, int) and grace >= 0):
        return grace
    raise bad_request(f"gracePeriodSeconds is a number of seconds, not {grace!r}")


def _orphans(options: Object) -> bool:
    return options.get("propagationPolicy") == "Orphan" or options.get("orphanDependents") is True


def _check_preconditions(resource: Resource, found: Document, preconditions: Object) -> None:
    metadata = found["metadata"]
    for key, what in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        wanted = preconditions.get(key)
        if wanted and wanted != metadata[key]:
            because = (
                f"the {what} in the precondition ({wanted}) does not match the {what} in record ({metadata[key]}). "
                "The object might have been deleted and then recreated"
            )
            raise conflict(resource.qualified_name, metadata["name"], because)


def _check_identity(resource: Resource, before: Document, sent: Object) -> None:
    """Raise `StatusError` if *sent* is of another type, name or identity than what it is to replace."""
    check_type(resource, sent)
    old, new = before["metadata"], sent["metadata"]
    for key in ("name", "namespace"):
        if new.get(key, "") != old.get(key, ""):
            problem = f'Invalid value: "{new.get(key, "")}": field is immutable'
            raise invalid(resource.kind, resource.group, old["name"], [(f"metadata.{key}", problem)])
    if new.get("uid") and new["uid"] != old["uid"]:
        because = f"Precondition failed: UID in precondition: {new['uid']}, UID in object meta: {old['uid']}"
        raise conflict(resource.qualified_name, old["name"], because)


def _check_field_manager(request: Request) -> None:
    if not request.query.get("fieldManager"):
        problem = "Required value: is required for apply patch"
        raise invalid("PatchOptions", "meta.k8s.io", "", [("fieldManager", problem)])


def _only_status(before: Document, draft: Object) -> Object:
    metadata = {**before["metadata"], "resourceVersion": draft["metadata"].get("resourceVersion", "")}
    kept = {key: value for key, value in before.items() if key != "status"}
    return {**kept, "metadata": metadata, **({"status": draft["status"]} if "status" in draft else {})}


def _without_status(before: Document, draft: Object) -> Object:
    kept = {key: value for key, value in draft.items() if key != "status"}
    return {**kept, "status": before["status"]} if "status" in before else kept
