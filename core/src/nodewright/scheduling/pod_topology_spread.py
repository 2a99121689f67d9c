"""Filter PodTopologySpread: how evenly pods are spread over the domains of a topology key."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, Counts, PodClass, Rows, SpreadRule
from nodewright.scheduling import static
from nodewright.scheduling.static import Mask

MISSING_LABEL = Verdict(reason=Reason.SPREAD, detail="missing required label")
REFUSAL = Verdict(reason=Reason.SPREAD)


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One rule as it stands now."""

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
        """Tell for each of *rows* whether one more pod there keeps the skew small enough."""
        room = self.counts + self.rule.counts_itself - self.least <= self.rule.max_skew
        # Domain -1 is the last one: a node without the label is refused for that.
        admitted: Mask = np.append(room, False)[self.domain[rows]]
        return admitted


def spreads(cluster: Cluster, pod: PodClass) -> list[Spread]:
    """Return the hard rules of *pod* as they stand now."""
    if not pod.spread:
        return []
    table = cluster.table
    domains = [table.domains(rule.key) for rule in pod.spread]
    present: Mask = table.class_of[: table.size] >= 0
    for each in domains:
        present = present & (each.of[: table.size] >= 0)
    return [
        _stand(cluster, pod, rule, each.of[: table.size], each.count, present)
        for rule, each in zip(pod.spread, domains, strict=True)
    ]


def _stand(cluster: Cluster, pod: PodClass, rule: SpreadRule, domain: Counts, count: int, labelled: Mask) -> Spread:
    counting = labelled
    if rule.honors_affinity:
        counting = counting & static.affine(cluster, pod)
    if rule.honors_taints:
        counting = counting & static.tolerated(cluster, pod)
    rows = np.flatnonzero(counting)
    pods = cluster.tally.total(cluster.pod_classes.selected_by(rule.selection))
    counts = np.bincount(domain[rows], weights=pods[rows], minlength=count).astype(np.int64)
    counted = np.bincount(domain[rows], minlength=count) > 0
    enough = int(counted.sum()) >= rule.min_domains
    least = int(counts[counted].min()) if enough else 0
    return Spread(rule=rule, domain=domain, counts=counts, counted=counted, least=least, rises=enough)


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why one more *pod* on a node would make the spread uneven, or None."""
    for spread in spreads(cluster, pod):
        if spread.domain[row] < 0:
            return MISSING_LABEL
        if not spread.admits(np.array([row], dtype=np.intp))[0]:
            return REFUSAL
    return None
