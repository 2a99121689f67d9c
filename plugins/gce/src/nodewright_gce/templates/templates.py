"""Templates of managed instance groups."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from nodewright.api import (
    Clock,
    GroupNotFoundError,
    GroupOptions,
    NodeTemplate,
    NodewrightError,
    PermanentError,
    TemporaryError,
)

from nodewright_gce.calls.compute import Compute
from nodewright_gce.config.templates import TemplateSettings, ZoneChoice
from nodewright_gce.machine_types.catalogue import Catalogue
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import Pool
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.resource import last_part
from nodewright_gce.templates.group_metadata import read_group_metadata
from nodewright_gce.templates.group_template import (
    ZONE,
    GroupTemplate,
    TemplateInputs,
    make_group_template,
    next_zone,
    zone_of,
)
from nodewright_gce.templates.instance_templates import InstanceTemplates
from nodewright_gce.warn_once import WarnOnce

#: Provisioning models of machines that are waited for, with or without accelerators.
_QUEUED_MODELS = frozenset({"FLEX_START", "RESERVATION_BOUND"})


class Templates:
    """What new nodes of groups look like. Only `refresh` asks Google; the rest answers from what it read."""

    def __init__(self, compute: Compute, settings: TemplateSettings, clock: Clock, workers: int = 8) -> None:
        self._instance_templates = InstanceTemplates(compute, clock, workers)
        self._catalogue = Catalogue(compute, clock, static=settings.static_machine_types)
        self._settings = settings
        self._templates: Mapping[str, GroupTemplate] = {}
        self._warnings = WarnOnce()

    def refresh(self, groups: Sequence[ManagedGroup]) -> None:
        """Read what is unknown of what *groups* launch. Raises nothing: `template` does.

        Called in `Provider.refresh`. A template is read once, a machine type once a day.
        """
        self._instance_templates.refresh(group.mig.template for group in groups)
        self._catalogue.refresh(
            {
                name: Place(project=group.address.place.project, name=zone)
                for group in groups
                for zone in _zones(group)[:1]
                for name in self._names(group)
            }
        )
        self._templates = {group.address.id: self._make(group) for group in groups}
        self._warnings.warn(
            {trouble: text for each in self._templates.values() for trouble, text in each.troubles.items()}
        )

    def template(self, group: ManagedGroup) -> NodeTemplate | None:
        """Return a new node of *group*; None if it is unknown, but the group has nodes to take it from.

        Raises `NodewrightError` if the template is unknown and there are no nodes.
        """
        found = self._of(group)
        if found.error is not None:
            raise found.error
        return found.template

    def pools(self, group: ManagedGroup) -> tuple[Pool, ...]:
        """Return the pools that *group* launches from; nothing if they are unknown."""
        return self._of(group).pools

    def quotas(self, group: ManagedGroup) -> Mapping[str, int]:
        """Return what each machine of *group* takes of quotas; nothing if that is unknown."""
        return self._of(group).quotas

    def options(self, group: ManagedGroup, defaults: GroupOptions) -> GroupOptions:
        """Return *defaults*, overridden by ``kube-env`` and by our own metadata."""
        found = self._of(group)
        return replace(defaults, **{**found.metadata.env.options, **found.metadata.own.options})

    def limits(self, group: ManagedGroup) -> tuple[int | None, int | None]:
        """Return the smallest and the largest size that the metadata of *group* sets, each None if it does not."""
        own = self._of(group).metadata.own
        return own.min_size, own.max_size

    def spot(self, group: ManagedGroup) -> bool:
        """Return whether Google may stop the machines of *group* at any time; False if that is unknown."""
        inputs = self._of(group).inputs
        return inputs is not None and inputs.template.spot

    def queued(self, group: ManagedGroup) -> bool:
        """Return whether machines of *group* may be had by a request that waits until all can come.

        Google has such queues for machines with accelerators, and for those that run for a limited time.
        """
        found = self._of(group)
        if found.inputs is None:
            return False
        properties = found.inputs.template.properties
        waits = properties.scheduling.provisioning_model in _QUEUED_MODELS
        return waits or bool(properties.guest_accelerators) or any(launch.gpus for launch in found.launches)

    def machine_types(self, group: ManagedGroup) -> tuple[str, ...]:
        """Return the types that *group* launches, the preferred ones first; nothing if they are unknown."""
        inputs = self._of(group).inputs
        return tuple(info.name for info in inputs.types) if inputs is not None else ()

    def complete(self, group: ManagedGroup, template: NodeTemplate) -> NodeTemplate:
        """Return *template*, which may be taken from a real node, corrected for the next machine of *group*.

        Adds resources that only metadata has, and what tells the price. If the group also launches types with fewer
        resources than the node's, the lower amounts count. Safe to call from any thread.
        """
        found = self._templates.get(group.address.id)
        return found.complete(template, self._settings.flexible_types) if found else template

    def _of(self, group: ManagedGroup) -> GroupTemplate:
        if group.address.id not in self._templates:
            raise GroupNotFoundError(f"group {group.address.id} was missing when Google was last asked")
        return self._templates[group.address.id]

    def _make(self, group: ManagedGroup) -> GroupTemplate:
        troubles: dict[Hashable, str] = {}
        before = self._templates.get(group.address.id, GroupTemplate())
        metadata = before.metadata
        try:
            template = self._instance_templates.get(group.mig.template)
            values = {**template.metadata, **group.mig.all_instances_config.properties.metadata}
            metadata = before.metadata if before.metadata.values == values else read_group_metadata(values)
            inputs = TemplateInputs(
                template=template,
                types=self._types(group, troubles),
                zones=_zones(group),
                region=group.address.place.region,
                metadata=metadata,
            )
            made = before if before.inputs == inputs else make_group_template(inputs, self._settings)
        except NodewrightError as error:
            made = self._without(group, error, before, troubles)
        else:
            made = self._placed(group, made, troubles)
        for mistake in metadata.mistakes:
            troubles[group.address.id, mistake] = f"group {group.address.name}: {mistake}"
        return replace(made, metadata=metadata, troubles=troubles)

    def _placed(self, group: ManagedGroup, made: GroupTemplate, troubles: dict[Hashable, str]) -> GroupTemplate:
        """Return *made* with the next machine of *group* in its expected zone, if several zones are possible."""
        zones = _zones(group)
        if len(zones) < 2:
            return made
        troubles[group.address.id, "zones"] = (
            f"group {group.address.name} has several zones ({', '.join(zones)}), so the zone of its next machine is "
            "uncertain: for pods that need a certain zone, as those with volumes do, make a group for each zone"
        )
        if self._settings.zones is ZoneChoice.FIRST or ZONE in made.metadata.own.labels:
            return made
        return made.in_zone(next_zone(group, zones), zones)

    def _names(self, group: ManagedGroup) -> tuple[str, ...]:
        """Return the names of the types that *group* launches, the preferred ones first; nothing if unknown."""
        selections = group.mig.instance_flexibility_policy.instance_selections.values()
        flexible = [name for each in sorted(selections, key=lambda each: each.rank) for name in each.machine_types]
        if flexible:
            return tuple(dict.fromkeys(flexible))
        try:
            properties = self._instance_templates.get(group.mig.template).properties
        except NodewrightError:
            return ()
        return (last_part(properties.machine_type),)

    def _types(self, group: ManagedGroup, troubles: dict[Hashable, str]) -> tuple[MachineTypeInfo, ...]:
        """Return the types that *group* launches; raises `NodewrightError` if all are unknown."""
        names = self._names(group)
        types = tuple(info for name in names if (info := self._catalogue.get(name)) is not None)
        unknown = sorted({*names} - {info.name for info in types})
        if not unknown:
            return types
        text = f"group {group.address.name} launches unknown machine types: {', '.join(unknown)}"
        if not types:
            advice = (
                "let the plugin ask Google for new ones (staticMachineTypes: false)"
                if self._catalogue.static
                else "see whether the zone has them"
            )
            raise self._catalogue.trouble or PermanentError(f"{text}. Correct them, or {advice}")
        troubles[group.address.id, "types"] = f"{text}. They are left out"
        return types

    def _without(
        self, group: ManagedGroup, error: NodewrightError, before: GroupTemplate, troubles: dict[Hashable, str]
    ) -> GroupTemplate:
        """Return the template of a group if *error* hides what it launches: what was known *before*, if it passes."""
        if isinstance(error, TemporaryError) and before.template is not None:
            return before
        if not group.members:
            return GroupTemplate(error=error)
        troubles[group.address.id, "launches"] = (
            f"what group {group.address.name} launches is unknown, so its nodes are the only model of new ones: {error}"
        )
        return GroupTemplate()


def _zones(group: ManagedGroup) -> tuple[str, ...]:
    """Return the zones that *group* launches in, by name."""
    place = group.address.place
    if not place.regional:
        return (place.name,)
    policy = {last_part(each.zone) for each in group.mig.distribution_policy.zones}
    return tuple(sorted(policy or {zone_of(member.instance) for member in group.members} - {""}))
