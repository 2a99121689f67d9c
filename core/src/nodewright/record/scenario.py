"""Scenarios: pictures of a cluster with its node groups and options, which a decision can be made on.

The format is that of the files that hold what Cluster Autoscaler decided: Kubernetes objects as they are, node groups
with a template each, and options that are its flags.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace as struct_replace

from nodewright.api.decision import Decision
from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import Instance, InstanceState
from nodewright.api.provider import GpuConfig
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster
from nodewright.config.document import NOTHING
from nodewright.config.duration import parse_duration
from nodewright.config.model import Settings
from nodewright.config.paths import Path
from nodewright.config.plugins import PluginClasses
from nodewright.config.suggestion import suggestion
from nodewright.memory import Memory, ScaleUpRequest
from nodewright.objects import (
    CapacityQuota,
    Controller,
    CSINode,
    DaemonSet,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    StorageClass,
)
from nodewright.objects.meta import KubeStruct
from nodewright.record.scenario_objects import (
    read_list,
    read_mapping,
    read_object,
    read_objects,
    require_mapping,
    wrong,
)
from nodewright.record.scenario_options import read_group_options, read_options
from nodewright.strategies import priority
from nodewright.world import World

#: What a scenario calls its lists of objects, but for nodes.
_KINDS: dict[str, type[KubeStruct]] = {
    "pods": Pod,
    "pdbs": PodDisruptionBudget,
    "replicaSets": Controller,
    "replicationControllers": Controller,
    "statefulSets": Controller,
    "jobs": Controller,
    "daemonSets": DaemonSet,
    "namespaces": Namespace,
    "persistentVolumeClaims": PersistentVolumeClaim,
    "persistentVolumes": PersistentVolume,
    "storageClasses": StorageClass,
    "csiNodes": CSINode,
    "capacityQuotas": CapacityQuota,
}
_OTHER_KEYS = (
    "now",
    "iterations",
    "advance",
    "options",
    "gpuLabel",
    "nodeGroups",
    "nodes",
    "nodeToGroup",
    "scaleUpRequests",
    "priorityConfig",
    "comment",
)
_GROUP_KEYS = ("id", "minSize", "maxSize", "targetSize", "template", "templatePods", "options")
#: Stands for the cloud that a scenario's groups are in.
_PROVIDER = "scenario"
_GPU_RESOURCE = "nvidia.com/gpu"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A picture of a cluster, and how often, how far apart and by which settings it is decided about."""

    now: datetime
    iterations: int = 1
    #: How much later than the one before each iteration is.
    advance: timedelta = timedelta(minutes=1)
    settings: Settings
    groups: tuple[GroupFacts, ...] = ()
    #: Group id by node name.
    group_of: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    #: All other objects, by the name of their list.
    objects: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: The orders that are under way.
    memory: Memory
    #: Node label that tells the type of GPU.
    gpu_label: str = ""
    #: What the ConfigMap of the expander ``priority`` says, empty if there is none.
    priorities: str = ""

    def time_of(self, iteration: int) -> datetime:
        """Return when the iteration is, counted from 0."""
        return self.now + iteration * self.advance

    def world(self) -> World:
        """Return the picture as a world to decide on: a new one at each call.

        Raises `ConfigurationError` that names the object with a malformed quantity.
        """
        cluster = Cluster()
        puts: tuple[tuple[str, Callable[[Any], None]], ...] = (
            ("namespaces", cluster.put_namespace),
            ("storageClasses", cluster.put_storage_class),
            ("persistentVolumes", cluster.put_volume),
            ("persistentVolumeClaims", cluster.put_claim),
            ("nodes", cluster.put_node),
            ("csiNodes", cluster.put_csi_node),
            ("pods", cluster.put_pod),
        )
        for key, put in puts:
            for each in self.nodes if key == "nodes" else self.objects.get(key, ()):
                try:
                    put(each)
                except ValueError as error:
                    raise wrong(f"{key} ({each.metadata.key})", str(error)) from None
        cluster.daemon_sets.update({each.metadata.key: each for each in self.objects.get("daemonSets", ())})
        cluster.quotas.update({each.metadata.key: each for each in self.objects.get("capacityQuotas", ())})
        cluster.budgets.update({each.metadata.key: each for each in self.objects.get("pdbs", ())})
        return World(
            cluster=cluster,
            groups=self.groups,
            group_of=self.group_of,
            gpus=self._gpus({node.name: node.metadata.labels for node in self.nodes}),
            group_gpus=self._gpus({group.id: group.template.labels for group in self.groups if group.template}),
            config_maps={priority.CONFIG_MAP: {priority.KEY: self.priorities}} if self.priorities else {},
        )

    def _gpus(self, labels: Mapping[str, Mapping[str, str]]) -> dict[str, GpuConfig]:
        """Return what GPUs each of those has whose *labels*, by its name, say so."""
        return {
            name: GpuConfig(label=self.gpu_label, type=shown[self.gpu_label], resource=_GPU_RESOURCE)
            for name, shown in labels.items()
            if self.gpu_label in shown
        }


def read_scenario(
    document: Mapping[str, Any], overrides: Mapping[Path, Any] = NOTHING, classes: PluginClasses | None = None
) -> Scenario:
    """Read a scenario from JSON or YAML that was decoded.

    *overrides*, by the path of their setting, lie over its options, not over those of single groups. With *classes*,
    the plugins that the options name are checked as well.
    Raises `ConfigurationError` that names the object, or the option, and says what is wrong with it.
    """
    _refuse_unknown(document, (*_KINDS, *_OTHER_KEYS), "")
    settings, defaults = read_options(read_mapping(document, "options"), overrides, classes)
    nodes = tuple(map(_with_provider_id, read_objects(document, "nodes", Node)))
    group_of = read_mapping(document, "nodeToGroup")
    gpu_label = str(document.get("gpuLabel") or "")
    groups = tuple(
        _read_group(entry, f"nodeGroups[{index}]", nodes, group_of, defaults)
        for index, entry in enumerate(read_list(document, "nodeGroups"))
    )
    ids = [group.id for group in groups]
    for name, group in group_of.items():
        if group not in ids:
            raise wrong(f"nodeToGroup.{name}", f"there is no node group {group!r}{suggestion(str(group), ids)}")
    return Scenario(
        now=read_object(document.get("now"), datetime, "now"),
        iterations=_read_iterations(document),
        advance=_read_duration(document),
        settings=settings,
        groups=groups,
        group_of=group_of,
        nodes=nodes,
        objects={key: read_objects(document, key, kind) for key, kind in _KINDS.items()},
        memory=Memory(requests=_read_requests(document)),
        gpu_label=gpu_label,
        priorities=str(document.get("priorityConfig") or ""),
    )


def carry_out(decision: Decision, world: World) -> World:
    """Return *world* as the clouds are after *decision*: sizes as asked for, and not a machine more or less yet."""
    change: dict[str, int] = {}
    for grow in decision.grow:
        change[grow.group] = change.get(grow.group, 0) + grow.count
    for shrink in decision.shrink:
        change[shrink.group] = change.get(shrink.group, 0) - shrink.count
    return replace(
        world,
        groups=tuple(
            replace(group, target_size=group.target_size + change[group.id]) if group.id in change else group
            for group in world.groups
        ),
    )


def _read_group(
    entry: Any, place: str, nodes: tuple[Node, ...], group_of: Mapping[str, str], defaults: GroupOptions
) -> GroupFacts:
    require_mapping(entry, place)
    id_ = read_object(entry.get("id"), str, f"{place}.id")
    place = f"{place} ({id_})"
    _refuse_unknown(entry, _GROUP_KEYS, f"{place}.")
    members = [node for node in nodes if group_of.get(node.name) == id_]
    template = entry.get("template")
    return GroupFacts(
        id=id_,
        provider=_PROVIDER,
        min_size=read_object(entry.get("minSize", 0), int, f"{place}.minSize"),
        max_size=read_object(entry.get("maxSize"), int, f"{place}.maxSize"),
        target_size=read_object(entry.get("targetSize", len(members)), int, f"{place}.targetSize"),
        instances=tuple(Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in members),
        template=None if template is None else _read_template(template, entry, place),
        options=read_group_options(read_mapping(entry, "options", f"{place}."), defaults, id_),
    )


def _read_template(template: Any, group: Mapping[str, Any], place: str) -> NodeTemplate:
    node = read_object(template, Node, f"{place}.template")
    try:
        capacity, allocatable = node.capacity, node.allocatable
    except ValueError as error:
        raise wrong(f"{place}.template", str(error)) from None
    return NodeTemplate(
        labels=node.metadata.labels,
        annotations=node.metadata.annotations,
        taints=node.spec.taints,
        capacity=capacity,
        allocatable=allocatable,
        pods=read_objects(group, "templatePods", Pod),
    )


def _read_requests(document: Mapping[str, Any]) -> dict[str, ScaleUpRequest]:
    """Return the orders under way; those of one group are one, of the age of the latest."""
    requests: dict[str, ScaleUpRequest] = {}
    for index, entry in enumerate(read_list(document, "scaleUpRequests")):
        place = f"scaleUpRequests[{index}]"
        require_mapping(entry, place)
        group = read_object(entry.get("group"), str, f"{place}.group")
        at = read_object(entry.get("time"), datetime, f"{place}.time")
        count = read_object(entry.get("increase"), int, f"{place}.increase")
        known = requests.get(group)
        requests[group] = ScaleUpRequest(
            at=max(at, known.at) if known else at, count=count + (known.count if known else 0)
        )
    return requests


def _read_iterations(document: Mapping[str, Any]) -> int:
    iterations = read_object(document.get("iterations", 1), int, "iterations")
    if iterations < 1:
        raise wrong("iterations", f"write a number from 1 on, not {iterations}")
    return iterations


def _read_duration(document: Mapping[str, Any]) -> timedelta:
    advance = document.get("advance")
    try:
        return parse_duration("1m" if advance in (None, "") else str(advance))
    except ValueError as error:
        raise wrong("advance", str(error)) from None


def _with_provider_id(node: Node) -> Node:
    """Return *node* as the machine that it is: one that does not say which gets an id made of its name."""
    if node.spec.provider_id:
        return node
    return struct_replace(node, spec=struct_replace(node.spec, provider_id=f"{_PROVIDER}://{node.name}"))


def _refuse_unknown(document: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in document:
        if key not in known:
            raise wrong(f"{place}{key}", f"unknown key{suggestion(key, list(known))}")
