"""Balancing: which groups are similar, and how growth is spread over them."""

from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster
from nodewright.config.model import Balancing
from nodewright.objects import Resources
from nodewright.scheduling.blank_node import blank_node

#: Labels that may differ between similar groups, in any cloud.
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
#: Resources that are compared even if no pod requests them.
_ALWAYS_COMPARED = ("cpu", "memory", "ephemeral-storage")


def spread(count: int, groups: Sequence[GroupFacts], may_grow: Callable[[GroupFacts], bool]) -> dict[str, int]:
    """Return how many of *count* nodes each of *groups* gets: each node goes to the group that is smallest by then.

    A group grows while it has room and *may_grow*, which is called before each node and counts it, says so. Among
    equals, the first one in *groups* wins. What one group can't take goes to the others.
    """
    by_size = sorted(groups, key=lambda facts: facts.target_size)
    queue = [(facts.target_size, index) for index, facts in enumerate(by_size)]
    heapify(queue)
    shares: dict[str, int] = {}
    while count and queue:
        size, index = heappop(queue)
        facts = by_size[index]
        if size < facts.target_size + facts.room and may_grow(facts):
            shares[facts.id] = shares.get(facts.id, 0) + 1
            count -= 1
            heappush(queue, (size + 1, index))
    return shares


class Similarity:
    """Compares the new nodes of groups by the rules of one configuration. For one decision."""

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
        """Return those of *others* that are similar to *facts*. All must have templates."""
        return tuple(other for other in others if other.id != facts.id and self._is_similar(facts, other))

    def _is_similar(self, one: GroupFacts, other: GroupFacts) -> bool:
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
        return self._compared_labels(one, other) == self._compared_labels(other, one)

    def _compared_labels(self, facts: GroupFacts, other: GroupFacts) -> dict[str, str]:
        assert facts.template is not None
        ignored = self._ignored.get(facts.provider, self._ignored_by_all) | self._ignored.get(
            other.provider, self._ignored_by_all
        )
        return {name: value for name, value in facts.template.labels.items() if name not in ignored}

    def _same_capacity(self, one: Resources, other: Resources) -> bool:
        if one.keys() != other.keys():
            return False
        return all(
            _is_close(amount, other[name], self._settings.memory_difference_ratio)
            if name == "memory"
            else amount == other[name]
            for name, amount in one.items()
        )

    def _free_of(self, facts: GroupFacts) -> Resources:
        """Return what the pods that come with a new node leave of the resources that they request."""
        known = self._free.get(facts.id)
        if known is None:
            blank = blank_node(self._cluster, facts)
            requested = dict.fromkeys(_ALWAYS_COMPARED, 0)
            for companion in blank.companions:
                for name, amount in companion.requests.items():
                    if amount and name != "pods":
                        requested[name] = requested.get(name, 0) + amount
            known = {name: blank.allocatable.get(name, 0) - amount for name, amount in requested.items()}
            self._free[facts.id] = known
        return known


def _equal_labels(one: NodeTemplate, other: NodeTemplate, names: Sequence[str]) -> bool:
    return all(name in one.labels and one.labels[name] == other.labels.get(name) for name in names)


def _within(one: Resources, other: Resources, ratio: float) -> bool:
    return one.keys() == other.keys() and all(_is_close(amount, other[name], ratio) for name, amount in one.items())


def _is_close(one: int, other: int, ratio: float) -> bool:
    larger, smaller = max(one, other), min(one, other)
    return larger - smaller <= larger * ratio
