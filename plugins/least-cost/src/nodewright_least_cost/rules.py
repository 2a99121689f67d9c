"""Spread, affinity and anti-affinity as numeric rules about how many pods are in each cell."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from nodewright_least_cost.model import Model


@dataclass(frozen=True, kw_only=True)
class Domain:
    """One domain of a rule's topology key."""

    #: Selected pods that are running in it.
    count: int = 0
    #: Whether it counts now; otherwise it does once a node of one of the offers is bought.
    counts: bool = False
    offers: tuple[int, ...] = ()
    #: Cells of the pods that have the rule.
    own: tuple[int, ...] = ()
    #: Cells of the pods that the rule selects.
    selected: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Variables:
    """The variables of a program that rules are about."""

    #: Pods in each cell.
    pods: Sequence[int]
    #: Nodes of each offer.
    nodes: Sequence[int]
    #: Upper bounds of both.
    most_pods: Sequence[int]
    most_nodes: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A domain with pods that have the rule has at most *skew* more selected pods than the domain with the fewest."""

    domains: tuple[Domain, ...]
    skew: int
    min_domains: int = 1

    def holds(self, served: Sequence[int], bought: Container[int]) -> bool:
        """Tell whether the cells may have that many pods if nodes of these offers are bought."""
        levels = [each.count + _sum(served, each.selected) for each in self.domains]
        counted = [
            level
            for level, each in zip(levels, self.domains, strict=True)
            if each.counts or any(offer in bought for offer in each.offers)
        ]
        least = min(counted, default=0) if len(counted) >= self.min_domains else 0
        return all(
            level - least <= self.skew
            for level, each in zip(levels, self.domains, strict=True)
            if _sum(served, each.own)
        )

    def level(self, cell: int, served: Sequence[int]) -> int:
        """Return how many pods are in the domain of *cell* if its pods have the rule; else 0."""
        return next((each.count + _sum(served, each.selected) for each in self.domains if cell in each.own), 0)

    def constrain(self, model: Model, variables: Variables) -> None:
        """Add rows that keep the rule; `level` is a variable that is at most the pods of any domain that counts."""
        highest = max(each.count + _sum(variables.most_pods, each.selected) for each in self.domains)
        level = model.variable(upper=highest, whole=True)
        counted = sum(each.counts for each in self.domains)
        fresh = []
        for each in self.domains:
            entries = [(level, 1.0), *((variables.pods[cell], -1.0) for cell in each.selected)]
            if each.counts:
                model.row(entries, upper=each.count)
            elif each.offers:
                fresh.append(opened := model.variable(upper=1, whole=True))
                for offer in each.offers:
                    model.row([(variables.nodes[offer], 1.0), (opened, -float(variables.most_nodes[offer]))], upper=0)
                model.row([*entries, (opened, float(highest))], upper=each.count + highest)
        if counted < self.min_domains:
            enough = model.variable(upper=1, whole=True)
            model.row([(level, 1.0), (enough, -float(highest))], upper=0)
            model.row([(enough, float(self.min_domains)), *((each, -1.0) for each in fresh)], upper=counted)
        least = 0 if fresh or counted < self.min_domains else min(each.count for each in self.domains if each.counts)
        for each in filter(lambda domain: domain.own, self.domains):
            entries = [*((variables.pods[cell], 1.0) for cell in each.selected), (level, -1.0)]
            slack = 0
            if each.count - least > self.skew:
                # It already has too many, unless the others get more: otherwise none of these pods may join.
                slack = each.count + _sum(variables.most_pods, each.selected) - self.skew
                present = _presence(model, variables, each.own)
                entries.append((present, float(slack)))
            model.row(entries, upper=self.skew - each.count + slack)


@dataclass(frozen=True, kw_only=True)
class Apart:
    """No domain has both a pod that has the rule and another that the rule selects."""

    domains: tuple[Domain, ...]

    def holds(self, served: Sequence[int], bought: Container[int]) -> bool:
        """Tell whether the cells may have that many pods."""
        return all(
            _sum(served, each.selected) + (0 if served[cell] and cell in each.selected else 1) <= 1
            for each in self.domains
            for cell in each.own
            if served[cell]
        )

    def constrain(self, model: Model, variables: Variables) -> None:
        """Add rows that keep the rule."""
        for each in self.domains:
            for cell in each.own:
                others = [other for other in each.selected if other != cell]
                if cell in each.selected:
                    model.row([(variables.pods[cell], 1.0)], upper=1)
                if others:
                    here = _presence(model, variables, (cell,))
                    there = _presence(model, variables, others)
                    model.row([(here, 1.0), (there, 1.0)], upper=1)


@dataclass(frozen=True, kw_only=True)
class Together:
    """Only one domain has pods that have the rule."""

    domains: tuple[Domain, ...]

    def holds(self, served: Sequence[int], bought: Container[int]) -> bool:
        """Tell whether the cells may have that many pods."""
        return sum(_sum(served, each.own) > 0 for each in self.domains) <= 1

    def constrain(self, model: Model, variables: Variables) -> None:
        """Add rows that keep the rule."""
        present = [_presence(model, variables, each.own) for each in self.domains]
        model.row([(each, 1.0) for each in present], upper=1)


def _presence(model: Model, variables: Variables, cells: Sequence[int]) -> int:
    """Add a variable that is one if any pod is in *cells*."""
    present = model.variable(upper=1, whole=True)
    for cell in cells:
        model.row([(variables.pods[cell], 1.0), (present, -float(variables.most_pods[cell]))], upper=0)
    return present


def _sum(amounts: Sequence[int], cells: Sequence[int]) -> int:
    return sum(amounts[cell] for cell in cells)
