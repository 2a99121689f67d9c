"""One stored object, several API versions: how it looks in the version that a client asks for."""

from typing import Any

from nodewright_fake.apiserver.document import Document, Object
from nodewright_fake.apiserver.resources import Resource

#: Fields of an event that have another name in events.k8s.io, by their name in the core group.
_EVENT_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
}
_CORE_NAMES = {new: old for old, new in _EVENT_NAMES.items()}


def presented(resource: Resource, document: Document) -> Document:
    """Return *document* as *resource*'s version shows it; the same object where that is how it is stored."""
    if document.get("apiVersion") == resource.api_version:
        return document
    shown = _renamed(document, _EVENT_NAMES) if resource.kept_as == "events" else {**document}
    return Document({**shown, "apiVersion": resource.api_version, "kind": resource.kind})


def stored(resource: Resource, sent: Object) -> Object:
    """Return what a client *sent* as it is to be stored."""
    if resource.kept_as == "events":
        return {**_renamed(sent, _CORE_NAMES), "apiVersion": "v1"}
    return sent


def _renamed(document: Object, names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in document.items()}
