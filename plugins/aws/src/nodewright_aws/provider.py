"""AWS as a provider."""

from collections.abc import Sequence

from nodewright.api import GroupFacts, Node, NodeGroup, NodeTemplate, PricingModel, Provider, ProviderContext, hookimpl

from nodewright_aws.calls import Aws
from nodewright_aws.config import AwsConfig
from nodewright_aws.groups.reading import GroupReading, parse_group
from nodewright_aws.parts import Attempts, Parts


class AwsProvider(Provider):
    """Auto Scaling groups of one account and region of AWS.

    `refresh` reads the groups first, without which nothing can be decided. What comes after may fail, and keeps what it
    knew then: templates with their instance types, failed activities, interruptions, prices.
    """

    Config = AwsConfig

    def __init__(self, config: AwsConfig, context: ProviderContext) -> None:
        super().__init__(config, context)
        self._settings = config
        self._aws = Aws(config, user_agent=context.user_agent)
        self._attempts = Attempts()
        self._parts: Parts | None = None
        self._readings: tuple[GroupReading, ...] = ()

    def refresh(self) -> None:
        """Read all groups, and what is unknown or old of the rest."""
        self._readings = tuple(
            parse_group(body)
            for page in self._aws.pages("autoscaling", "describe_auto_scaling_groups")
            for body in page["AutoScalingGroups"]
        )
        if self._parts is not None:
            self._refresh(self._parts)

    def _refresh(self, parts: Parts) -> None:
        attempt = self._attempts.make
        groups = self._readings
        attempt("templates", lambda: parts.templates.refresh(groups))
        attempt("scaling activities", lambda: parts.activities.refresh([each for each in groups if each.missing]))
        attempt("interruptions", lambda: parts.interruptions.refresh(groups))
        attempt(
            "prices", lambda: parts.prices.refresh({pool for each in groups for pool in parts.templates.pools(each)})
        )

    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh."""
        return ()

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine."""
        return None

    def pricing(self) -> PricingModel | None:
        """Prices as of the last refresh."""
        return self._parts.prices.model() if self._parts else None

    @hookimpl
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        """Add to a template of a real node what such a node does not tell."""
        reading = next((each for each in self._readings if each.name == group.id), None)
        return self._parts.templates.complete(reading, template) if self._parts and reading else None

    def close(self) -> None:
        """Close all connections."""
        self._aws.close()
