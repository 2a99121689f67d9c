"""Scenarios: pictures of a cluster with its node groups and options, which a decision can be made on.

The format is that of the files that hold what Cluster Autoscaler decided: Kubernetes objects as they are, node groups
with a template each, and options that are its flags. Keys of our own say what else decisions go by. Each part of a
scenario has a module of its own, which reads it and writes it.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nodewright.api.group import GroupFacts
from nodewright.api.pricing import PricingModel
from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.cluster.annotations import PodAnnotations
from nodewright.config.document import NOTHING
from nodewright.config.model import Settings
from nodewright.config.paths import Path
from nodewright.config.plugins import PluginClasses
from nodewright.config.wording import suggestion
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.duration import parse_duration
from nodewright.objects.meta import Time
from nodewright.scenario import clouds, cluster, groups, memory
from nodewright.scenario.clouds import labelled_gpus, read_clouds, write_clouds
from nodewright.scenario.cluster import cluster_of, read_objects, write_objects
from nodewright.scenario.fields import Entry, Field, Plain, refuse_unknown, wrong
from nodewright.scenario.groups import GROUP_OF, read_groups, with_provider_id, write_groups
from nodewright.scenario.memory import read_memory, write_memory
from nodewright.scenario.names import CollectedNames, Names, Pseudonyms, Role
from nodewright.scenario.settings import OPTIONS, PRIORITIES, SETTINGS, hide_priorities, read_settings, show_settings
from nodewright.strategies import priority

_REAL = Names()


def _from_one(count: int) -> int:
    if count < 1:
        raise ValueError(f"write a number from 1 on, not {count}")
    return count


_NOW = Field("now", Time)
_ITERATIONS = Field("iterations", Plain(int, parse=_from_one), 1)
_ADVANCE = Field(
    "advance", Plain(str | int | float, parse=lambda value: parse_duration(str(value) or "1m")), timedelta(minutes=1)
)
#: The annotations of pods that plugins read.
_POD_ANNOTATIONS = Field(
    "pod_annotations", Plain(frozenset[str], show=lambda value, names: sorted(value)), frozenset[str]()
)
#: The label that nodes with GPUs have.
_GPU_LABEL = Field("gpu_label", str, "")
_KEYS = (
    *cluster.KEYS,
    *groups.KEYS,
    *clouds.KEYS,
    *memory.KEYS,
    *(
        field.key
        for field in (_NOW, _ITERATIONS, _ADVANCE, _POD_ANNOTATIONS, _GPU_LABEL, OPTIONS, SETTINGS, PRIORITIES)
    ),
    "comment",
)


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
    #: Kubernetes objects, by the key of their list; of controllers without a list nothing is known.
    objects: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    #: Open orders, and what else is remembered.
    memory: Memory
    #: The GPUs of each node that has some, by node name.
    gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: The GPUs of a new node, by the id of each group whose nodes have some.
    group_gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: Limits that providers set themselves, by provider.
    resource_limits: Mapping[str, ResourceLimits] = field(default_factory=dict)
    #: Labels that may differ between groups that are alike, by provider.
    balancing_ignored_labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Why a provider could not be read, by the name of each.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    #: Prices by provider, where it has them.
    pricing: Mapping[str, PricingModel] = field(default_factory=dict)
    #: What the ConfigMap of the expander ``priority`` says, None if there is none.
    priorities: str | None = None
    #: The annotations of pods that plugins read.
    pod_annotations: frozenset[str] = frozenset()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes."""
        return self.objects.get(cluster.NODES, ())

    def time_of(self, iteration: int) -> datetime:
        """Return the time of an iteration; they are counted from 0."""
        return self.now + iteration * self.advance

    def world(self, pod_annotations: frozenset[str] = frozenset()) -> World:
        """Return the picture as a world to decide on: a new one at each call.

        Plugins read *pod_annotations* besides those of the scenario.
        Raises `ConfigurationError` that names the object with a malformed quantity.
        """
        return World(
            cluster=cluster_of(self.objects, PodAnnotations(self.pod_annotations | pod_annotations)),
            groups=self.groups,
            group_of=self.group_of,
            gpus=self.gpus,
            group_gpus=self.group_gpus,
            resource_limits=self.resource_limits,
            balancing_ignored_labels=self.balancing_ignored_labels,
            unreadable=self.unreadable,
            pricing=self.pricing,
            config_maps={} if self.priorities is None else {priority.CONFIG_MAP: {priority.KEY: self.priorities}},
        )


def read_scenario(
    document: Mapping[str, Any], overrides: Mapping[Path, Any] = NOTHING, classes: PluginClasses | None = None
) -> Scenario:
    """Read a scenario from decoded JSON or YAML.

    *overrides*, by the path of their setting, lie over its options, but not over those of single groups. With
    *classes*, the plugins that the options name are checked as well.
    Raises `ConfigurationError` that names the object, or the option, and says what is wrong with it.
    """
    refuse_unknown(document, _KEYS)
    settings, defaults = read_settings(document, overrides, classes)
    objects = read_objects(document)
    nodes = objects[cluster.NODES] = tuple(map(with_provider_id, objects.get(cluster.NODES, ())))
    group_of = GROUP_OF.read(document)
    facts, group_gpus = read_groups(document, nodes, group_of, defaults)
    ids = [group.id for group in facts]
    for name, group in group_of.items():
        if group not in ids:
            raise wrong(f"{GROUP_OF.key}.{name}", f"there is no node group {group!r}{suggestion(group, ids)}")
    said, gpu_label = read_clouds(document), _GPU_LABEL.read(document)
    gpus = labelled_gpus({node.name: node.metadata.labels for node in nodes}, gpu_label)
    new_gpus = labelled_gpus({group.id: group.template.labels for group in facts if group.template}, gpu_label)
    return Scenario(
        now=_NOW.read(document),
        iterations=_ITERATIONS.read(document),
        advance=_ADVANCE.read(document),
        settings=settings,
        groups=facts,
        group_of=group_of,
        objects=objects,
        memory=read_memory(document, facts),
        group_gpus=new_gpus | group_gpus,
        **{**said, "gpus": gpus | said["gpus"]},
        priorities=PRIORITIES.read(document),
        pod_annotations=_POD_ANNOTATIONS.read(document),
    )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """All that a decision goes by, to be written as a scenario that is decided alike.

    It reads the cluster while it is written: for the loop's thread. `nodewright.scenario.objects` lists what is shown
    of objects.
    """

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

    @property
    def size(self) -> int:
        """About how many objects are in it."""
        cluster = self.world.cluster
        return len(cluster.nodes) + len(cluster.pods) + len(self.world.groups)

    def entries(self, *, anonymize: bool = False) -> Iterator[Entry]:
        """Yield the keys of the scenario in order, each with its value.

        With *anonymize*, names and values of labels are replaced by pseudonyms: equal for equal ones, and in the same
        order.
        """
        return self._entries(self.pseudonyms() if anonymize else _REAL)

    def pseudonyms(self) -> Pseudonyms:
        """Return the pseudonym of each name."""
        names = CollectedNames()
        for _, value in self._entries(names):
            if isinstance(value, Iterator):
                # Names are collected as items are written.
                deque(value, maxlen=0)
        gpus = (*self.world.gpus.values(), *self.world.group_gpus.values())
        return Pseudonyms(names, public={gpu.label for gpu in gpus})

    def _entries(self, names: Names) -> Iterator[Entry]:
        world = self.world
        hidden = {facts.id: names.of(Role.GROUP, facts.id) for facts in world.groups} if names.hides else None
        config_map = world.config_maps.get(priority.CONFIG_MAP)
        text = None if config_map is None else config_map.get(priority.KEY, "")
        yield from _NOW.write(self.now, names).items()
        yield from _POD_ANNOTATIONS.write(world.cluster.pod_classes.annotations.declared, names).items()
        yield from SETTINGS.write(show_settings(self.settings, self.classes, hidden).data, names).items()
        yield from PRIORITIES.write(
            text if hidden is None or text is None else hide_priorities(text, hidden), names
        ).items()
        yield from write_memory(self.memory, world.groups, names)
        pricing = {name: self.pricing.get(name, model) for name, model in world.pricing.items()}
        yield from write_clouds(world, pricing, self.now, names)
        yield write_groups(world, self.settings, names)
        yield from GROUP_OF.write(world.group_of, names).items()
        yield from write_objects(world.cluster, names)
