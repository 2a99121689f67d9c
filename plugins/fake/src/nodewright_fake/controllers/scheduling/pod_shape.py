"""All that the scheduler looks at in a pod, read once for all pods that are alike."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakValueDictionary

from nodewright_fake.apiserver.store import Object
from nodewright_fake.controllers.scheduling.needs import Needs, read_needs
from nodewright_fake.controllers.scheduling.terms import PodTerm, SpreadConstraint, read_pod_terms, read_spread
from nodewright_fake.controllers.selectors import selects


@dataclass(frozen=True, eq=False, kw_only=True, slots=True, weakref_slot=True)
class PodShape:
    """All that a scheduler looks at in a pod; pods of the same shape share one object."""

    needs: Needs
    namespace: str
    labels: Mapping[str, str]
    affinity: tuple[PodTerm, ...]
    anti_affinity: tuple[PodTerm, ...]
    spread: tuple[SpreadConstraint, ...]

    @property
    def looks_around(self) -> bool:
        """Whether other pods decide where a pod of this shape may go."""
        return bool(self.affinity or self.anti_affinity or self.spread)

    def heeds(self, placed: "PodShape", namespace_labels: Mapping[str, str]) -> bool:
        """Return whether a pod of shape *placed* on a node can make room for one of this shape.

        It can be one to be near to, or raise the count of the emptiest domain of a spread.
        """
        if any(term.matches(placed.namespace, namespace_labels, placed.labels) for term in self.affinity):
            return True
        return any(
            constraint.namespace == placed.namespace and selects(constraint.selector, placed.labels)
            for constraint in self.spread
        )


class PodShapes:
    """The shapes in use. Pods with the same text in the fields that matter get the same `PodShape`."""

    def __init__(self) -> None:
        self._shapes: WeakValueDictionary[str, PodShape] = WeakValueDictionary()
        self._needs: WeakValueDictionary[str, Needs] = WeakValueDictionary()

    def of(self, pod: Object) -> PodShape:
        """Return the shape of *pod*; raises `ValueError` for a malformed quantity."""
        spec = pod["spec"]
        metadata = pod["metadata"]
        node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        needs_text = json.dumps(
            [
                [_relevant(container) for container in spec.get("containers") or ()],
                [_relevant(container) for container in spec.get("initContainers") or ()],
                spec.get("resources"),
                spec.get("overhead"),
                spec.get("hostNetwork"),
                spec.get("tolerations"),
                spec.get("nodeSelector"),
                node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution"),
            ]
        )
        needs = self._needs.get(needs_text)
        if needs is None:
            needs = self._needs[needs_text] = read_needs(spec)
        affinity = {name: terms for name, terms in (spec.get("affinity") or {}).items() if name != "nodeAffinity"}
        text = json.dumps(
            [
                needs_text,
                metadata.get("namespace", ""),
                metadata.get("labels") or {},
                affinity,
                spec.get("topologySpreadConstraints"),
            ],
            sort_keys=True,
        )
        shape = self._shapes.get(text)
        if shape is None:
            shape = self._shapes[text] = _read_shape(needs, pod)
        return shape


def _relevant(container: Object) -> list[object]:
    return [container.get("resources"), container.get("ports"), container.get("restartPolicy")]


def _read_shape(needs: Needs, pod: Object) -> PodShape:
    spec, metadata = pod["spec"], pod["metadata"]
    namespace = metadata.get("namespace", "")
    labels: Mapping[str, str] = dict(metadata.get("labels") or {})
    affinity = spec.get("affinity") or {}
    return PodShape(
        needs=needs,
        namespace=namespace,
        labels=labels,
        affinity=read_pod_terms(affinity.get("podAffinity"), namespace, labels),
        anti_affinity=read_pod_terms(affinity.get("podAntiAffinity"), namespace, labels),
        spread=read_spread(spec.get("topologySpreadConstraints"), namespace, labels),
    )
