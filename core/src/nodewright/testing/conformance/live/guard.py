"""Guards: providers and groups that can be read but not changed."""

from collections.abc import Mapping, Sequence

from nodewright.api import (
    GpuConfig,
    GroupOptions,
    Instance,
    InstanceError,
    Node,
    NodeGroup,
    NodeTemplate,
    Pause,
    PricingModel,
    Provider,
    ResourceLimits,
)
from nodewright.api.errors import WithheldError


class GuardedProvider(Provider):
    """Answers as *provider* does. Of its groups, only *open_group* can be changed, if it is given."""

    def __init__(self, provider: Provider, *, open_group: str | None = None) -> None:
        super().__init__(provider.config, provider.context)
        self._provider = provider
        self._open_group = open_group
        # Class attributes, which an instance may narrow down.
        for name in ("capabilities", "gpu_label", "balancing_ignored_labels"):
            setattr(self, name, getattr(provider, name))

    def refresh(self) -> None:
        """As the provider."""
        self._provider.refresh()

    def groups(self) -> Sequence[NodeGroup]:
        """The provider's groups, guarded."""
        groups = self._provider.groups()
        return [group if group.id == self._open_group else GuardedGroup(group) for group in groups]

    def group_of(self, node: Node) -> str | None:
        """As the provider."""
        return self._provider.group_of(node)

    def pricing(self) -> PricingModel | None:
        """As the provider."""
        return self._provider.pricing()

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """As the provider."""
        return self._provider.resolve(kind, id)

    def resource_limits(self) -> ResourceLimits:
        """As the provider."""
        return self._provider.resource_limits()

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """As the provider."""
        return self._provider.gpu_config(labels)

    def close(self) -> None:
        """As the provider."""
        self._provider.close()


class GuardedGroup(NodeGroup):
    """Answers as *group* does. Every action raises `WithheldError` and does not reach the group."""

    def __init__(self, group: NodeGroup) -> None:
        self._group = group

    @property
    def id(self) -> str:
        """As the group."""
        return self._group.id

    @property
    def min_size(self) -> int:
        """As the group."""
        return self._group.min_size

    @property
    def max_size(self) -> int:
        """As the group."""
        return self._group.max_size

    @property
    def target_size(self) -> int:
        """As the group."""
        return self._group.target_size

    def instances(self) -> Sequence[Instance]:
        """As the group."""
        return self._group.instances()

    def template(self) -> NodeTemplate | None:
        """As the group."""
        return self._group.template()

    def pools(self) -> Sequence[str]:
        """As the group."""
        return self._group.pools()

    def quotas(self) -> Mapping[str, int]:
        """As the group."""
        return self._group.quotas()

    def available(self) -> int | None:
        """As the group."""
        return self._group.available()

    def errors(self) -> Sequence[InstanceError]:
        """As the group."""
        return self._group.errors()

    def pause(self) -> Pause | None:
        """As the group."""
        return self._group.pause()

    @property
    def atomic(self) -> bool:
        """As the group."""
        return self._group.atomic

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """As the group."""
        return self._group.options(defaults)

    def increase(self, count: int) -> None:
        """Refuse."""
        self._refuse(f"increase({count})")

    def increase_atomically(self, count: int) -> None:
        """Refuse."""
        self._refuse(f"increase_atomically({count})")

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Refuse."""
        self._refuse("delete_nodes()")

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Refuse."""
        self._refuse("force_delete_nodes()")

    def decrease_target(self, count: int) -> None:
        """Refuse."""
        self._refuse(f"decrease_target({count})")

    def _refuse(self, action: str) -> None:
        raise WithheldError(f"{action} of group {self.id} is not done: it is only to be read")
