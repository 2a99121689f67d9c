"""Pods in the store: what state they are in, and where to find them without a search."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from nodewright_fake.apiserver.store import Change, Object

#: Namespace and name.
Key = tuple[str, str]


def key_of(item: Object) -> Key:
    """Return namespace and name of an object."""
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def node_of(pod: Object) -> str:
    """Return the name of the node that *pod* is bound to, or an empty string."""
    return pod["spec"].get("nodeName") or ""


def phase_of(pod: Object) -> str:
    """Return the phase of *pod*."""
    return pod.get("status", {}).get("phase") or "Pending"


def is_finished(pod: Object) -> bool:
    """Return whether *pod* has ended for good."""
    return phase_of(pod) in ("Succeeded", "Failed")


def is_leaving(pod: Object) -> bool:
    """Return whether *pod* is marked deleted."""
    return "deletionTimestamp" in pod["metadata"]


def is_active(pod: Object) -> bool:
    """Return whether *pod* counts as one of its owner's replicas."""
    return not is_finished(pod) and not is_leaving(pod)


def is_ready(pod: Object) -> bool:
    """Return whether *pod* serves."""
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod.get("status", {}).get("conditions", ())
    )


@dataclass(frozen=True, slots=True)
class Owner:
    """Who an object belongs to."""

    kind: str
    name: str
    uid: str
    #: Whether the owner manages the object; one at the most does.
    controls: bool


def owners_of(item: Object) -> list[Owner]:
    """Return all owners of an object; what is no proper reference is left out."""
    references = item["metadata"].get("ownerReferences")
    return [
        Owner(
            kind=str(owner.get("kind", "")),
            name=str(owner.get("name", "")),
            uid=str(owner.get("uid", "")),
            controls=bool(owner.get("controller")),
        )
        for owner in (references if isinstance(references, list) else ())
        if isinstance(owner, dict)
    ]


def controller_of(item: Object) -> Owner | None:
    """Return the controller that manages an object, if any."""
    return next((owner for owner in owners_of(item) if owner.controls), None)


class PodIndex:
    """All pods by node, by controller and by namespace. It has to observe a change before its users do."""

    def __init__(self) -> None:
        self._by_node: defaultdict[str, dict[Key, Object]] = defaultdict(dict)
        self._by_owner: defaultdict[str, dict[Key, Object]] = defaultdict(dict)
        self._by_namespace: defaultdict[str, dict[Key, Object]] = defaultdict(dict)

    def on_node(self, name: str) -> Collection[Object]:
        """Return the pods bound to a node, finished ones too, in the order in which they came."""
        return tuple(self._by_node[name].values()) if name in self._by_node else ()

    def owned_by(self, uid: str) -> Collection[Object]:
        """Return the pods of the controller with *uid*, oldest first."""
        return tuple(self._by_owner[uid].values()) if uid in self._by_owner else ()

    def in_namespace(self, name: str) -> Collection[Object]:
        """Return the pods of a namespace, oldest first."""
        return tuple(self._by_namespace[name].values()) if name in self._by_namespace else ()

    def observe(self, change: Change) -> None:
        """Keep track of *change*."""
        if change.resource != "pods":
            return
        places = self._places(change.object)
        if change.before is not None and (change.type == "DELETED" or self._places(change.before) != places):
            self._remove(change.before)
        if change.type != "DELETED":
            key = key_of(change.object)
            for index, place in places:
                index[place][key] = change.object

    def _remove(self, pod: Object) -> None:
        key = key_of(pod)
        for index, place in self._places(pod):
            index[place].pop(key, None)
            if not index[place]:
                del index[place]

    def _places(self, pod: Object) -> list[tuple[defaultdict[str, dict[Key, Object]], str]]:
        places = [(self._by_namespace, key_of(pod)[0])]
        if node := node_of(pod):
            places.append((self._by_node, node))
        if owner := controller_of(pod):
            places.append((self._by_owner, owner.uid))
        return places
