"""Converts spread, affinity and anti-affinity of pods into cells and numeric rules."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from nodewright.api import NodeTemplate, Option, PlacementRule, PodSet, RuleKind, Simulation

from nodewright_least_cost.places import HOSTNAME, is_at_odds
from nodewright_least_cost.rules import Apart, Domain, Spread, Together

#: A set, by number, and the values of the labels that tell its cells apart.
_Cell = tuple[int, Mapping[str, str | None]]


class Neighbourhood:
    """The rules between pods of several sets on nodes of several options."""

    def __init__(self, sets: Sequence[PodSet], options: Sequence[Option], simulation: Simulation) -> None:
        self._sets = sets
        self._options = options
        #: The rules of each set.
        self.rules = [list(simulation.rules(same)) for same in sets]
        self._labels = [option.group.template.labels if option.group.template else {} for option in options]
        self._cells: list[_Cell] = []
        self._numbers: dict[tuple[int, tuple[str | None, ...]], int] = {}
        #: The cell of each set, by option.
        self.cells_of = [tuple(self._cell(index, labels) for index in range(len(sets))) for labels in self._labels]

    @property
    def set_of(self) -> tuple[int, ...]:
        """The set of each cell."""
        return tuple(index for index, _ in self._cells)

    @cached_property
    def foes(self) -> tuple[frozenset[int], ...]:
        """For each set, the sets that can't share a node with it; empty if all can."""
        numbers = range(len(self._sets))
        pods = [same.pod for same in self._sets]
        odds = {
            (one, other)
            for one in numbers
            for other in numbers
            if one != other and is_at_odds(pods[one], pods[other], self.rules[one])
        }
        if not odds:
            return ()
        return tuple(
            frozenset(other for other in numbers if (one, other) in odds or (other, one) in odds) for one in numbers
        )

    @cached_property
    def huddled(self) -> frozenset[int]:
        """The sets all of whose pods have to be on one node."""
        return frozenset(
            index
            for index, rules in enumerate(self.rules)
            if any(rule.kind is RuleKind.TOGETHER and rule.key == HOSTNAME and not rule.counts for rule in rules)
        )

    def numbered(self) -> tuple[Spread | Apart | Together, ...]:
        """Return the rules about domains that are larger than nodes."""
        found: list[Spread | Apart | Together] = []
        for index, rule in self._wide:
            domains = tuple(self._domain(index, rule, value) for value in self._values(index, rule))
            if not any(each.own for each in domains):
                continue
            if rule.kind is RuleKind.SPREAD:
                found.append(Spread(domains=domains, skew=rule.max_skew, min_domains=rule.min_domains))
            else:
                found.append((Apart if rule.kind is RuleKind.APART else Together)(domains=domains))
        return tuple(dict.fromkeys(found))

    @cached_property
    def _wide(self) -> list[tuple[int, PlacementRule]]:
        """The rules between pods of the plan about domains larger than nodes, each with its set."""
        return [
            (index, rule)
            for index, rules in enumerate(self.rules)
            for rule in rules
            if rule.key != HOSTNAME and self._binds(rule)
        ]

    def _binds(self, rule: PlacementRule) -> bool:
        if rule.kind is RuleKind.TOGETHER:
            # Any number of pods may join selected pods that are already running.
            return not rule.counts
        return rule.kind is RuleKind.SPREAD or any(rule.selects(same.pod) for same in self._sets)

    @cached_property
    def _keys(self) -> list[list[str]]:
        """The labels that tell the cells of each set apart."""
        keys: list[dict[str, None]] = [{} for _ in self._sets]
        for index, rule in self._wide:
            keys[index][rule.key] = None
            for other, same in enumerate(self._sets):
                if rule.selects(same.pod):
                    keys[other][rule.key] = None
        return [sorted(each) for each in keys]

    def _cell(self, index: int, labels: Mapping[str, str]) -> int:
        values = {key: labels.get(key) for key in self._keys[index]}
        number = self._numbers.setdefault((index, tuple(values.values())), len(self._cells))
        if number == len(self._cells):
            self._cells.append((index, values))
        return number

    def _values(self, index: int, rule: PlacementRule) -> list[str]:
        offered = (labels.get(rule.key) for labels in self._labels)
        return list(dict.fromkeys([*rule.counts, *(value for value in offered if value is not None)]))

    def _domain(self, index: int, rule: PlacementRule, value: str) -> Domain:
        here = [(number, owner) for number, (owner, values) in enumerate(self._cells) if values.get(rule.key) == value]
        return Domain(
            count=rule.counts.get(value, 0),
            counts=value in rule.counts,
            offers=tuple(
                number
                for number, labels in enumerate(self._labels)
                if labels.get(rule.key) == value and self._covers(rule, self._options[number].group.template)
            ),
            own=tuple(number for number, owner in here if owner == index),
            selected=tuple(number for number, owner in here if rule.selects(self._sets[owner].pod)),
        )

    @staticmethod
    def _covers(rule: PlacementRule, template: NodeTemplate | None) -> bool:
        return template is not None and rule.covers(template)
