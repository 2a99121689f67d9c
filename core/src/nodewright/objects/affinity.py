"""Affinity of pods to nodes and to one another, and their spread over domains."""

from msgspec import field

from nodewright.objects.meta import KubeStruct
from nodewright.objects.selector import LabelSelector, NodeSelector

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class NodeAffinity(KubeStruct, frozen=True, kw_only=True):
    """Which nodes a pod may run on."""

    required: NodeSelector | None = field(default=None, name=_REQUIRED)


class PodAffinityTerm(KubeStruct, frozen=True, kw_only=True):
    """Pods that a pod wants near it, or not near it. Near means in the same domain of the topology key."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class PodAffinity(KubeStruct, frozen=True, kw_only=True):
    """Terms that must hold when a pod is placed; preferences are not read."""

    required: tuple[PodAffinityTerm, ...] = field(default=(), name=_REQUIRED)


class Affinity(KubeStruct, frozen=True, kw_only=True):
    """Affinity of a pod to nodes and to other pods."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(KubeStruct, frozen=True, kw_only=True):
    """How evenly pods are spread over the domains of a topology key."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()
