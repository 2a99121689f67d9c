"""AWS as a provider."""

from collections.abc import Sequence

from nodewright.api import Node, NodeGroup, Provider, ProviderContext

from nodewright_aws.calls import Aws
from nodewright_aws.config import AwsConfig
from nodewright_aws.groups.reading import GroupReading, parse_group


class AwsProvider(Provider):
    """Auto Scaling groups of one account and region of AWS."""

    Config = AwsConfig

    def __init__(self, config: AwsConfig, context: ProviderContext) -> None:
        super().__init__(config, context)
        self._aws = Aws(config, user_agent=context.user_agent)
        self._readings: tuple[GroupReading, ...] = ()

    def refresh(self) -> None:
        """Read all groups."""
        self._readings = tuple(
            parse_group(body)
            for page in self._aws.pages("autoscaling", "describe_auto_scaling_groups")
            for body in page["AutoScalingGroups"]
        )

    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh."""
        return ()

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine."""
        return None

    def close(self) -> None:
        """Close all connections."""
        self._aws.close()
