"""The annotations of pods that decisions read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from nodewright.api.protection import KARPENTER_DO_NOT_DISRUPT
from nodewright.objects.pod import DELETION_COST

#: Annotations that built-in rules look at: any that begins so.
TELLING_ANNOTATIONS = (
    "cluster-autoscaler.kubernetes.io/",
    "nodewright.dev/",
    DELETION_COST,
    KARPENTER_DO_NOT_DISRUPT,
)


@dataclass(frozen=True)
class PodAnnotations:
    """Which annotations of pods tell: those that built-in rules look at, and those that plugins *declared*.

    A declared one that ends with ``/`` stands for all that begin so.
    """

    declared: frozenset[str] = frozenset()

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """What annotations that tell begin with."""
        return *TELLING_ANNOTATIONS, *sorted(each for each in self.declared if each.endswith("/"))

    def tells(self, key: str) -> bool:
        """Return whether decisions look at the annotation *key*."""
        return key.startswith(self.prefixes) or key in self.declared

    def among(self, annotations: Mapping[str, str]) -> dict[str, str]:
        """Return those of *annotations* that tell."""
        return {key: value for key, value in annotations.items() if self.tells(key)}


#: What tells if no plugin declares any.
BUILT_IN = PodAnnotations()
