"""The choice of a template for each group, and what is remembered of its nodes for when it has none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import KnownTemplate, TemplateMemory
from nodewright.decision.policy import Policy
from nodewright.decision.templates import differences, node_template
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED

#: A node is a model once it has been ready for so long: before, much about it may still change.
_SETTLING = timedelta(minutes=1)
#: Devices may be announced long after a node is ready: their lack counts only after this time.
_DEVICES = timedelta(minutes=15)
#: How many nodes of a group are compared with its template.
_WITNESSES = 3


@dataclass(frozen=True, kw_only=True)
class Templates:
    """The groups with their templates, and what to remember of these."""

    #: Each group has the template that the decision uses.
    world: World
    memory: TemplateMemory
    #: Differences from provider templates that have not been reported yet.
    learnt: tuple[TemplateDifference, ...]


def choose_templates(world: World, memory: TemplateMemory, policy: Policy, now: datetime) -> Templates:
    """Return every group with the template that its next node is expected to be like.

    That is the template observed on a node that has been ready for a minute, else the last such template that is
    remembered, else the provider template with all differences that were learnt, else the template observed on a node
    in a poor state. Hooks have the last word.
    """
    chooser = _Chooser(world, memory, policy, now)
    groups = tuple(chooser.choose(facts, world.nodes_of(facts.id)) for facts in world.groups)
    return Templates(
        world=replace(world, groups=groups), memory=memory.seen(chooser.known), learnt=tuple(chooser.learnt)
    )


class _Chooser:
    """Chooses for one group after the other, and gathers what to remember."""

    def __init__(self, world: World, memory: TemplateMemory, policy: Policy, now: datetime) -> None:
        self._world = world
        self._memory = memory
        self._policy = policy
        self._settings = policy.settings
        self._now = now
        self.known: dict[str, KnownTemplate] = {}
        self.learnt: list[TemplateDifference] = []

    def choose(self, facts: GroupFacts, nodes: Sequence[Node]) -> GroupFacts:
        """Return *facts* with the template to use, and note what its *nodes* show."""
        provided = None if facts.template is None else node_template.of_provider(facts.template, self._settings)
        models = list(islice(self._models(nodes), _WITNESSES))
        known = self._remember(facts, provided, models)
        if known != KnownTemplate(promised=known.promised):
            self.known[facts.id] = known
        template: NodeTemplate | None
        if known.likeness is not None and models and known.likeness.from_node == models[0].name:
            template = known.likeness
        elif models:
            template = self._observed(models[0])
        elif known.likeness is not None:
            template = known.likeness
        elif provided is not None:
            template = differences.apply(provided, known.differences) if known.differences else provided
        else:
            template = self._observed(nodes[0]) if nodes else None
        if template is not None and provided is not None:
            template = node_template.next_in_zone(template, provided)
        if template is not None:
            template = self._policy.hooks.adjust_template(facts, template)
        return replace(facts, template=template)

    def _models(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """Yield the nodes that are in a state in which the next one will be like them."""
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

    def _observed(self, node: Node) -> NodeTemplate:
        return node_template.of_node(node, self._world.cluster, self._settings)

    def _remember(self, facts: GroupFacts, provided: NodeTemplate | None, models: Sequence[Node]) -> KnownTemplate:
        """Return what to remember of the group.

        When the provider template changes, all is forgotten, and only nodes created since then count.
        """
        fingerprint = node_template.fingerprint(facts.template)
        known = self._memory.templates.get(facts.id) or KnownTemplate(promised=fingerprint)
        if known.promised != fingerprint:
            known = KnownTemplate(promised=fingerprint, promised_since=self._now)
        since = known.promised_since
        witnesses = [node for node in models if since is None or _made_after(node, since)]
        if witnesses:
            found = () if provided is None else self._differences(facts.id, provided, witnesses)
            self.learnt += differences.news(found, known.differences)
            return replace(known, likeness=self._observed(witnesses[0]), gone_since=None, differences=found)
        if known.likeness is None:
            return known
        if known.gone_since is None:
            return replace(known, gone_since=self._now)
        if self._now - known.gone_since > self._settings.templates.cache_time:
            return replace(known, likeness=None, gone_since=None)
        return known

    def _differences(
        self, group: str, provided: NodeTemplate, witnesses: Sequence[Node]
    ) -> tuple[TemplateDifference, ...]:
        observed = [node_template.of_machine(node, self._settings) for node in witnesses]
        patient = any(self._ready_for(node) > _DEVICES for node in witnesses)
        found = differences.find(group, provided, observed)
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
