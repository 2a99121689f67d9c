"""The metadata of a group's machines, as far as it is about nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright_gce.templates.kube_env import KUBE_ENV, KubeEnv, read_kube_env
from nodewright_gce.templates.node_metadata import NodeMetadata, read_node_metadata

#: kOps names the instance group of a machine.
_KOPS_GROUP = "kops-k8s-io-instance-group-name"


@dataclass(frozen=True, kw_only=True)
class GroupMetadata:
    """What metadata says about nodes."""

    #: All of it, by key.
    values: Mapping[str, str] = field(default_factory=dict)
    env: KubeEnv = field(default_factory=KubeEnv)
    own: NodeMetadata = field(default_factory=NodeMetadata)

    @property
    def kops_group(self) -> str:
        """The name of kOps' instance group; empty if there is none."""
        return self.values.get(_KOPS_GROUP, "")

    @property
    def resources(self) -> Mapping[str, int]:
        """Resources of nodes beside those of the machine, or in their place."""
        return {**self.env.resources, **self.own.capacity}

    @property
    def mistakes(self) -> tuple[str, ...]:
        """What was ignored and why, each in a sentence."""
        return (*self.env.mistakes, *self.own.mistakes)


def read_group_metadata(values: Mapping[str, str]) -> GroupMetadata:
    """Return what *values* say. What can't be parsed is ignored and listed as a mistake."""
    return GroupMetadata(values=values, env=read_kube_env(values.get(KUBE_ENV, "")), own=read_node_metadata(values))
