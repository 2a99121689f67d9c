"""Rules about which pods may be near which: topology spread, affinity and anti-affinity as strategies see them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nodewright.api.template import NodeTemplate
from nodewright.objects import Pod


class RuleKind(StrEnum):
    """What a rule asks for."""

    #: Domains differ by no more than `PlacementRule.max_skew` selected pods.
    SPREAD = "Spread"
    #: No selected pod in the domain.
    APART = "Apart"
    #: A selected pod in the domain; while there is none anywhere, a pod that is selected itself may be the first.
    TOGETHER = "Together"


@dataclass(frozen=True, kw_only=True)
class PlacementRule:
    """What a pod has to do with other pods in the domains of a topology key."""

    kind: RuleKind
    #: The topology key: a node label, whose values are the domains.
    key: str
    #: Whether the rule speaks of pods like this one.
    selects: Callable[[Pod], bool]
    #: Selected pods by domain; those of spread only in domains with a node that counts, and in all of these.
    counts: Mapping[str, int] = field(default_factory=dict)
    #: Of spread: how much more a domain may have than the one with fewest.
    max_skew: int = 1
    #: Of spread: in fewer domains than these, the fewest are taken to be zero.
    min_domains: int = 1
    #: Of spread: whether a new node would count.
    covers: Callable[[NodeTemplate], bool] = lambda template: True
