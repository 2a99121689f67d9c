"""Ways to grow: what expanders choose from."""

from collections.abc import Callable, Container
from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.placement import Placement
from nodewright.objects import Pod


@dataclass(frozen=True, kw_only=True)
class PodSet:
    """Pods that a scheduler can't tell apart."""

    #: One of them; stands for all. They differ in no annotation that a plugin declares in `Plugin.pod_annotations`.
    pod: Pod
    #: ``namespace/name`` of each.
    keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def without(self, keys: Container[str]) -> "PodSet | None":
        """Return the set of those pods whose key is not among *keys*; None if there are none."""
        if isinstance(keys, Placement):
            if keys.of(self.keys):
                rest = self.keys[len(keys) :]
                return PodSet(pod=self.pod, keys=rest) if rest else None
            keys = frozenset(keys)
        left = tuple([key for key in self.keys if key not in keys])
        return PodSet(pod=self.pod, keys=left) if left else None

    def only(self, keep: Callable[[str], bool]) -> "PodSet | None":
        """Return the set of those pods whose key *keep* accepts; None if there are none."""
        keys = tuple(filter(keep, self.keys))
        return PodSet(pod=self.pod, keys=keys) if keys else None


@dataclass(frozen=True, kw_only=True)
class Option:
    """Grow *group* by *nodes*, which helps *pods*."""

    group: GroupFacts
    nodes: int
    pods: tuple[PodSet, ...]
    #: Ids of similar groups, over which the growth may be spread.
    similar: tuple[str, ...] = ()
    #: How many nodes the group may gain at most, if that is more than *nodes*.
    limit: int = 0

    @property
    def pod_count(self) -> int:
        """How many pods the option helps."""
        return sum(len(pods) for pods in self.pods)

    def requested(self, resource: str) -> int:
        """How much of *resource* the pods of the option request in all."""
        return sum(pods.pod.requests.get(resource, 0) * len(pods) for pods in self.pods)
