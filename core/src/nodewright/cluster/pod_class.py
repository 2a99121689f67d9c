"""Pod classes: pods that a scheduler can't tell apart."""

from dataclasses import dataclass
from typing import Any

import msgspec

from nodewright.objects import Pod, Resources


@dataclass(frozen=True, kw_only=True, eq=False)
class PodClass:
    """One kind of pod. Interned: two pods of one kind have the identical class object."""

    pod: Pod
    requests: Resources
    #: Whether a constraint looks at what differs between otherwise equal nodes (name, hostname).
    looks_at_names: bool


class PodClasses:
    """Interns pod classes by everything that the filters read."""

    def __init__(self) -> None:
        self._classes: dict[bytes, PodClass] = {}

    def of(self, pod: Pod) -> PodClass:
        """Return the class of *pod*. Raises `ValueError` if a quantity in it is malformed."""
        key = msgspec.json.encode(_constraints(pod))
        known = self._classes.get(key)
        if known is None:
            known = PodClass(pod=pod, requests=pod.requests, looks_at_names=_looks_at_names(pod))
            self._classes[key] = known
        return known


def _constraints(pod: Pod) -> tuple[Any, ...]:
    spec = pod.spec
    return (
        [container.resources.requests for container in spec.containers],
        [(container.restart_policy, container.resources.requests) for container in spec.init_containers],
        spec.resources.requests if spec.resources else None,
        spec.overhead,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.priority,
    )


def _looks_at_names(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    terms = required.node_selector_terms if required else ()
    return "kubernetes.io/hostname" in pod.spec.node_selector or any(
        term.match_fields or any(line.key == "kubernetes.io/hostname" for line in term.match_expressions)
        for term in terms
    )
