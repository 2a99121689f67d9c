"""Rules about which pods may be near each other, as strategies see them: spread, affinity and anti-affinity."""

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
    """What a pod requires of other pods in the domains of a topology key."""

    kind: RuleKind
    #: The topology key: a node label, whose values are the domains.
    key: str
    #: Whether the rule is about pods like this one.
    selects: Callable[[Pod], bool]
    #: Selected pods by domain. For spread: every domain with a node that counts is in it, and no other.
    counts: Mapping[str, int] = field(default_factory=dict)
    #: For spread: how many more a domain may have than the one with fewest.
    max_skew: int = 1
    #: For spread: with fewer domains than these, the fewest count as zero.
    min_domains: int = 1
    #: For spread: whether a new node would count.
    covers: Callable[[NodeTemplate], bool] = lambda template: True
