"""Pictures: a world, and what is remembered and configured, as a scenario that decides the same.

What is in a picture is on lists: see `nodewright.scenario.picture_objects` for what is shown of objects.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw

from nodewright.api.pricing import PricingModel
from nodewright.cluster import Cluster
from nodewright.cluster.controllers import DAEMON_SET
from nodewright.config.model import Settings
from nodewright.config.plugins import PluginClasses
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.objects import (
    CapacityQuota,
    Controller,
    CSINode,
    DaemonSet,
    Namespace,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    StorageClass,
)
from nodewright.scenario import picture_objects
from nodewright.scenario.names import Names, Pseudonyms, Role, Roll
from nodewright.scenario.picture_groups import gpu_json, group_json, limits_json, shown_group, shown_memory
from nodewright.scenario.picture_objects import sift
from nodewright.scenario.picture_pods import pods_of
from nodewright.scenario.picture_settings import hide_priorities, show_settings
from nodewright.scenario.prices import prices_json
from nodewright.scenario.scenario_objects import CONTROLLER_LISTS
from nodewright.scenario.sieve import Sieve
from nodewright.strategies import priority

#: A key of a scenario, and what stands there; a list may be an iterator over JSON that was written already.
Entry = tuple[str, Any]
Thing = (
    Node
    | Controller
    | DaemonSet
    | PodDisruptionBudget
    | CapacityQuota
    | Namespace
    | StorageClass
    | PersistentVolume
    | PersistentVolumeClaim
    | CSINode
)

_REAL = Names()


@dataclass(frozen=True, kw_only=True)
class Picture:
    """All that a decision goes by, to be shown. Reads the cluster while it is shown: for the loop's thread."""

    world: World
    memory: Memory
    settings: Settings
    now: datetime
    #: Knows the plugins that the settings name.
    classes: PluginClasses
    #: Prices by provider, in place of the world's; for models that are guarded against failing.
    pricing: Mapping[str, PricingModel] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The settings of plugins that are not shown, as they may be secrets."""
        return show_settings(self.settings, self.classes).left_out

    def entries(self, *, anonymize: bool = False) -> Iterator[Entry]:
        """Yield the keys of the scenario in order, each with what stands there.

        With *anonymize*, names and values of labels are numbers: equal for equal ones, and in the same order.
        """
        entries = self._entries(self.pseudonyms() if anonymize else _REAL)
        # Empty maps say nothing; whether lists are empty shows when they are written.
        yield from ((key, value) for key, value in entries if value not in ({}, []))

    def pseudonyms(self) -> Pseudonyms:
        """Return what things are called where names are hidden."""
        roll = Roll()
        for _, value in self._entries(roll):
            if isinstance(value, Iterator):
                # All names in it are called.
                deque(value, maxlen=0)
        gpus = (*self.world.gpus.values(), *self.world.group_gpus.values())
        return Pseudonyms(roll, public={gpu.label for gpu in gpus})

    def _entries(self, names: Names) -> Iterator[Entry]:
        world, cluster = self.world, self.world.cluster
        groups = {facts.id: facts for facts in world.groups}
        shown = {facts.id: shown_group(facts, self.settings, names) for facts in world.groups}
        hidden = {real: facts.id for real, facts in shown.items()} if names.hides else None
        memory = shown_memory(self.memory, groups, names)
        yield "now", self.now
        yield "settings", show_settings(self.settings, self.classes, hidden).data
        config_map = world.config_maps.get(priority.CONFIG_MAP)
        if config_map is not None:
            text = config_map.get(priority.KEY, "")
            yield "priorityConfig", text if hidden is None else hide_priorities(text, hidden)
        yield from _memory(memory)
        yield "pricing", {name: self._prices(name) for name in world.pricing}
        yield "resourceLimits", {name: limits_json(limits) for name, limits in world.resource_limits.items()}
        ignored = world.balancing_ignored_labels.items()
        yield "balancingIgnoredLabels", {name: sorted(keys) for name, keys in ignored if keys}
        yield (
            "nodeGroups",
            (_raw(group_json(facts, self.settings, world.group_gpus.get(id_))) for id_, facts in shown.items()),
        )
        yield (
            "nodeToGroup",
            {names.of(Role.NODE, node): names.of(Role.GROUP, group) for node, group in world.group_of.items()},
        )
        yield "gpus", {names.of(Role.NODE, node): gpu_json(gpu) for node, gpu in world.gpus.items()}
        yield from _objects(cluster, names)
        yield "pods", pods_of(cluster, names)

    def _prices(self, provider: str) -> dict[str, Any]:
        model = self.pricing.get(provider) or self.world.pricing[provider]
        waiting = {row.pod_class: row.pending for row in self.world.cluster.pending.values()}
        return prices_json(model, (pod for pod in waiting.values() if pod is not None), self.now)


def _memory(memory: Memory) -> Iterator[Entry]:
    """Yield open orders as Cluster Autoscaler's scenarios have them, and the rest as Nodewright keeps it."""
    ours = {group: request for group, request in memory.orders.requests.items() if request.ours}
    yield (
        "scaleUpRequests",
        [{"group": group, "increase": request.count, "time": request.at} for group, request in ours.items()],
    )
    rest = msgspec.to_builtins(memory)
    requests = rest["orders"]["requests"]
    rest["orders"]["requests"] = {group: entry for group, entry in requests.items() if group not in ours}
    blank = msgspec.to_builtins(Memory())
    slices = {
        name: {key: value for key, value in part.items() if value != blank[name][key]} for name, part in rest.items()
    }
    yield "memory", {name: part for name, part in slices.items() if part}


def _objects(cluster: Cluster, names: Names) -> Iterator[Entry]:
    storage = cluster.storage
    namespaces = (
        Namespace(metadata=ObjectMeta(name=name, labels=dict(labels)))
        for name, labels in cluster.pod_classes.namespaces.items()
    )
    kinds: tuple[tuple[str, Iterable[Thing], Sieve], ...] = (
        ("namespaces", namespaces, picture_objects.NAMESPACE),
        ("nodes", cluster.nodes.values(), picture_objects.NODE),
        *_controllers(cluster),
        ("pdbs", cluster.budgets.values(), picture_objects.BUDGET),
        ("capacityQuotas", cluster.quotas.values(), picture_objects.QUOTA),
        ("storageClasses", storage.classes.values(), picture_objects.STORAGE_CLASS),
        ("persistentVolumes", storage.volumes.values(), picture_objects.VOLUME),
        ("persistentVolumeClaims", storage.claims.values(), picture_objects.CLAIM),
        ("csiNodes", storage.csi_nodes.values(), picture_objects.CSI_NODE),
    )
    for key, things, sieve in kinds:
        yield key, _sifted(things, sieve, names)


def _controllers(cluster: Cluster) -> Iterator[tuple[str, Iterable[Thing], Sieve]]:
    """Yield lists of controllers; one that is empty says that there are none, one that is missing says nothing."""
    seen = cluster.controllers.seen
    for key, kind in CONTROLLER_LISTS.items():
        if kind == DAEMON_SET:
            if kind in seen or cluster.daemon_sets:
                yield key, cluster.daemon_sets.values(), picture_objects.DAEMON_SET
        elif kind in seen:
            yield key, cluster.controllers.of(kind).values(), picture_objects.CONTROLLER


def _sifted(things: Iterable[Thing], sieve: Sieve, names: Names) -> Iterator[Raw]:
    for thing in things:
        yield _raw(sift(thing, sieve, names, namespace=thing.metadata.namespace))


def _raw(value: Any) -> Raw:
    return Raw(msgspec.json.encode(value))
