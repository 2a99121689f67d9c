"""Templates of Auto Scaling groups."""

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

from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.calls import Calls
from nodewright_aws.config import TemplateSettings, ZoneChoice
from nodewright_aws.instance_types.catalogue import Catalogue
from nodewright_aws.instance_types.info import InstanceTypeInfo
from nodewright_aws.pools import Pool
from nodewright_aws.templates.group_template import (
    ZONE,
    GroupTemplate,
    TemplateInputs,
    make_group_template,
    next_zone,
)
from nodewright_aws.templates.launchable_types import LaunchableType, LaunchableTypes, lifecycles, refuse_units
from nodewright_aws.templates.tags import NodeTags, read_tags
from nodewright_aws.warn_once import WarnOnce


class Templates:
    """What new nodes of groups look like. Only `refresh` asks AWS; the rest answers from what it read."""

    def __init__(self, aws: Calls, catalogue: Catalogue, settings: TemplateSettings, clock: Clock, region: str) -> None:
        self._launchable = LaunchableTypes(aws, clock)
        self._catalogue = catalogue
        self._settings = settings
        self._region = region
        self._templates: Mapping[str, GroupTemplate] = {}
        self._warnings = WarnOnce()

    def refresh(self, groups: Sequence[AutoScalingGroup]) -> None:
        """Read what is unknown of what *groups* launch. Raises nothing: `template` does.

        Called in `Provider.refresh`. The number of calls does not depend on the number of instances.
        """
        self._launchable.refresh(groups)
        self._catalogue.refresh(self._launchable.names(groups))
        self._templates = {group.name: self._make(group) for group in groups}
        self._warnings.warn(
            {trouble: text for each in self._templates.values() for trouble, text in each.troubles.items()}
        )

    def template(self, group: AutoScalingGroup) -> NodeTemplate | None:
        """Return a new node of *group*; None if it is unknown, but the group has nodes to take it from.

        Raises `NodewrightError` if the group can't be scaled by nodes, or if the template is unknown and there are no
        nodes.
        """
        found = self._of(group)
        if found.error is not None:
            raise found.error
        return found.template

    def pools(self, group: AutoScalingGroup) -> tuple[Pool, ...]:
        """Return the pools that *group* launches from; nothing if they are unknown."""
        return self._of(group).pools

    def options(self, group: AutoScalingGroup, defaults: GroupOptions) -> GroupOptions:
        """Return *defaults*, overridden by the tags of *group*."""
        return replace(defaults, **self._of(group).tags.options)

    def complete(self, group: AutoScalingGroup, template: NodeTemplate) -> NodeTemplate:
        """Return *template*, which may be taken from a real node, corrected for the next instance of *group*.

        Adds resources that only tags have. If the group also launches types with fewer resources than the node's, the
        lower amounts count. Safe to call from any thread.
        """
        found = self._templates.get(group.name)
        return found.complete(template, self._settings.mixed_instances) if found else template

    def _of(self, group: AutoScalingGroup) -> GroupTemplate:
        if group.name not in self._templates:
            raise GroupNotFoundError(f"group {group.name} was missing when AWS was last asked")
        return self._templates[group.name]

    def _make(self, group: AutoScalingGroup) -> GroupTemplate:
        managed = self._launchable.managed(group)
        tags = read_tags({**group.tags, **(managed.tags if managed else {})})
        troubles: dict[Hashable, str] = {
            (group.name, mistake): f"group {group.name}: {mistake}" for mistake in tags.mistakes
        }
        try:
            refuse_units(group)
        except PermanentError as error:
            return GroupTemplate(tags=tags, error=error, troubles=troubles)
        try:
            types = self._types(group, troubles)
        except NodewrightError as error:
            return self._without(group, error, tags, troubles)
        if len(group.zones) > 1:
            troubles[group.name, "zones"] = (
                f"group {group.name} has several zones ({', '.join(group.zones)}), so the zone of its next machine is "
                "uncertain: for pods that need a certain zone, such as those with volumes, make a group for each zone"
            )
        inputs = TemplateInputs(
            zones=group.zones,
            types=types,
            lifecycles=lifecycles(group, [each for each, _ in types]),
            tags=tags,
            managed=managed,
        )
        before = self._templates.get(group.name)
        unchanged = before is not None and before.inputs == inputs
        made = before if before and unchanged else make_group_template(inputs, self._settings, self._region)
        return replace(self._placed(group, made), troubles=troubles)

    def _placed(self, group: AutoScalingGroup, made: GroupTemplate) -> GroupTemplate:
        """Return *made* with the next instance of *group* in its expected zone, if several zones are possible."""
        possible = tuple(dict.fromkeys(pool.zone for pool in made.pools))
        if self._settings.zones is ZoneChoice.FIRST or ZONE in made.tags.labels or len(possible) < 2:
            return made
        return made.in_zone(next_zone(group, possible), possible)

    def _types(
        self, group: AutoScalingGroup, troubles: dict[Hashable, str]
    ) -> tuple[tuple[LaunchableType, InstanceTypeInfo], ...]:
        """Return the types that *group* launches; raises `NodewrightError` if an unknown one can't be left out."""
        launchable = self._launchable.of(group)
        types = tuple(
            (each, info) for each in launchable if (info := self._catalogue.get(each.instance_type)) is not None
        )
        known = {info.name for _, info in types}
        unknown = [each for each in launchable if each.instance_type not in known]
        if not unknown:
            return types
        text = f"group {group.name} launches unknown instance types: " + ", ".join(
            sorted(each.instance_type for each in unknown)
        )
        if any(each.named for each in unknown) or not types:
            advice = (
                "let the plugin ask AWS for new ones (staticInstanceList: false)"
                if self._catalogue.static
                else "see whether the region offers them"
            )
            raise self._catalogue.trouble or PermanentError(f"{text}. Correct them, or {advice}")
        troubles[group.name, "types"] = f"{text}. They are left out"
        return types

    def _without(
        self, group: AutoScalingGroup, error: NodewrightError, tags: NodeTags, troubles: dict[Hashable, str]
    ) -> GroupTemplate:
        """Return the template of a group if *error* hides what it launches."""
        before = self._templates.get(group.name)
        if isinstance(error, TemporaryError) and before is not None and before.template is not None:
            return before
        if not group.instances:
            return GroupTemplate(tags=tags, error=error, troubles=troubles)
        troubles[group.name, "launches"] = (
            f"what group {group.name} launches is unknown, so its nodes are the only model of new ones: {error}"
        )
        return GroupTemplate(tags=tags, troubles=troubles)
