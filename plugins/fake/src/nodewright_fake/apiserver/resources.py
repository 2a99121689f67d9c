"""The catalogue of what the API server serves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVERY_VERB = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_CHANGEABLE = ("get", "patch", "update")
_CREATE = ("create",)


@dataclass(frozen=True, kw_only=True)
class ScalePaths:
    """Where a resource keeps what its scale subresource shows, as dotted paths."""

    replicas: str = "spec.replicas"
    observed: str = "status.replicas"
    #: A label selector as object, as map or as text; None where there is none.
    selector: str | None = "spec.selector"


@dataclass(frozen=True, kw_only=True)
class Subresource:
    """A part or an action of a resource that has a path of its own."""

    name: str
    kind: str
    api_version: str
    verbs: tuple[str, ...] = _CHANGEABLE


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One kind of object in one version of its API group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = EVERY_VERB
    subresources: tuple[Subresource, ...] = ()
    scale: ScalePaths | None = None
    #: Whether ``metadata.generation`` counts the changes of the specification.
    counts_generations: bool = False
    #: Whether a custom resource definition brought it.
    custom: bool = False
    #: Printer columns of a custom resource.
    columns: tuple[Mapping[str, Any], ...] = ()
    #: The resource that keeps the objects, if it is another one: events live in one place under two groups.
    kept_as: str | None = None

    @property
    def key(self) -> str:
        """The name of the resource in the store."""
        return self.kept_as or self.qualified_name

    @property
    def qualified_name(self) -> str:
        """``pods``, ``deployments.apps``: how messages name the resource."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """``v1``, ``apps/v1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def has_status(self) -> bool:
        """Whether the status is written through a subresource, and only through it."""
        return any(subresource.name == "status" for subresource in self.subresources)

    def subresource(self, name: str) -> Subresource | None:
        """Return the subresource called *name*, if there is one."""
        return next((subresource for subresource in self.subresources if subresource.name == name), None)


SCALE = "autoscaling/v1"
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def _resource(
    api_version: str, plural: str, kind: str, *flags: str, shorts: str = "", categories: str = "", **more: Any
) -> Resource:
    """Build a row of the table below; flags are ``cluster``, ``status``, ``scale``, ``generation``."""
    group, _, version = api_version.rpartition("/")
    subresources = [Subresource(name=name, kind=kind, api_version=api_version) for name in ("status",) if name in flags]
    if "scale" in flags:
        subresources.append(Subresource(name="scale", kind="Scale", api_version=SCALE))
    return Resource(
        group=group,
        version=version,
        plural=plural,
        kind=kind,
        namespaced="cluster" not in flags,
        short_names=tuple(shorts.split()),
        categories=tuple(categories.split()),
        subresources=(*subresources, *more.pop("actions", ())),
        scale=ScalePaths() if "scale" in flags else None,
        counts_generations="generation" in flags,
        **more,
    )


def _action(name: str, kind: str, api_version: str, *verbs: str) -> Subresource:
    return Subresource(name=name, kind=kind, api_version=api_version, verbs=verbs or _CREATE)


_CORE = (
    _resource(
        "v1",
        "pods",
        "Pod",
        "status",
        "generation",
        shorts="po",
        categories="all",
        actions=(_action("eviction", "Eviction", "policy/v1"), _action("binding", "Binding", "v1")),
    ),
    _resource("v1", "nodes", "Node", "cluster", "status", shorts="no"),
    _resource(
        "v1",
        "namespaces",
        "Namespace",
        "cluster",
        "status",
        shorts="ns",
        actions=(_action("finalize", "Namespace", "v1", "update"),),
    ),
    _resource("v1", "services", "Service", "status", shorts="svc", categories="all"),
    _resource("v1", "events", "Event", shorts="ev"),
    _resource("v1", "configmaps", "ConfigMap", shorts="cm"),
    _resource("v1", "secrets", "Secret"),
    _resource("v1", "serviceaccounts", "ServiceAccount", shorts="sa"),
    _resource("v1", "endpoints", "Endpoints", shorts="ep"),
    _resource("v1", "persistentvolumes", "PersistentVolume", "cluster", "status", shorts="pv"),
    _resource("v1", "persistentvolumeclaims", "PersistentVolumeClaim", "status", shorts="pvc"),
    _resource(
        "v1",
        "replicationcontrollers",
        "ReplicationController",
        "status",
        "scale",
        "generation",
        shorts="rc",
        categories="all",
    ),
    _resource("v1", "podtemplates", "PodTemplate"),
    _resource("v1", "limitranges", "LimitRange", shorts="limits"),
    _resource("v1", "resourcequotas", "ResourceQuota", "status", shorts="quota"),
    _resource("v1", "bindings", "Binding", verbs=_CREATE),
)

_WORKLOADS = (
    _resource(
        "apps/v1", "deployments", "Deployment", "status", "scale", "generation", shorts="deploy", categories="all"
    ),
    _resource("apps/v1", "replicasets", "ReplicaSet", "status", "scale", "generation", shorts="rs", categories="all"),
    _resource(
        "apps/v1", "statefulsets", "StatefulSet", "status", "scale", "generation", shorts="sts", categories="all"
    ),
    _resource("apps/v1", "daemonsets", "DaemonSet", "status", "generation", shorts="ds", categories="all"),
    _resource("apps/v1", "controllerrevisions", "ControllerRevision"),
    _resource("batch/v1", "jobs", "Job", "status", "generation", categories="all"),
    _resource("batch/v1", "cronjobs", "CronJob", "status", "generation", shorts="cj", categories="all"),
    _resource(
        "autoscaling/v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        "status",
        shorts="hpa",
        categories="all",
    ),
    _resource("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", "status", "generation", shorts="pdb"),
)

_CLUSTER = (
    _resource("coordination.k8s.io/v1", "leases", "Lease"),
    _resource("events.k8s.io/v1", "events", "Event", shorts="ev", kept_as="events"),
    _resource("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
    _resource("networking.k8s.io/v1", "ingresses", "Ingress", "status", "generation", shorts="ing"),
    _resource("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", "generation", shorts="netpol"),
    _resource("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", "cluster", "generation", shorts="pc"),
    _resource("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", "cluster"),
    _resource("storage.k8s.io/v1", "storageclasses", "StorageClass", "cluster", shorts="sc"),
    _resource("storage.k8s.io/v1", "csinodes", "CSINode", "cluster"),
    _resource("storage.k8s.io/v1", "csidrivers", "CSIDriver", "cluster"),
    _resource("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity"),
    _resource("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", "cluster", "status"),
    _resource("resource.k8s.io/v1", "deviceclasses", "DeviceClass", "cluster", "generation"),
    _resource("resource.k8s.io/v1", "resourceclaims", "ResourceClaim", "status"),
    _resource("resource.k8s.io/v1", "resourceclaimtemplates", "ResourceClaimTemplate"),
    _resource("resource.k8s.io/v1", "resourceslices", "ResourceSlice", "cluster", "generation"),
    _resource("autoscaling.x-k8s.io/v1beta1", "capacityquotas", "CapacityQuota", "cluster", "status", "generation"),
    _resource("rbac.authorization.k8s.io/v1", "roles", "Role"),
    _resource("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding"),
    _resource("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", "cluster"),
    _resource("rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", "cluster"),
    _resource(
        "apiextensions.k8s.io/v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        "cluster",
        "status",
        "generation",
        shorts="crd crds",
        categories="api-extensions",
    ),
)

#: Asked, never kept: the answer is the object itself.
_REVIEWS = (
    _resource(
        "authorization.k8s.io/v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", "cluster", verbs=_CREATE
    ),
    _resource("authorization.k8s.io/v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", "cluster", verbs=_CREATE),
    _resource("authentication.k8s.io/v1", "selfsubjectreviews", "SelfSubjectReview", "cluster", verbs=_CREATE),
)

BUILT_IN: tuple[Resource, ...] = (*_CORE, *_WORKLOADS, *_CLUSTER, *_REVIEWS)

#: The built-in resources by their name in the store.
BY_KEY: Mapping[str, Resource] = {resource.key: resource for resource in BUILT_IN if resource.kept_as is None}
