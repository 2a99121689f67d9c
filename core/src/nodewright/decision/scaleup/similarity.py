"""Similarity: which groups are alike, so that growth may be spread over them."""

from collections.abc import Mapping, Sequence

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster
from nodewright.config.model import Balancing
from nodewright.objects import Resources
from nodewright.scheduling.blank_node import blank_node

#: Labels that differ between groups that are alike, in any cloud.
_IGNORED = frozenset(
    [
        "kubernetes.io/hostname",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "beta.kubernetes.io/fluentd-ds-ready",
        "kops.k8s.io/instancegroup",
    ]
)
#: What counts as asked for even if nobody does.
_ALWAYS_ASKED = ("cpu", "memory", "ephemeral-storage")


class Similarity:
    """Compares the new nodes of groups, by the rules of one configuration. Holds for one decision."""

    def __init__(
        self, cluster: Cluster, settings: Balancing, ignored_by_provider: Mapping[str, frozenset[str]]
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._ignored = {
            name: _IGNORED.union(settings.ignore_labels, more) for name, more in ignored_by_provider.items()
        }
        self._ignored_by_all = _IGNORED.union(settings.ignore_labels)
        self._known: dict[frozenset[str], bool] = {}
        self._free: dict[str, Resources] = {}

    def among(self, facts: GroupFacts, others: Sequence[GroupFacts]) -> tuple[GroupFacts, ...]:
        """Return those of *others* that are like *facts*; all must have templates."""
        return tuple(other for other in others if other.id != facts.id and self._alike(facts, other))

    def _alike(self, one: GroupFacts, other: GroupFacts) -> bool:
        pair = frozenset([one.id, other.id])
        known = self._known.get(pair)
        if known is None:
            known = self._known[pair] = self._compare(one, other)
        return known

    def _compare(self, one: GroupFacts, other: GroupFacts) -> bool:
        if one.options.zero_or_max_node_scaling or other.options.zero_or_max_node_scaling:
            return False
        assert one.template is not None
        assert other.template is not None
        if self._settings.labels:
            return _equal_labels(one.template, other.template, self._settings.labels)
        return (
            self._same_labels(one, other)
            and self._same_capacity(one.template.capacity, other.template.capacity)
            and _within(
                one.template.allocatable,
                other.template.allocatable,
                self._settings.max_allocatable_difference_ratio,
            )
            and _within(self._free_of(one), self._free_of(other), self._settings.max_free_difference_ratio)
        )

    def _same_labels(self, one: GroupFacts, other: GroupFacts) -> bool:
        return self._telling(one, other) == self._telling(other, one)

    def _telling(self, facts: GroupFacts, other: GroupFacts) -> dict[str, str]:
        assert facts.template is not None
        ignored = self._ignored.get(facts.provider, self._ignored_by_all) | self._ignored.get(
            other.provider, self._ignored_by_all
        )
        return {name: value for name, value in facts.template.labels.items() if name not in ignored}

    def _same_capacity(self, one: Resources, other: Resources) -> bool:
        if one.keys() != other.keys():
            return False
        return all(
            _close(amount, other[name], self._settings.memory_difference_ratio)
            if name == "memory"
            else amount == other[name]
            for name, amount in one.items()
        )

    def _free_of(self, facts: GroupFacts) -> Resources:
        """Return what is left of a new node's resources that the pods which come with it ask for."""
        known = self._free.get(facts.id)
        if known is None:
            blank = blank_node(self._cluster, facts)
            asked = dict.fromkeys(_ALWAYS_ASKED, 0)
            for companion in blank.companions:
                for name, amount in companion.requests.items():
                    if amount and name != "pods":
                        asked[name] = asked.get(name, 0) + amount
            known = {name: blank.allocatable.get(name, 0) - amount for name, amount in asked.items()}
            self._free[facts.id] = known
        return known


def _equal_labels(one: NodeTemplate, other: NodeTemplate, names: Sequence[str]) -> bool:
    return all(name in one.labels and one.labels[name] == other.labels.get(name) for name in names)


def _within(one: Resources, other: Resources, ratio: float) -> bool:
    return one.keys() == other.keys() and all(_close(amount, other[name], ratio) for name, amount in one.items())


def _close(one: int, other: int, ratio: float) -> bool:
    larger, smaller = max(one, other), min(one, other)
    return larger - smaller <= larger * ratio
