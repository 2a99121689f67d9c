"""Filter PodTopologySpread: how evenly pods are spread over the domains of a topology key."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, Counts, Labelled, PodClass, Rows, SpreadRule
from nodewright.scheduling.filters import static
from nodewright.scheduling.filters.static import Mask

MISSING_LABEL = Verdict(reason=Reason.SPREAD, detail="missing required label")
REFUSAL = Verdict(reason=Reason.SPREAD)


@dataclass(kw_only=True, slots=True)
class Spread:
    """The present state of one rule."""

    rule: SpreadRule
    #: Domain by row, -1 where the node lacks the label.
    domain: Counts
    #: Selected pods by domain.
    counts: npt.NDArray[np.int64]
    #: Whether a domain has a node that counts.
    counted: Mask
    #: The smallest number of pods in a domain that counts; zero while there are too few domains.
    least: int
    #: Whether the smallest number can rise.
    rises: bool

    @property
    def allowance(self) -> npt.NDArray[np.int64]:
        """How many more selected pods each domain may take before the smallest number rises."""
        return self.least + self.rule.max_skew - self.counts

    def admits(self, rows: Rows) -> Mask:
        """Return for each of *rows* whether the skew allows one more pod there."""
        room = self.counts + self.rule.counts_itself - self.least <= self.rule.max_skew
        # Domain -1 is the last one: a node without the label is refused for that.
        admitted: Mask = np.append(room, False)[self.domain[rows]]
        return admitted


def spreads(cluster: Cluster, pod: PodClass) -> list[Spread]:
    """Return the present state of the hard rules of *pod*."""
    if len(pod.spread) == 1 and _counts_everywhere(pod, pod.spread[0]):
        # The usual case: the same nodes count for all of these pods.
        (rule,) = pod.spread
        return [_stand(cluster, rule, cluster.table.labelled(rule.key))]
    return [_stand(cluster, rule, _counting(cluster, pod, rule)) for rule in pod.spread]


def _counts_everywhere(pod: PodClass, rule: SpreadRule) -> bool:
    selects = rule.honors_affinity and (pod.node_labels or pod.looks_at_names)
    return not selects and not rule.honors_taints


def _counting(cluster: Cluster, pod: PodClass, rule: SpreadRule) -> Labelled:
    """Return the nodes that count for a rule: those with the labels of all rules, less those that the pod excludes."""
    table = cluster.table
    counting: Mask = table.class_of[: table.size] >= 0
    for each in pod.spread:
        counting = counting & (table.domains(each.key).of[: table.size] >= 0)
    if rule.honors_affinity:
        counting = counting & static.affine(cluster, pod)
    if rule.honors_taints:
        counting = counting & static.tolerated(cluster, pod)
    rows = np.flatnonzero(counting)
    domains = table.domains(rule.key)
    domain = domains.of[rows]
    return Labelled(rows=rows, domain=domain, counted=np.bincount(domain, minlength=domains.count) > 0)


def _stand(cluster: Cluster, rule: SpreadRule, counting: Labelled) -> Spread:
    domains = cluster.table.domains(rule.key)
    pods = cluster.tally.total(cluster.pod_classes.selected_by(rule.selection))
    counts = np.bincount(counting.domain, weights=pods[counting.rows], minlength=domains.count).astype(np.int64)
    counted = counting.counted
    enough = int(counted.sum()) >= rule.min_domains
    least = int(counts[counted].min()) if enough else 0
    return Spread(
        rule=rule,
        domain=domains.of[: cluster.table.size],
        counts=counts,
        counted=counted,
        least=least,
        rises=enough,
    )


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why one more *pod* on a node would make the spread uneven, or None."""
    for spread in spreads(cluster, pod):
        if spread.domain[row] < 0:
            return MISSING_LABEL
        if not spread.admits(np.array([row], dtype=np.intp))[0]:
            return REFUSAL
    return None
