"""Managed node groups of EKS: what EKS adds to the nodes of an Auto Scaling group."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from nodewright.api import Clock, NodewrightError, Taint

from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.calls import Calls
from nodewright_aws.config import AmiFamily
from nodewright_aws.templates.cache import Cache, concerns_others
from nodewright_aws.warn_once import WarnOnce

_LIFETIME = timedelta(minutes=6)
#: EKS answers for one group at a time.
_CALLS_AT_ONCE = 4
_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
_FAMILIES = {"AL2023_": AmiFamily.AL2023, "AL2_": AmiFamily.AL2, "BOTTLEROCKET_": AmiFamily.BOTTLEROCKET}


@dataclass(frozen=True)
class ManagedGroupName:
    """The cluster and name of a managed node group."""

    cluster: str
    name: str

    @classmethod
    def of(cls, group: AutoScalingGroup) -> "ManagedGroupName | None":
        """Return the managed node group of *group*, from its tags; None if EKS does not manage it."""
        cluster, name = group.tags.get("eks:cluster-name"), group.tags.get("eks:nodegroup-name")
        return cls(cluster, name) if cluster and name else None

    def __str__(self) -> str:
        return f"managed node group {self.name!r} of cluster {self.cluster!r}"


@dataclass(frozen=True, kw_only=True)
class ManagedGroup:
    """A managed node group as EKS describes it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    #: ``ON_DEMAND``, ``SPOT`` or ``CAPACITY_BLOCK``.
    capacity_type: str = ""
    #: Such as ``AL2023_x86_64_STANDARD``; ``CUSTOM`` for an image of the user's own.
    ami_type: str = ""
    disk_gib: int | None = None
    #: Of the user's own launch template, if there is one.
    launch_template: Mapping[str, str] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        """The architecture, as AWS names it; empty if EKS does not say."""
        return "arm64" if "ARM_64" in self.ami_type else "x86_64" if "x86_64" in self.ami_type else ""

    @property
    def family(self) -> AmiFamily | None:
        """The family of its image, if EKS says it."""
        return next((family for prefix, family in _FAMILIES.items() if self.ami_type.startswith(prefix)), None)

    @property
    def windows(self) -> bool:
        """Whether its machines run Windows."""
        return self.ami_type.startswith("WINDOWS_")

    def node_labels(self, image: str) -> dict[str, str]:
        """Return the labels that EKS sets on nodes that boot *image*."""
        own = {
            "eks.amazonaws.com/nodegroup": self.name,
            "eks.amazonaws.com/capacityType": self.capacity_type,
            "eks.amazonaws.com/nodegroup-image": image if image.startswith("ami-") else "",
            "eks.amazonaws.com/sourceLaunchTemplateId": self.launch_template.get("id", ""),
            "eks.amazonaws.com/sourceLaunchTemplateVersion": self.launch_template.get("version", ""),
        }
        return {**{key: value for key, value in own.items() if value}, **self.labels}


class ManagedGroups:
    """Managed node groups by cluster and name. Without an answer of EKS, templates use tags only."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[ManagedGroupName, ManagedGroup] = Cache(clock, _LIFETIME)
        self._warnings = WarnOnce()

    def refresh(self, names: Iterable[ManagedGroupName]) -> None:
        """Read those that are unknown or some minutes old. Raises nothing, but warns of failures."""
        wanted = list(dict.fromkeys(names))
        due = self._cache.due(wanted)
        for cluster in dict.fromkeys(name.cluster for name in due):
            self._read_all([name for name in due if name.cluster == cluster])
        self._warn(wanted)

    def get(self, name: ManagedGroupName) -> ManagedGroup | None:
        """Return a managed node group; None if it is unknown."""
        try:
            return self._cache.get(name)
        except NodewrightError:
            return None

    def _read_all(self, names: Sequence[ManagedGroupName]) -> None:
        first, *others = names
        # If calls about a cluster are denied, or EKS does not answer, one call is enough to find out.
        trouble = self._read(first)
        if trouble is not None and concerns_others(trouble):
            for name in others:
                self._cache.fail(name, trouble, needed=False)
        elif others:
            with ThreadPoolExecutor(_CALLS_AT_ONCE, "eks") as threads:
                list(threads.map(self._read, others))

    def _read(self, name: ManagedGroupName) -> NodewrightError | None:
        try:
            answer = self._aws.call("eks", "describe_nodegroup", clusterName=name.cluster, nodegroupName=name.name)
        except NodewrightError as error:
            self._cache.fail(name, error, needed=False)
            return error
        self._cache.keep(name, _managed_group(name, answer["nodegroup"]))
        return None

    def _warn(self, wanted: Sequence[ManagedGroupName]) -> None:
        troubles: dict[Hashable, str] = {}
        counts = Counter(name.cluster for name in wanted if self._cache.trouble(name))
        for name in wanted:
            if (error := self._cache.trouble(name)) is not None and (
                name.cluster,
                type(error).__name__,
            ) not in troubles:
                more = f" and {counts[name.cluster] - 1} more" if counts[name.cluster] > 1 else ""
                troubles[name.cluster, type(error).__name__] = (
                    f"EKS does not describe the nodes of {name}{more}, so templates use the tags of their Auto Scaling "
                    f"groups only: {error}"
                )
        self._warnings.warn(troubles)


def _managed_group(name: ManagedGroupName, body: Mapping[str, Any]) -> ManagedGroup:
    return ManagedGroup(
        name=name.name,
        labels=body.get("labels") or {},
        taints=tuple(
            Taint(key=taint["key"], value=taint.get("value") or "", effect=_EFFECTS.get(effect, effect))
            for taint in body.get("taints") or ()
            for effect in (taint["effect"],)
        ),
        tags=body.get("tags") or {},
        capacity_type=body.get("capacityType") or "",
        ami_type=body.get("amiType") or "",
        disk_gib=body.get("diskSize"),
        launch_template=body.get("launchTemplate") or {},
    )
