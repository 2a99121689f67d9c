"""Plugins that do all that plugins may, each by names and numbers alone, so that decisions stay the same."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import ClassVar

from nodewright.api import (
    DrainContext,
    DrainRule,
    Expander,
    ExpanderContext,
    GroupFacts,
    Node,
    NodeTemplate,
    Option,
    Plugin,
    Pod,
    PodFate,
    PodSet,
    ProcessorContext,
    ScaleDownCandidatesProcessor,
    hookimpl,
)


class Asking(Expander):
    """As if somebody outside was asked: keeps all but the last option, and fails for groups that end with a 3."""

    asks_outside: ClassVar[bool] = True

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        if options[-1].group.id.endswith("3"):
            raise ValueError("nobody answers")
        context.notice("Asked", f"about {len(options)} options", warning=False)
        return options[: max(1, len(options) - 1)]


class Sparing(ScaleDownCandidatesProcessor):
    """Takes every node off the list whose name ends with a 4, and turns the others round."""

    def process(self, nodes: Sequence[Node], context: ProcessorContext) -> Sequence[Node]:
        return [node for node in reversed(nodes) if not node.name.endswith("4")]


class Ruling(DrainRule):
    """Keeps a pod in ten where it is, and fails for another."""

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | str | None:
        if pod.metadata.name.endswith("7"):
            raise ValueError("nobody knows about a seven")
        return "it is an eight" if pod.metadata.name.endswith("8") else None


class Meddling(Plugin):
    """Changes and refuses a little of everything."""

    @hookimpl
    def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts]:
        return [
            replace(facts, max_size=max(facts.target_size, facts.max_size - 1)) if facts.id.endswith("1") else facts
            for facts in groups
        ]

    @hookimpl
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        return replace(template, labels={**template.labels, "meddled": "yes"}) if group.id.endswith("0") else None

    @hookimpl
    def adjust_pending_pods(self, pods: Sequence[PodSet], now: datetime) -> Sequence[PodSet]:
        return [each for each in pods if each.pod.metadata.labels.get("version") != "1"]

    @hookimpl
    def adjust_options(self, options: Sequence[Option]) -> Sequence[Option]:
        return [option for option in options if option.nodes < 6]

    @hookimpl
    def veto_scale_up(self, option: Option) -> str | None:
        return "two are one too many" if option.group.id.endswith("2") else None

    @hookimpl
    def adjust_candidates(self, nodes: Sequence[Node], now: datetime) -> Sequence[Node]:
        return [node for node in nodes if not node.name.endswith("n1")]

    @hookimpl
    def veto_scale_down(self, node: Node, group: GroupFacts) -> str | None:
        if node.name.endswith("n3"):
            raise ValueError("nobody knows")
        return "it is the second" if node.name.endswith("n2") else None
