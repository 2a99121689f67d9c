"""Scenarios: pictures of a cluster with its node groups and options, which a decision can be made on.

The format is that of the files that hold what Cluster Autoscaler decided: Kubernetes objects as they are, node groups
with a template each, and options that are its flags. Keys of our own tell what else decisions go by: `Picture` writes
them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace as struct_replace

from nodewright.api.decision import Decision
from nodewright.api.group import GroupFacts
from nodewright.api.pricing import PricingModel
from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.cluster import Cluster
from nodewright.cluster.controllers import DAEMON_SET
from nodewright.config.document import NOTHING
from nodewright.config.model import Settings
from nodewright.config.paths import Path
from nodewright.config.plugins import PluginClasses
from nodewright.config.wording import suggestion
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
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
from nodewright.objects.duration import parse_duration
from nodewright.objects.meta import KubeStruct, Time
from nodewright.scenario.scenario_clouds import (
    read_gpus,
    read_group_gpus,
    read_ignored_labels,
    read_pricing,
    read_resource_limits,
)
from nodewright.scenario.scenario_groups import PROVIDER, read_group
from nodewright.scenario.scenario_memory import read_memory
from nodewright.scenario.scenario_objects import (
    CONTROLLER_LISTS,
    read_list,
    read_mapping,
    read_object,
    read_objects,
    refuse_unknown,
    wrong,
)
from nodewright.scenario.scenario_options import read_options
from nodewright.strategies import priority

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
    "settings",
    "gpus",
    "pricing",
    "resourceLimits",
    "balancingIgnoredLabels",
    "memory",
    "comment",
)
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
    #: All other objects, by the name of their list; of controllers of which there is no list nothing is known.
    objects: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: The orders that are under way, and what else is remembered.
    memory: Memory
    #: What GPUs each node has that has some, by node name.
    gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: What GPUs a new node of a group has, by the id of each group whose nodes have some.
    group_gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: Limits that providers set themselves, by provider.
    resource_limits: Mapping[str, ResourceLimits] = field(default_factory=dict)
    #: Labels that may differ between groups that are alike, by provider.
    balancing_ignored_labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Prices by provider, where it has them.
    pricing: Mapping[str, PricingModel] = field(default_factory=dict)
    #: What the ConfigMap of the expander ``priority`` says, None if there is none.
    priorities: str | None = None

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
        for key, kind in CONTROLLER_LISTS.items():
            if key in self.objects:
                cluster.controllers.see(kind)
            for each in self.objects.get(key, ()) if kind != DAEMON_SET else ():
                cluster.controllers.put(kind, each)
        cluster.quotas.update({each.metadata.key: each for each in self.objects.get("capacityQuotas", ())})
        cluster.budgets.update({each.metadata.key: each for each in self.objects.get("pdbs", ())})
        return World(
            cluster=cluster,
            groups=self.groups,
            group_of=self.group_of,
            gpus=self.gpus,
            group_gpus=self.group_gpus,
            resource_limits=self.resource_limits,
            balancing_ignored_labels=self.balancing_ignored_labels,
            pricing=self.pricing,
            config_maps={} if self.priorities is None else {priority.CONFIG_MAP: {priority.KEY: self.priorities}},
        )


def read_scenario(
    document: Mapping[str, Any], overrides: Mapping[Path, Any] = NOTHING, classes: PluginClasses | None = None
) -> Scenario:
    """Read a scenario from JSON or YAML that was decoded.

    *overrides*, by the path of their setting, lie over its options, not over those of single groups. With *classes*,
    the plugins that the options name are checked as well.
    Raises `ConfigurationError` that names the object, or the option, and says what is wrong with it.
    """
    refuse_unknown(document, (*_KINDS, *_OTHER_KEYS), "")
    options, base = read_mapping(document, "options"), read_mapping(document, "settings")
    settings, defaults = read_options(options, overrides, classes, base)
    nodes = tuple(map(_with_provider_id, read_objects(document, "nodes", Node)))
    group_of = read_mapping(document, "nodeToGroup")
    groups = tuple(
        read_group(entry, f"nodeGroups[{index}]", nodes, group_of, defaults)
        for index, entry in enumerate(read_list(document, "nodeGroups"))
    )
    gpu_label, priorities = str(document.get("gpuLabel") or ""), document.get("priorityConfig")
    ids = [group.id for group in groups]
    for name, group in group_of.items():
        if group not in ids:
            raise wrong(f"nodeToGroup.{name}", f"there is no node group {group!r}{suggestion(str(group), ids)}")
    return Scenario(
        now=read_object(document.get("now"), Time, "now"),
        iterations=_read_iterations(document),
        advance=_read_duration(document),
        settings=settings,
        groups=groups,
        group_of=group_of,
        nodes=nodes,
        objects={key: read_objects(document, key, kind) for key, kind in _KINDS.items() if key in document},
        memory=read_memory(document, groups),
        gpus=_labelled_gpus({node.name: node.metadata.labels for node in nodes}, gpu_label) | read_gpus(document),
        group_gpus=_labelled_gpus({group.id: group.template.labels for group in groups if group.template}, gpu_label)
        | read_group_gpus(document),
        resource_limits=read_resource_limits(document),
        balancing_ignored_labels=read_ignored_labels(document),
        pricing=read_pricing(document),
        priorities=None if priorities is None else read_object(priorities, str, "priorityConfig"),
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


def _labelled_gpus(labels: Mapping[str, Mapping[str, str]], key: str) -> dict[str, GpuConfig]:
    """Return what GPUs each of those has whose *labels*, by its name, say so by *key*."""
    return {
        name: GpuConfig(label=key, type=shown[key], resource=_GPU_RESOURCE)
        for name, shown in labels.items()
        if key in shown
    }


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
    return struct_replace(node, spec=struct_replace(node.spec, provider_id=f"{PROVIDER}://{node.name}"))
