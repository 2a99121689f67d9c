"""Pod classes: pods that a scheduler can't tell apart."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from nodewright.cluster.annotations import BUILT_IN, PodAnnotations
from nodewright.cluster.selection import Namespaces, Selection, SpreadRule, Term, affinity_term, spread_rules
from nodewright.objects import Container, NodeSelector, NodeSelectorTerm, Pod, Requirement, Resources
from nodewright.objects.affinity import NodeAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME
from nodewright.objects.pod import ContainerPort
from nodewright.objects.volume import Volume

#: Labels that differ between a controller's pods. Classes ignore them until a selector looks at them.
TELLING_LABELS = frozenset(
    [
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
    ]
)
#: How an API server writes the node selector that ties a DaemonSet's pod to the node of a name.
PINNED = b'"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["%s"]}]}]'

_MOST_ASKED = 4096


@dataclass(kw_only=True, eq=False)
class PodClass:
    """A class of pods. Interned: two pods of one class have the identical object."""

    #: Counts up in the order of interning.
    index: int
    #: One of the pods. All others have the same constraints.
    pod: Pod
    #: Whether they are being deleted.
    terminating: bool
    requests: Resources
    namespaces: Namespaces
    #: The annotations that pods of different classes may differ in.
    annotations: PodAnnotations = BUILT_IN
    #: How many of them are bound to nodes now. Written by `Cluster`.
    population: int = 0
    #: What filters have computed about the class, each under its own name.
    memo: dict[str, Any] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """The namespace of all pods of the class."""
        return self.pod.metadata.namespace

    @cached_property
    def affinity(self) -> tuple[Term, ...]:
        """The terms of pods that they must be near."""
        affinity = self.pod.spec.affinity
        terms = affinity.pod_affinity.required if affinity and affinity.pod_affinity else ()
        return tuple(affinity_term(term, self.pod, self.namespaces) for term in terms)

    @cached_property
    def anti_affinity(self) -> tuple[Term, ...]:
        """The terms of pods that must not be near them."""
        affinity = self.pod.spec.affinity
        terms = affinity.pod_anti_affinity.required if affinity and affinity.pod_anti_affinity else ()
        return tuple(affinity_term(term, self.pod, self.namespaces) for term in terms)

    @cached_property
    def spread(self) -> tuple[SpreadRule, ...]:
        """How they are spread."""
        return spread_rules(self.pod)

    @cached_property
    def ports(self) -> tuple[tuple[str, int, str], ...]:
        """The host ports that they take: protocol, port and address."""
        spec = self.pod.spec
        containers = (*spec.containers, *(each for each in spec.init_containers if each.restart_policy == "Always"))
        return tuple(
            (port.protocol or "TCP", port.host_port, port.host_ip or "0.0.0.0")
            for container in containers
            for port in container.ports
            if port.host_port > 0
        )

    @cached_property
    def claims(self) -> tuple[str, ...]:
        """Names of the claims behind their volumes."""
        name = self.pod.metadata.name
        claims = []
        for volume in self.pod.spec.volumes:
            if volume.persistent_volume_claim is not None:
                claims.append(volume.persistent_volume_claim.claim_name)
            elif volume.ephemeral is not None:
                claims.append(f"{name}-{volume.name}")
        return tuple(claims)

    @cached_property
    def claim_keys(self) -> tuple[str, ...]:
        """The same with their namespace, as the cluster knows them."""
        return tuple(f"{self.namespace}/{name}" for name in self.claims)

    @cached_property
    def named_claims(self) -> frozenset[str]:
        """The names of those claims that also exist without the pods."""
        sources = (volume.persistent_volume_claim for volume in self.pod.spec.volumes)
        return frozenset(source.claim_name for source in sources if source is not None)

    @cached_property
    def disks(self) -> tuple[Volume, ...]:
        """Those of their volumes that name a disk themselves."""
        return tuple(volume for volume in self.pod.spec.volumes if volume.names_disk)

    @cached_property
    def has_volumes(self) -> bool:
        """Whether they have volumes that decide where they can run."""
        return bool(self.claims or self.disks)

    @cached_property
    def looks_at_names(self) -> bool:
        """Whether a constraint looks at the name or the hostname of nodes, which differ between equal nodes."""
        return HOSTNAME in self.node_labels or any(term.match_fields for term in _node_terms(self.pod))

    @cached_property
    def node_labels(self) -> frozenset[str]:
        """The labels of nodes that constraints of the class look at."""
        spec = self.pod.spec
        lines = [line.key for term in _node_terms(self.pod) for line in term.match_expressions]
        return frozenset([*spec.node_selector, *lines])

    @cached_property
    def pod_labels(self) -> frozenset[str]:
        """The labels of pods that constraints of the class look at."""
        affinity = self.pod.spec.affinity
        sides = (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ()
        terms = [term for side in sides if side is not None for term in side.required]
        looked: set[str] = set()
        constraints: list[PodAffinityTerm | TopologySpreadConstraint] = [*terms]
        constraints += self.pod.spec.topology_spread_constraints
        for each in constraints:
            looked.update(each.match_label_keys)
            if each.label_selector is not None:
                looked.update(each.label_selector.match_labels)
                looked.update(line.key for line in each.label_selector.match_expressions)
        looked.update(key for term in terms for key in term.mismatch_label_keys)
        return frozenset(looked)

    def matched_by(self, selection: Selection) -> bool:
        """Return whether *selection* selects these pods."""
        return selection.matches(self.namespace, self.pod.metadata.labels, terminating=self.terminating)


@dataclass(kw_only=True)
class PodClasses:
    """Interns pod classes by everything that decisions read of a pod, except for its identity and its node."""

    #: Called with the labels of nodes that a new class looks at.
    observe: Callable[[frozenset[str]], None] = lambda labels: None
    #: The annotations that distinguish classes.
    annotations: PodAnnotations = BUILT_IN
    #: Telling labels that a constraint looks at, so that they distinguish classes.
    watched: set[str] = field(default_factory=set)
    #: Whether pods must be classified again, because a label was watched after they came.
    unsettled: bool = False
    #: Labels by namespace.
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    known: list[PodClass] = field(default_factory=list)
    #: Counts up whenever terms must be resolved again.
    resolved: int = 0
    _by_key: dict[object, PodClass] = field(default_factory=dict)
    _selected: dict[Selection, tuple[int, list[PodClass]]] = field(default_factory=dict)
    #: The pods that were asked for last, by identity: in a loop each is asked for many times.
    _asked: dict[int, tuple[Pod, PodClass]] = field(default_factory=dict)

    def tell_by(self, annotations: PodAnnotations) -> None:
        """Let pods that differ in *annotations* be of different classes: pods that are classified from now on."""
        if annotations != self.annotations:
            self.annotations = annotations
            self._asked.clear()

    def name_space(self, name: str, labels: Mapping[str, str]) -> None:
        """Note a namespace's labels. If they changed, terms that select namespaces by label are resolved again."""
        if self.namespaces.get(name) == labels:
            return
        self.namespaces[name] = labels
        self._resolve_anew()

    def drop_name_space(self, name: str) -> None:
        """Forget a namespace."""
        if self.namespaces.pop(name, None) is not None:
            self._resolve_anew()

    def _resolve_anew(self) -> None:
        self.resolved += 1
        self._selected.clear()
        for known in self.known:
            known.__dict__.pop("affinity", None)
            known.__dict__.pop("anti_affinity", None)

    def of(self, pod: Pod) -> PodClass:
        """Return the class of *pod*. Raises `ValueError` if a quantity in it is malformed."""
        asked = self._asked.get(id(pod))
        if asked is not None:
            return asked[1]
        found = self._intern(pod)
        if found.pod_labels & TELLING_LABELS - self.watched:
            self.watched |= found.pod_labels & TELLING_LABELS
            self.unsettled = True
            self._by_key.clear()
            self._asked.clear()
            found = self._intern(pod)
        if len(self._asked) >= _MOST_ASKED:
            self._asked.clear()
        self._asked[id(pod)] = pod, found
        return found

    def _intern(self, pod: Pod) -> PodClass:
        key = class_key(pod, self.annotations, TELLING_LABELS - self.watched)
        return self.find(key) or self.add(key, pod)

    def find(self, key: object) -> PodClass | None:
        """Return the class that was added with *key*."""
        return self._by_key.get(key)

    def add(self, key: object, pod: Pod) -> PodClass:
        """Add the class of *pod* under *key*."""
        ignored = TELLING_LABELS - self.watched
        shared = {name: value for name, value in pod.metadata.labels.items() if name not in ignored}
        added = PodClass(
            index=len(self.known),
            pod=replace(pod, metadata=replace(pod.metadata, labels=shared)),
            terminating=pod.metadata.deletion_timestamp is not None,
            requests=pod.requests,
            namespaces=self.namespaces,
            annotations=self.annotations,
        )
        self.known.append(added)
        self._by_key[key] = added
        self.observe(added.node_labels)
        return added

    def alias(self, key: object, pod: Pod) -> PodClass:
        """Return the class of *pod*. From now on, `find` also finds it by *key*. Raises as `of` does."""
        known = self.of(pod)
        self._by_key[key] = known
        return known

    def forget_all_but(self, kept: Collection[PodClass]) -> dict[int, int]:
        """Forget all other classes, and every memo. Return the new index by the old one."""
        indices = {}
        self.known = [each for each in self.known if each in kept]
        for index, each in enumerate(self.known):
            indices[each.index] = index
            each.index = index
            each.memo.clear()
        self._by_key = {key: each for key, each in self._by_key.items() if each in kept}
        self._selected.clear()
        self._asked.clear()
        self.resolved += 1
        return indices

    def selected_by(self, selection: Selection) -> list[PodClass]:
        """Return all classes that *selection* selects; each class is asked once per selection."""
        asked, selected = self._selected.get(selection, (0, []))
        if asked < len(self.known):
            selected += [each for each in self.known[asked:] if each.matched_by(selection)]
            self._selected[selection] = (len(self.known), selected)
        return selected


def _node_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...]:
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    return required.node_selector_terms if required else ()


def class_key(pod: Pod, annotations: PodAnnotations = BUILT_IN, ignored: Collection[str] = TELLING_LABELS) -> bytes:
    """Return the key of the pod's class: it is equal for pods that no constraint and no rule can distinguish.

    Rules look at *annotations*. Labels that are *ignored* do not count.
    """
    return msgspec.json.encode(_telling(pod, annotations, ignored), order="deterministic")


def unbound(pod: Pod) -> Pod:
    """Return *pod* without its node, to find out whether it could run elsewhere.

    A DaemonSet's pod is tied to its node by name. It becomes a pod that is tied to no existing node, so that all pods
    of the DaemonSet are equal.
    """
    spec = pod.spec
    if not spec.node_name:
        return pod
    affinity = spec.affinity
    if affinity is not None and affinity.node_affinity == _tied_to(spec.node_name):
        affinity = replace(affinity, node_affinity=_tied_to(""))
    return replace(pod, spec=replace(spec, node_name="", affinity=affinity))


def _tied_to(name: str) -> NodeAffinity:
    line = Requirement(key="metadata.name", operator="In", values=(name,))
    return NodeAffinity(required=NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(line,)),)))


def _telling(pod: Pod, annotations: PodAnnotations, ignored: Collection[str]) -> tuple[Any, ...]:
    meta, spec = pod.metadata, pod.spec
    owner = meta.controller
    return (
        meta.namespace,
        sorted((key, value) for key, value in meta.labels.items() if key not in ignored),
        sorted(annotations.among(meta.annotations).items()),
        pod.is_mirror,
        (owner.kind, owner.api_version) if owner else None,
        meta.deletion_timestamp is not None,
        # Claims of ephemeral volumes are named after their pod, and belong to it.
        (meta.name, meta.uid) if any(volume.ephemeral is not None for volume in spec.volumes) else "",
        sorted(pod.requests.items()),
        [ports for each in spec.containers if (ports := _host_ports(each))],
        [(ports, each.restart_policy) for each in spec.init_containers if (ports := _host_ports(each))],
        spec.node_name,
        spec.node_selector,
        spec.affinity,
        spec.tolerations,
        spec.topology_spread_constraints,
        # Volumes of other kinds affect no decision, and the names of some are random.
        [volume for volume in spec.volumes if volume != Volume(name=volume.name)],
        spec.priority,
        pod.scheduler,
        spec.restart_policy,
        spec.termination_grace_period_seconds,
    )


def _host_ports(container: Container) -> list[ContainerPort]:
    return [port for port in container.ports if port.host_port]
