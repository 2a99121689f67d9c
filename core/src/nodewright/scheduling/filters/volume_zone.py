"""Filter VolumeZone: a volume with zone or region labels can be used on nodes there."""

from collections.abc import Mapping

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.scheduling.filters.static import Mask, allowed_by_labels

REFUSAL = Verdict(reason=Reason.VOLUME_ZONE)
#: The new label for each deprecated one.
_SUCCESSORS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
_PLACES = (*_SUCCESSORS, *_SUCCESSORS.values())
_SEPARATOR = "__"

#: A label and its allowed values.
_Rule = tuple[str, frozenset[str]]


def prefilter(cluster: Cluster, pod: PodClass) -> Verdict | None:
    """Return why *pod* can't run anywhere, because a volume of its claims does not exist. None if all exist."""
    for name in _volume_names(cluster, pod):
        if name not in cluster.storage.volumes:
            return Verdict(reason=Reason.VOLUME_CLAIM, detail=f'persistentvolume "{name}" not found')
    return None


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why the places of the pod's volumes keep it off a node, or None."""
    return None if _all_hold(_rules(cluster, pod), cluster.table.marks(row).labels) else REFUSAL


def allowed(cluster: Cluster, pod: PodClass, mask: Mask) -> Mask:
    """Return *mask* without the rows that the places of the pod's volumes keep it off."""
    rules = _rules(cluster, pod)
    return allowed_by_labels(cluster, mask, _PLACES, lambda labels: _all_hold(rules, labels)) if rules else mask


def _volume_names(cluster: Cluster, pod: PodClass) -> list[str]:
    """Names of the volumes behind the claims that the pod names; those of ephemeral volumes are not looked at."""
    claims = cluster.storage.claims
    keys = (key for name, key in zip(pod.claims, pod.claim_keys, strict=True) if name in pod.named_claims)
    names = (claims[key].spec.volume_name for key in keys if key in claims)
    return [name for name in names if name]


def _rules(cluster: Cluster, pod: PodClass) -> list[_Rule]:
    volumes = (cluster.storage.volumes.get(name) for name in _volume_names(cluster, pod))
    rules = []
    for volume in volumes:
        labels = volume.metadata.labels if volume is not None else {}
        for key in _PLACES:
            places = [place.strip() for place in labels.get(key, "").split(_SEPARATOR)]
            # A value that is not a list of places counts as no label.
            if all(places):
                rules.append((key, frozenset(places)))
    return rules


def _all_hold(rules: list[_Rule], labels: Mapping[str, str]) -> bool:
    # A node without any label of a place suits every volume.
    if not rules or not any(key in labels for key in _PLACES):
        return True
    return all(labels.get(key, labels.get(_SUCCESSORS.get(key, key))) in places for key, places in rules)
