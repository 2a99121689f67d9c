"""The choice of a template for each group, and what is remembered of its nodes for when there are none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import KnownTemplate, TemplateMemory
from nodewright.decision.policy import Policy
from nodewright.decision.templates import differences, likeness
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED

#: A node is no model before it has been ready for so long: much about it may still change.
_SETTLING = timedelta(minutes=1)
#: Devices may be announced long after the node is ready; only then is one that lacks them believed.
_DEVICES = timedelta(minutes=15)
#: So many nodes are asked what a group's nodes are like.
_WITNESSES = 3


@dataclass(frozen=True, kw_only=True)
class Templates:
    """What was found out about templates."""

    #: Each group has the template that decisions go by.
    world: World
    memory: TemplateMemory
    #: Differences from providers' templates that nobody was told of.
    learnt: tuple[TemplateDifference, ...]


def choose_templates(world: World, memory: TemplateMemory, policy: Policy, now: datetime) -> Templates:
    """Return every group with the template that its next node is expected to be like.

    That is the likeness of a node that has been ready for a minute, else the last such likeness that is remembered,
    else the provider's template with all that was learnt about it, else the likeness of a node in a poor state.
    Hooks have the last word.
    """
    chooser = _Chooser(world, memory, policy, now)
    groups = tuple(chooser.settle(facts, world.nodes_of(facts.id)) for facts in world.groups)
    return Templates(
        world=replace(world, groups=groups), memory=memory.seen(chooser.known), learnt=tuple(chooser.learnt)
    )


class _Chooser:
    """Goes from group to group and gathers what is remembered of them."""

    def __init__(self, world: World, memory: TemplateMemory, policy: Policy, now: datetime) -> None:
        self._world = world
        self._memory = memory
        self._policy = policy
        self._settings = policy.settings
        self._now = now
        self.known: dict[str, KnownTemplate] = {}
        self.learnt: list[TemplateDifference] = []

    def settle(self, facts: GroupFacts, nodes: Sequence[Node]) -> GroupFacts:
        """Return *facts* with the template to go by, and remember what its *nodes* show."""
        promise = None if facts.template is None else likeness.of_promise(facts.template, self._settings)
        models = list(islice(self._models(nodes), _WITNESSES))
        known = self._remember(facts, promise, models)
        if known != KnownTemplate(promised=known.promised):
            self.known[facts.id] = known
        template: NodeTemplate | None
        if known.likeness is not None and models and known.likeness.from_node == models[0].name:
            template = known.likeness
        elif models:
            template = self._likeness(models[0])
        elif known.likeness is not None:
            template = known.likeness
        elif promise is not None:
            template = differences.apply(promise, known.differences) if known.differences else promise
        else:
            template = self._likeness(nodes[0]) if nodes else None
        if template is not None and promise is not None:
            template = likeness.next_in_zone(template, promise)
        if template is not None:
            template = self._policy.hooks.adjust_template(facts, template)
        return replace(facts, template=template)

    def _models(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """Yield the nodes that are in such a state that the next one will be like them."""
        for node in nodes:
            if (
                not node.spec.unschedulable
                and node.taint(TO_BE_DELETED) is None
                and is_ready(node, self._world, self._settings.templates)
                and self._ready_for(node) > _SETTLING
            ):
                yield node

    def _ready_for(self, node: Node) -> timedelta:
        since = node.ready_since
        return timedelta.max if since is None else self._now - since

    def _likeness(self, node: Node) -> NodeTemplate:
        return likeness.of_node(node, self._world.cluster, self._settings)

    def _remember(self, facts: GroupFacts, promise: NodeTemplate | None, models: Sequence[Node]) -> KnownTemplate:
        """Return what is to be remembered of the group.

        When the provider's template changes, all is forgotten, and only nodes made since then count.
        """
        fingerprint = likeness.fingerprint(facts.template)
        known = self._memory.templates.get(facts.id) or KnownTemplate(promised=fingerprint)
        if known.promised != fingerprint:
            known = KnownTemplate(promised=fingerprint, promised_since=self._now)
        since = known.promised_since
        witnesses = [node for node in models if since is None or _made_after(node, since)]
        if witnesses:
            found = () if promise is None else self._differences(facts.id, promise, witnesses)
            self.learnt += differences.news(found, known.differences)
            return replace(known, likeness=self._likeness(witnesses[0]), gone_since=None, differences=found)
        if known.likeness is None:
            return known
        if known.gone_since is None:
            return replace(known, gone_since=self._now)
        if self._now - known.gone_since > self._settings.templates.cache_time:
            return replace(known, likeness=None, gone_since=None)
        return known

    def _differences(
        self, group: str, promise: NodeTemplate, witnesses: Sequence[Node]
    ) -> tuple[TemplateDifference, ...]:
        seen = [likeness.of_machine(node, self._settings) for node in witnesses]
        patient = any(self._ready_for(node) > _DEVICES for node in witnesses)
        found = differences.find(group, promise, seen)
        return found if patient else tuple(each for each in found if not _lacks_devices(each))


def _made_after(node: Node, time: datetime) -> bool:
    made = node.metadata.creation_timestamp
    return made is not None and made > time


def _lacks_devices(difference: TemplateDifference) -> bool:
    return (
        difference.kind in ("capacity", "allocatable")
        and differences.is_device(difference.name)
        and isinstance(difference.promised, int)
        and isinstance(difference.real, int)
        and difference.real < difference.promised
    )
