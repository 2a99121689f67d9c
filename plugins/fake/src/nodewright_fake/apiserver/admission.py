"""What the API server's admission adds to new pods, or refuses them for."""

from typing import Protocol

from nodewright_fake.apiserver.document import Document, Object
from nodewright_fake.apiserver.status import forbidden

PRIORITY_CLASSES = "priorityclasses.scheduling.k8s.io"

#: Priority classes that every cluster has.
SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

_PATIENCE_SECONDS = 300


class Objects(Protocol):
    """Where admission looks other objects up."""

    def find(self, resource: str, name: str) -> Document | None:
        """Return an object without namespace, or None."""
        ...

    def list(self, resource: str) -> list[Document]:
        """Return all objects of a resource."""
        ...


def admit(resource: str, draft: Object, objects: Objects) -> None:
    """Complete a new object by what others say of it. Raises `StatusError` 403 for one that must not be."""
    if resource == "pods":
        _set_priority(draft, objects)
        _tolerate_for_a_while(draft["spec"])


def _set_priority(pod: Object, objects: Objects) -> None:
    spec = pod["spec"]
    name = spec.get("priorityClassName")
    if name in SYSTEM_PRIORITIES:
        spec.setdefault("priority", SYSTEM_PRIORITIES[name])
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        return
    if name:
        chosen = objects.find(PRIORITY_CLASSES, name)
        if chosen is None:
            raise forbidden("pods", pod["metadata"]["name"], f"no PriorityClass with name {name} was found")
    else:
        defaults = [one for one in objects.list(PRIORITY_CLASSES) if one.get("globalDefault")]
        chosen = min(defaults, key=lambda one: int(one["value"]), default=None)
    if chosen is None:
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        return
    spec["priorityClassName"] = chosen["metadata"]["name"]
    spec.setdefault("priority", int(chosen["value"]))
    spec.setdefault("preemptionPolicy", chosen.get("preemptionPolicy", "PreemptLowerPriority"))


def _tolerate_for_a_while(spec: Object) -> None:
    """Let the pod stay for some minutes on a node that went unready or out of reach, unless it says otherwise."""
    tolerations = list(spec.get("tolerations") or ())
    for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(
            toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")
            for toleration in tolerations
        ):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _PATIENCE_SECONDS}
            )
    spec["tolerations"] = tolerations
