"""The template of a group: what is known of its next instances, and in which zone the next one is expected."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nodewright.api import NodeTemplate, NodewrightError, Taint

from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.config import MixedInstances, TemplateSettings
from nodewright_aws.instance_types.info import InstanceTypeInfo
from nodewright_aws.pools import POOLS_ANNOTATION, Lifecycle, Pool, join
from nodewright_aws.templates.launchable_types import LaunchableType
from nodewright_aws.templates.managed import ManagedGroup
from nodewright_aws.templates.tags import NodeTags
from nodewright_aws.templates.type_template import INSTANCE_TYPE, TypeTemplate, choose, type_template

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
#: Another name of the zone, which templates do not have.
ZONE_ID = "topology.k8s.aws/zone-id"
#: Labels of templates with the zone.
ZONE_LABELS = frozenset({ZONE, "topology.ebs.csi.aws.com/zone"})


@dataclass(frozen=True, kw_only=True)
class TemplateInputs:
    """What the template of a group is made from."""

    zones: tuple[str, ...]
    #: At least one.
    types: tuple[tuple[LaunchableType, InstanceTypeInfo], ...]
    lifecycles: tuple[Lifecycle, ...]
    tags: NodeTags
    managed: ManagedGroup | None = None


@dataclass(frozen=True, kw_only=True)
class GroupTemplate:
    """What is known of a group's next instances."""

    tags: NodeTags
    #: None if they are unknown.
    inputs: TemplateInputs | None = None
    pools: tuple[Pool, ...] = ()
    template: NodeTemplate | None = None
    #: Set if the group must not be scaled without a template: why there is none.
    error: NodewrightError | None = None
    #: By instance type.
    by_type: Mapping[str, TypeTemplate] = field(default_factory=dict)
    #: What people should know: sentences by a key that identifies each.
    troubles: Mapping[Hashable, str] = field(default_factory=dict)

    def complete(self, template: NodeTemplate, choice: MixedInstances) -> NodeTemplate:
        """Return *template*, which may be taken from a real node, corrected for the next instance."""
        capacity, allocatable = dict(template.capacity), dict(template.allocatable)
        own = self.by_type.get(template.labels.get(INSTANCE_TYPE, ""))
        if choice is MixedInstances.SMALLEST and own is not None and self.template is not None:
            self._lower(capacity, own.capacity, self.template.capacity)
            self._lower(allocatable, own.allocatable, self.template.allocatable)
        return replace(
            template,
            # The label has the node's own zone.
            labels={name: value for name, value in template.labels.items() if name != ZONE_ID or not template.zones},
            annotations=_annotated(template.annotations, self.pools),
            capacity={**self.tags.resources, **capacity},
            allocatable={**self.tags.resources, **allocatable},
        )

    def _lower(self, real: dict[str, int], own: Mapping[str, int], least: Mapping[str, int]) -> None:
        """Lower the resources in *real* of which other types have less than the node's *own* type."""
        for resource in real.keys() & own.keys() - self.tags.resources.keys():
            if least.get(resource, 0) < own[resource]:
                real[resource] = min(real[resource], least.get(resource, 0))

    def in_zone(self, zone: str, possible: tuple[str, ...]) -> "GroupTemplate":
        """Return the same with the next instance in *zone*, which is one of the *possible* zones."""
        if self.template is None:
            return self
        labels = {**self.template.labels, **dict.fromkeys(ZONE_LABELS & self.template.labels.keys(), zone)}
        return replace(self, template=replace(self.template, labels=labels, zones=possible))


def make_group_template(inputs: TemplateInputs, settings: TemplateSettings, region: str) -> GroupTemplate:
    """Return the template of a group in *region*, with the next instance in the first zone that has a pool."""
    tags, managed = inputs.tags, inputs.managed
    by_type = {info.name: type_template(each, info, settings.kubelet, managed) for each, info in inputs.types}
    chosen = choose(tuple(by_type.values()), settings.mixed_instances)
    images = {each.launch.image for each, _ in inputs.types}
    set_by_eks = managed.node_labels(images.pop() if len(images) == 1 else "") if managed else {}
    pools = _pools(inputs)
    zone = pools[0].zone if pools else next(iter(inputs.zones), "")
    template = NodeTemplate(
        labels={**_place(zone, region), **chosen.labels, **tags.labels, **set_by_eks},
        annotations=_annotated({}, pools),
        taints=_joined(tags.taints, managed.taints if managed else ()),
        capacity={**chosen.capacity, **tags.resources},
        allocatable={**chosen.allocatable, **tags.resources},
        csi_drivers=chosen.csi_drivers,
    )
    return GroupTemplate(inputs=inputs, tags=tags, pools=pools, template=template, by_type=by_type)


def next_zone(group: AutoScalingGroup, possible: Collection[str]) -> str:
    """Return which of the *possible* zones (at least one) the next instance of *group* is expected in.

    AWS launches in the zone with the fewest instances, and elsewhere if that zone has no capacity.
    """
    counts = Counter(instance.zone for instance in group.instances if instance.is_counted)
    return min(possible, key=lambda zone: (counts[zone], zone))


def _place(zone: str, region: str) -> dict[str, str]:
    """Return the labels of a node in *region* and in *zone*, if that is known."""
    return {REGION: region} | (dict.fromkeys((ZONE, "topology.ebs.csi.aws.com/zone"), zone) if zone else {})


def _pools(inputs: TemplateInputs) -> tuple[Pool, ...]:
    return tuple(
        Pool(zone=zone, instance_type=info.name, lifecycle=lifecycle)
        for zone in inputs.zones
        for each, info in inputs.types
        if not each.zones or zone in each.zones
        for lifecycle in inputs.lifecycles
        if (info.spot if lifecycle is Lifecycle.SPOT else info.on_demand)
    )


def _annotated(annotations: Mapping[str, str], pools: tuple[Pool, ...]) -> Mapping[str, str]:
    return {**annotations, POOLS_ANNOTATION: join(pools)} if pools else annotations


def _joined(first: Iterable[Taint], stronger: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return all taints; of two with the same key and effect, the *stronger* one."""
    return tuple({(taint.key, taint.effect): taint for taint in (*first, *stronger)}.values())
