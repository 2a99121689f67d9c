"""What a group's next machines will be like."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nodewright.api import NodeTemplate, NodewrightError, Taint

from nodewright_aws.pools import POOLS_ANNOTATION, Lifecycle, Pool, join
from nodewright_aws.shapes.shape import Shape
from nodewright_aws.templates.launches import Offer
from nodewright_aws.templates.machine import INSTANCE_TYPE, Machine, choose, foresee
from nodewright_aws.templates.managed import ManagedGroup
from nodewright_aws.templates.settings import MixedInstances, TemplateSettings
from nodewright_aws.templates.tags import NodeTags
from nodewright_aws.templates.zones import ZONE_ID, ZONE_LABELS, place


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What the template of a group follows from."""

    zones: tuple[str, ...]
    #: At least one.
    machines: tuple[tuple[Offer, Shape], ...]
    bought: tuple[Lifecycle, ...]
    tags: NodeTags
    managed: ManagedGroup | None = None


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What is known of a group's next machines."""

    tags: NodeTags
    #: None if it is not known.
    setup: Setup | None = None
    pools: tuple[Pool, ...] = ()
    template: NodeTemplate | None = None
    #: Why there is no template, if there must not be any without it.
    error: NodewrightError | None = None
    #: By instance type.
    machines: Mapping[str, Machine] = field(default_factory=dict)
    #: What people should know, in sentences by what tells one from another.
    troubles: Mapping[Hashable, str] = field(default_factory=dict)

    def complete(self, template: NodeTemplate, choice: MixedInstances) -> NodeTemplate:
        """Return *template*, which may be taken from a real node, as that of the next machine."""
        capacity, allocatable = dict(template.capacity), dict(template.allocatable)
        own = self.machines.get(template.labels.get(INSTANCE_TYPE, ""))
        if choice is MixedInstances.SMALLEST and own is not None and self.template is not None:
            self._lower(capacity, own.capacity, self.template.capacity)
            self._lower(allocatable, own.allocatable, self.template.allocatable)
        return replace(
            template,
            # It tells of the node's own zone.
            labels={name: value for name, value in template.labels.items() if name != ZONE_ID or not template.zones},
            annotations=_annotated(template.annotations, self.pools),
            capacity={**self.tags.resources, **capacity},
            allocatable={**self.tags.resources, **allocatable},
        )

    def _lower(self, real: dict[str, int], own: Mapping[str, int], least: Mapping[str, int]) -> None:
        """Take from *real* what other types have less of than the node's *own*."""
        for resource in real.keys() & own.keys() - self.tags.resources.keys():
            if least.get(resource, 0) < own[resource]:
                real[resource] = min(real[resource], least.get(resource, 0))

    def in_zone(self, zone: str, possible: tuple[str, ...]) -> "Outlook":
        """Return the same with the next machine in *zone*, which may be any of *possible*."""
        if self.template is None:
            return self
        labels = {**self.template.labels, **dict.fromkeys(ZONE_LABELS & self.template.labels.keys(), zone)}
        return replace(self, template=replace(self.template, labels=labels, zones=possible))


def look_out(setup: Setup, settings: TemplateSettings, region: str) -> Outlook:
    """Return the outlook of a group in *region*, with the next machine in the first zone that has any."""
    tags, managed = setup.tags, setup.managed
    foreseen = {shape.name: foresee(offer, shape, settings.kubelet, managed) for offer, shape in setup.machines}
    machine = choose(tuple(foreseen.values()), settings.mixed_instances)
    images = {offer.launch.image for offer, _ in setup.machines}
    set_by_eks = managed.node_labels(images.pop() if len(images) == 1 else "") if managed else {}
    pools = _pools(setup)
    zone = pools[0].zone if pools else next(iter(setup.zones), "")
    template = NodeTemplate(
        labels={**place(zone, region), **machine.labels, **tags.labels, **set_by_eks},
        annotations=_annotated({}, pools),
        taints=_joined(tags.taints, managed.taints if managed else ()),
        capacity={**machine.capacity, **tags.resources},
        allocatable={**machine.allocatable, **tags.resources},
        csi_drivers=machine.csi_drivers,
    )
    return Outlook(setup=setup, tags=tags, pools=pools, template=template, machines=foreseen)


def _pools(setup: Setup) -> tuple[Pool, ...]:
    return tuple(
        Pool(zone=zone, instance_type=shape.name, lifecycle=lifecycle)
        for zone in setup.zones
        for offer, shape in setup.machines
        if not offer.zones or zone in offer.zones
        for lifecycle in setup.bought
        if (shape.spot if lifecycle is Lifecycle.SPOT else shape.on_demand)
    )


def _annotated(annotations: Mapping[str, str], pools: tuple[Pool, ...]) -> Mapping[str, str]:
    return {**annotations, POOLS_ANNOTATION: join(pools)} if pools else annotations


def _joined(first: Iterable[Taint], stronger: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return all taints; of those with the same key and effect, a node has only one."""
    return tuple({(taint.key, taint.effect): taint for taint in (*first, *stronger)}.values())
