"""The rules of a pod class about its neighbours, as they stand now, for those who plan many pods at once."""

import numpy as np
import numpy.typing as npt

from nodewright.api.simulation import PlacementRule, RuleKind
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster, PodClass, Term
from nodewright.objects import Pod
from nodewright.scheduling.filters import node_affinity, pod_topology_spread, taint_toleration
from nodewright.scheduling.filters.pod_topology_spread import Spread


def rules(cluster: Cluster, pod: PodClass) -> list[PlacementRule]:
    """Return the hard rules of *pod*: spread first, then anti-affinity, then affinity."""
    spreads = [_spread(cluster, pod, spread) for spread in pod_topology_spread.spreads(cluster, pod)]
    apart = [_near(cluster, RuleKind.APART, term, [term]) for term in pod.anti_affinity]
    # Only pods that match all terms count, for each of them.
    return spreads + apart + [_near(cluster, RuleKind.TOGETHER, term, pod.affinity) for term in pod.affinity]


def _spread(cluster: Cluster, pod: PodClass, spread: Spread) -> PlacementRule:
    rule = spread.rule

    def selects(other: Pod) -> bool:
        return cluster.pod_classes.of(other).matched_by(rule.selection)

    def covers(template: NodeTemplate) -> bool:
        if rule.honors_affinity and node_affinity.check(pod, "", template.labels) is not None:
            return False
        return not rule.honors_taints or taint_toleration.check(pod, template.taints) is None

    return PlacementRule(
        kind=RuleKind.SPREAD,
        key=rule.key,
        selects=selects,
        counts=_by_value(cluster, rule.key, spread.counts, spread.counted),
        max_skew=rule.max_skew,
        min_domains=rule.min_domains,
        covers=covers,
    )


def _near(cluster: Cluster, kind: RuleKind, term: Term, terms: "tuple[Term, ...] | list[Term]") -> PlacementRule:
    def selects(other: Pod) -> bool:
        found = cluster.pod_classes.of(other)
        return all(found.matched_by(each.selection) for each in terms)

    classes = cluster.pod_classes.selected_by(terms[0].selection)
    pods = cluster.tally.total(
        [other for other in classes if all(other.matched_by(each.selection) for each in terms[1:])]
    )
    domains = cluster.table.domains(term.key)
    size = cluster.table.size
    rows = np.flatnonzero((pods[:size] > 0) & (domains.of[:size] >= 0))
    counts = np.bincount(domains.of[rows], weights=pods[rows], minlength=domains.count).astype(np.int64)
    return PlacementRule(kind=kind, key=term.key, selects=selects, counts=_by_value(cluster, term.key, counts, counts))


def _by_value(
    cluster: Cluster, key: str, counts: npt.NDArray[np.int64], where: npt.NDArray[np.int64 | np.bool_]
) -> dict[str, int]:
    values = list(cluster.table.domains(key).values)
    return {values[domain]: int(counts[domain]) for domain in np.flatnonzero(where).tolist()}
