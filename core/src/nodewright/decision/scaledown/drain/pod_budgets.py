"""Pod disruption budgets: which ones cover a pod, and what removable nodes leave of them."""

from collections.abc import Iterable, Mapping, Sequence

from nodewright.cluster import PodRow
from nodewright.cluster.pod_class import TELLING_LABELS, PodClass
from nodewright.objects import PodDisruptionBudget

_Label = tuple[str, str, str]


class PodBudgets:
    """The budgets of one loop. Which of them cover a pod class is looked up once."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._left: dict[str, int] = {}
        #: Budgets by namespace and one label that their pods must have; those that need none, by namespace.
        self._by_label: dict[_Label, list[PodDisruptionBudget]] = {}
        self._by_namespace: dict[str, list[PodDisruptionBudget]] = {}
        #: Namespaces with a budget that looks at labels that pod classes ignore.
        self._telling: set[str] = set()
        self._covering: dict[PodClass, tuple[str, ...]] = {}
        self._covered: dict[str, list[PodClass]] = {}
        for budget in budgets:
            self._add(budget)

    def __bool__(self) -> bool:
        return bool(self._left)

    def of(self, row: PodRow) -> tuple[str, ...]:
        """Return the keys of the budgets that cover the pod."""
        if not self._left:
            return ()
        if self.is_distinct(row):
            return self._look_up({**row.pod_class.pod.metadata.labels, **dict(row.telling)}, row.pod_class.namespace)
        covering = self._covering.get(row.pod_class)
        return self._cover(row.pod_class) if covering is None else covering

    def is_distinct(self, row: PodRow) -> bool:
        """Tell whether budgets may cover the pod but not others of its class."""
        return bool(self._telling and row.telling and row.pod_class.namespace in self._telling)

    def spent(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Return the budgets with nothing left."""
        return tuple(key for key in keys if self._left[key] < 1)

    def claims(self, rows: Sequence[PodRow]) -> dict[str, int]:
        """Return how many disruptions these pods need from each budget that covers any of them."""
        claims: dict[str, int] = {}
        covering = {} if self._telling else self._covering
        for row in rows:
            keys = covering.get(row.pod_class)
            for key in self.of(row) if keys is None else keys:
                claims[key] = claims.get(key, 0) + 1
        return claims

    def suffice(self, claims: Mapping[str, int]) -> bool:
        """Tell whether all these disruptions may happen at the same time."""
        left = self._left
        for key, number in claims.items():  # noqa: SIM110  a generator would cost more than the comparison
            if number > left[key]:
                return False
        return True

    def spend(self, claims: Mapping[str, int]) -> set[PodClass]:
        """Take these disruptions away, and return the pod classes for which nothing is left now."""
        stuck: set[PodClass] = set()
        for key, number in claims.items():
            was = self._left[key]
            self._left[key] = was - number
            if was > 0 >= was - number:
                stuck.update(self._covered.get(key, ()))
        return stuck

    def _cover(self, pod_class: PodClass) -> tuple[str, ...]:
        covering = self._covering[pod_class] = self._look_up(pod_class.pod.metadata.labels, pod_class.namespace)
        for key in covering:
            self._covered.setdefault(key, []).append(pod_class)
        return covering

    def _look_up(self, labels: dict[str, str], namespace: str) -> tuple[str, ...]:
        near = [*self._by_namespace.get(namespace, ())]
        for key, value in labels.items():
            near += self._by_label.get((namespace, key, value), ())
        return tuple(
            each.metadata.key for each in near if each.spec.selector is not None and each.spec.selector.matches(labels)
        )

    def _add(self, budget: PodDisruptionBudget) -> None:
        namespace, selector = budget.metadata.namespace, budget.spec.selector
        self._left[budget.metadata.key] = budget.status.disruptions_allowed
        if selector is None:
            return
        looked = [*selector.match_labels, *(line.key for line in selector.match_expressions)]
        if not TELLING_LABELS.isdisjoint(looked):
            self._telling.add(namespace)
        label = next(iter(selector.match_labels.items()), None)
        if label is None:
            self._by_namespace.setdefault(namespace, []).append(budget)
        else:
            self._by_label.setdefault((namespace, *label), []).append(budget)
