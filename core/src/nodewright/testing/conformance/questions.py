"""Questions: what the hooks of a plugin are asked about in its conformance suite."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from nodewright.api import Decision, Estimate, GroupFacts, Node, Option, Outcome, PodSet, Problem
from nodewright.plugins.hookimpls import HOOKS, implementations

_NOW = datetime(2024, 5, 13, 9, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What hooks are asked about."""

    groups: Sequence[GroupFacts] = ()
    pods: Sequence[PodSet] = ()
    nodes: Sequence[Node] = ()
    options: Sequence[Option] = ()

    def with_sets(self, changed: Callable[[Iterable[PodSet]], Sequence[PodSet]]) -> "Questions":
        """The same, about pods of *changed* sets."""
        options = [dataclasses.replace(option, pods=tuple(changed(option.pods))) for option in self.options]
        return dataclasses.replace(self, pods=changed(self.pods), options=options)

    def of(self, plugin: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each hook of *plugin* with what it is given, once for each thing that it is asked about."""
        for hook in HOOKS:
            if hook in hooks_of(plugin):
                for given in self._given(hook):
                    yield hook, self._completed(hook, given)

    def _given(self, hook: str) -> Iterator[Mapping[str, object]]:
        match hook:
            case "adjust_template":
                yield from ({"group": each, "template": each.template} for each in self.groups if each.template)
            case "adjust_estimate":
                for option in self.options:
                    yield {
                        "group": option.group,
                        "pods": option.pods,
                        "estimate": Estimate(nodes=option.nodes, pods=option.pods),
                    }
            case "veto_scale_up":
                yield from ({"option": each} for each in self.options)
            case "veto_scale_down":
                yield from ({"node": node, "group": group} for node in self.nodes for group in self.groups[:1])
            case "on_outcome":
                for ok in (True, False):
                    error = "" if ok else "the cloud did not answer"
                    yield {"outcome": Outcome(at=_NOW, action="grow", target="workers", ok=ok, error=error)}
            case _:
                yield {}

    def _completed(self, hook: str, given: Mapping[str, object]) -> Mapping[str, object]:
        """*given* with all else that the specification of *hook* names."""
        known = {
            "groups": list(self.groups),
            "pods": list(self.pods),
            "nodes": list(self.nodes),
            "options": list(self.options),
            "now": _NOW,
            "decision": Decision(at=_NOW),
            "problems": [Problem(message="no such setting", path="scaleUp.fast")] if self.groups else [],
            "plugin": "another-plugin",
            "where": "adjust_groups",
            "error": "ValueError: no",
        }
        return {name: given.get(name, known.get(name)) for name in HOOKS[hook]}


def hooks_of(plugin: object) -> set[str]:
    """The hooks of *plugin*; none if it has any that can't be called, for which there is a test of its own."""
    try:
        return {each.hook for each in implementations(type(plugin))}
    except ValueError:
        return set()
