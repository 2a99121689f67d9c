"""Expander ``price``: the option that pays least for what its pods are worth, on nodes of a sensible size."""

from collections.abc import Sequence
from datetime import timedelta
from math import inf, tanh

import msgspec

from nodewright.api import Expander, ExpanderContext, NodeTemplate, Option, Pod

_HOUR = timedelta(hours=1)
#: Its price is added to both sides of the ratio of prices, so that small sums do not make for large ratios.
STABILIZER = msgspec.convert(
    {
        "metadata": {"name": "stabilize", "namespace": "kube-system"},
        "spec": {"containers": [{"resources": {"requests": {"cpu": "500m", "memory": "500Mi"}}}]},
    },
    Pod,
)
#: For clusters of up to so many nodes, the CPUs of the preferred node.
_PREFERRED_CPUS = ((2, 1), (6, 2), (20, 4), (60, 8), (200, 16))
_PREFERRED_CPUS_BEYOND = 32
#: The preference for a size fades over so many nodes.
_FADING = 15.0
_GPU_UNFITNESS = 1000.0
_NEW_GROUP_FACTOR = 2.0


class Price(Expander):
    """Keeps the options with the lowest price of nodes against the price of pods, weighed by how well nodes fit.

    Options without a price take part only if no option has one; all of them are kept then.
    """

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the options with the lowest score."""
        scores = [_score(option, context) for option in options]
        known = [score for score in scores if score is not None]
        if not known:
            context.notice("NoPrices", "the price expander keeps all options: no group that could grow has a price")
            return options
        lowest = min(known)
        return [option for option, score in zip(options, scores, strict=True) if score == lowest]


def _score(option: Option, context: ExpanderContext) -> float | None:
    """Return the option's score, the lower the better; None if a price is missing."""
    prices = _prices(option, context)
    template = option.group.template
    if prices is None or template is None:
        return None
    nodes, pods, stabilizer = prices
    score = _unfitness(template, option.nodes, context.cluster_size) * (nodes + stabilizer) / (pods + stabilizer)
    return score if option.group.exists else score * _NEW_GROUP_FACTOR


def _prices(option: Option, context: ExpanderContext) -> tuple[float, float, float] | None:
    """Return what the option's nodes, its pods and the stabilizing pod cost in an hour; None if a price is unknown."""
    pricing = context.pricing.get(option.group.provider)
    if pricing is None or option.group.hourly_price is None:
        return None
    end = context.now + _HOUR
    total = 0.0
    for pods in option.pods:
        price = pricing.pod_price(pods.pod, context.now, end)
        if price is None:
            return None
        total += price * len(pods)
    return option.group.hourly_price * option.nodes, total, pricing.pod_price(STABILIZER, context.now, end) or 0.0


def _unfitness(template: NodeTemplate, nodes: int, cluster_size: int) -> float:
    """Return 1 for nodes of the preferred size and more for others; the more nodes are bought, the less it differs."""
    if _has_gpu(template):
        # Pods that need no GPU should go elsewhere, however well the nodes' cpus fit.
        return _GPU_UNFITNESS
    cpu, preferred = template.capacity.get("cpu", 0), preferred_cpus(cluster_size) * 1000
    if not cpu:
        return inf
    unfitness = max(preferred / cpu, cpu / preferred)
    return (unfitness - 1) * (1 - tanh((nodes - 1) / _FADING)) + 1


def preferred_cpus(cluster_size: int) -> int:
    """Return how many CPUs a new node should have in a cluster of *cluster_size* nodes."""
    return next((cpus for size, cpus in _PREFERRED_CPUS if cluster_size <= size), _PREFERRED_CPUS_BEYOND)


def _has_gpu(template: NodeTemplate) -> bool:
    return any(amount and name.endswith("/gpu") for name, amount in template.capacity.items())
