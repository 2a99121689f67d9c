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

from nodewright_aws.calls import Calls
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.pools import Pool
from nodewright_aws.shapes.catalogue import Catalogue
from nodewright_aws.shapes.shape import Shape
from nodewright_aws.templates.launches import Launches, Offer, lifecycles, refuse_units
from nodewright_aws.templates.outlook import Outlook, Setup, look_out
from nodewright_aws.templates.settings import TemplateSettings, ZoneChoice
from nodewright_aws.templates.tags import NodeTags, read_tags
from nodewright_aws.templates.zones import ZONE, next_zone
from nodewright_aws.troubles import Troubles


class Templates:
    """What new nodes of groups look like. AWS is asked in `refresh` only; the rest answers from what that has read."""

    def __init__(self, aws: Calls, catalogue: Catalogue, settings: TemplateSettings, clock: Clock, region: str) -> None:
        self._launches = Launches(aws, clock)
        self._catalogue = catalogue
        self._settings = settings
        self._region = region
        self._outlooks: Mapping[str, Outlook] = {}
        self._troubles = Troubles()

    def refresh(self, groups: Sequence[GroupReading]) -> None:
        """Read what *groups* launch, as far as it is not known. Raises nothing: what is missing is told by `template`.

        Called in `Provider.refresh`. The number of calls does not depend on how many machines there are.
        """
        self._launches.refresh(groups)
        self._catalogue.refresh(self._launches.types(groups))
        self._outlooks = {group.name: self._outlook(group) for group in groups}
        self._troubles.tell(
            {trouble: text for outlook in self._outlooks.values() for trouble, text in outlook.troubles.items()}
        )

    def template(self, group: GroupReading) -> NodeTemplate | None:
        """Return a new node of *group*; None if that can't be told but the group has machines, which tell it.

        Raises `NodewrightError` if the group can't be steered by nodes, or if nothing is known of it and it has no
        machines.
        """
        outlook = self._of(group)
        if outlook.error is not None:
            raise outlook.error
        return outlook.template

    def pools(self, group: GroupReading) -> tuple[Pool, ...]:
        """Return what new machines of *group* may be taken from; nothing if it is not known what it launches."""
        return self._of(group).pools

    def options(self, group: GroupReading, defaults: GroupOptions) -> GroupOptions:
        """Return *defaults* with what the tags of *group* say in their place."""
        return replace(defaults, **self._of(group).tags.options)

    def complete(self, group: GroupReading, template: NodeTemplate) -> NodeTemplate:
        """Return a *template*, which may be taken from a real node, as that of the next machine of *group*.

        Resources that only tags tell are added. Where the group also launches types that have less than the node's,
        that much less is promised. Safe to call from any thread.
        """
        outlook = self._outlooks.get(group.name)
        return outlook.complete(template, self._settings.mixed_instances) if outlook else template

    def _of(self, group: GroupReading) -> Outlook:
        if group.name not in self._outlooks:
            raise GroupNotFoundError(f"group {group.name} was not there when AWS was last asked")
        return self._outlooks[group.name]

    def _outlook(self, group: GroupReading) -> Outlook:
        managed = self._launches.managed(group)
        tags = read_tags({**group.tags, **(managed.tags if managed else {})})
        troubles: dict[Hashable, str] = {
            (group.name, mistake): f"group {group.name}: {mistake}" for mistake in tags.mistakes
        }
        try:
            refuse_units(group)
        except PermanentError as error:
            return Outlook(tags=tags, error=error, troubles=troubles)
        try:
            machines = self._machines(group, troubles)
        except NodewrightError as error:
            return self._without(group, error, tags, troubles)
        if len(group.zones) > 1:
            troubles[group.name, "zones"] = (
                f"group {group.name} has several zones ({', '.join(group.zones)}), and nobody can say in which of them "
                "its next machine comes up: for pods that need a certain zone, as those with volumes do, make a group "
                "for each zone"
            )
        setup = Setup(
            zones=group.zones,
            machines=machines,
            bought=lifecycles(group, [offer for offer, _ in machines]),
            tags=tags,
            managed=managed,
        )
        before = self._outlooks.get(group.name)
        outlook = before if before and before.setup == setup else look_out(setup, self._settings, self._region)
        return replace(self._placed(group, outlook), troubles=troubles)

    def _placed(self, group: GroupReading, outlook: Outlook) -> Outlook:
        """Return *outlook* with the next machine of *group* where it is expected, if it may be in several zones."""
        possible = tuple(dict.fromkeys(pool.zone for pool in outlook.pools))
        if self._settings.zones is ZoneChoice.FIRST or ZONE in outlook.tags.labels or len(possible) < 2:
            return outlook
        return outlook.in_zone(next_zone(group, possible), possible)

    def _machines(self, group: GroupReading, troubles: dict[Hashable, str]) -> tuple[tuple[Offer, Shape], ...]:
        """Return what *group* launches; raises `NodewrightError` if there is a type that can't be left out."""
        offers = self._launches.offers(group)
        machines = tuple(
            (offer, shape) for offer in offers if (shape := self._catalogue.get(offer.instance_type)) is not None
        )
        known = {shape.name for _, shape in machines}
        unknown = [offer for offer in offers if offer.instance_type not in known]
        if not unknown:
            return machines
        text = f"group {group.name} launches instance types that nobody knows: " + ", ".join(
            sorted(offer.instance_type for offer in unknown)
        )
        if any(offer.named for offer in unknown) or not machines:
            remedy = (
                "have AWS asked for those that are new (staticInstanceList: false)"
                if self._catalogue.static
                else "see whether the region offers them"
            )
            raise self._catalogue.trouble or PermanentError(f"{text}. Correct them, or {remedy}")
        troubles[group.name, "types"] = f"{text}. They are left out"
        return machines

    def _without(
        self, group: GroupReading, error: NodewrightError, tags: NodeTags, troubles: dict[Hashable, str]
    ) -> Outlook:
        """Return the outlook of a group of which *error* keeps anybody from telling what it launches."""
        before = self._outlooks.get(group.name)
        if isinstance(error, TemporaryError) and before is not None and before.template is not None:
            return before
        if not group.instances:
            return Outlook(tags=tags, error=error, troubles=troubles)
        troubles[group.name, "launches"] = (
            f"what group {group.name} launches can't be told, so that its nodes are the only model of new ones: {error}"
        )
        return Outlook(tags=tags, troubles=troubles)
