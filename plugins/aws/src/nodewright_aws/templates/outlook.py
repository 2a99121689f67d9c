"""What a group's next machines will be like."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodewright.api import NodeTemplate, NodewrightError, Taint

from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.pools import POOLS_ANNOTATION, Lifecycle, Pool, join
from nodewright_aws.shapes.shape import Shape
from nodewright_aws.templates.launches import Offer, lifecycles
from nodewright_aws.templates.machine import INSTANCE_TYPE, Machine, choose, foresee
from nodewright_aws.templates.managed import ManagedGroup
from nodewright_aws.templates.settings import MixedInstances, TemplateSettings
from nodewright_aws.templates.tags import NodeTags
from nodewright_aws.templates.zones import ZONE, ZONE_LABELS, next_zone, place


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What is known of a group's next machines."""

    tags: NodeTags
    #: The zone that the next one is expected in; empty if nothing tells, or if a node is to tell.
    zone: str = ""
    pools: tuple[Pool, ...] = ()
    template: NodeTemplate | None = None
    #: Why there is no template, if there must not be any without it.
    error: NodewrightError | None = None
    #: By instance type.
    machines: Mapping[str, Machine] = field(default_factory=dict)
    #: What people should know, each to be told once.
    remarks: tuple[str, ...] = ()

    def complete(self, template: NodeTemplate, choice: MixedInstances) -> NodeTemplate:
        """Return *template*, which may be taken from a real node, as that of the next machine."""
        capacity, allocatable = dict(template.capacity), dict(template.allocatable)
        own = self.machines.get(template.labels.get(INSTANCE_TYPE, ""))
        if choice is MixedInstances.SMALLEST and own is not None and self.template is not None:
            self._lower(capacity, own.capacity, self.template.capacity)
            self._lower(allocatable, own.allocatable, self.template.allocatable)
        return replace(
            template,
            labels=self._moved(template.labels),
            annotations=_annotated(template.annotations, self.pools),
            capacity={**self.tags.resources, **capacity},
            allocatable={**self.tags.resources, **allocatable},
        )

    def _lower(self, real: dict[str, int], own: Mapping[str, int], least: Mapping[str, int]) -> None:
        """Take from *real* what other types have less of than the node's *own*."""
        for resource in real.keys() & own.keys() - self.tags.resources.keys():
            if least.get(resource, 0) < own[resource]:
                real[resource] = min(real[resource], least.get(resource, 0))

    def _moved(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        if not self.zone or labels.get(ZONE, self.zone) == self.zone:
            return labels
        return {**labels, **{name: self.zone for name in ZONE_LABELS if name in labels}}


def look_out(
    group: GroupReading,
    machines: Sequence[tuple[Offer, Shape]],
    tags: NodeTags,
    managed: ManagedGroup | None,
    settings: TemplateSettings,
    region: str,
) -> Outlook:
    """Return the outlook of *group*, which launches *machines* (at least one), in *region*."""
    foreseen = {shape.name: foresee(offer, shape, settings.kubelet, managed) for offer, shape in machines}
    machine = choose(tuple(foreseen.values()), settings.mixed_instances)
    images = {offer.launch.image for offer, _ in machines}
    set_by_eks = managed.node_labels(images.pop() if len(images) == 1 else "") if managed else {}
    labels = {**machine.labels, **tags.labels, **set_by_eks}
    pools = _pools(group, machines)
    template = NodeTemplate(
        # Where the very next machine comes up changes too often for what is promised of the group as such.
        labels={**place(min(group.zones, default=""), region), **labels},
        annotations=_annotated({}, pools),
        taints=_joined(tags.taints, managed.taints if managed else ()),
        capacity={**machine.capacity, **tags.resources},
        allocatable={**machine.allocatable, **tags.resources},
        csi_drivers=machine.csi_drivers,
    )
    zone = labels.get(ZONE) or next_zone(group, settings.zones)
    return Outlook(tags=tags, zone=zone, pools=pools, template=template, machines=foreseen)


def _pools(group: GroupReading, machines: Sequence[tuple[Offer, Shape]]) -> tuple[Pool, ...]:
    bought = lifecycles(group, [offer for offer, _ in machines])
    return tuple(
        Pool(zone=zone, instance_type=shape.name, lifecycle=lifecycle)
        for zone in group.zones
        for _, shape in machines
        for lifecycle in bought
        if (shape.spot if lifecycle is Lifecycle.SPOT else shape.on_demand)
    )


def _annotated(annotations: Mapping[str, str], pools: tuple[Pool, ...]) -> Mapping[str, str]:
    return {**annotations, POOLS_ANNOTATION: join(pools)} if pools else annotations


def _joined(first: Iterable[Taint], stronger: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return all taints; of those with the same key and effect, a node has only one."""
    return tuple({(taint.key, taint.effect): taint for taint in (*first, *stronger)}.values())
