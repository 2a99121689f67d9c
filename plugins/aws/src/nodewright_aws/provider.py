"""AWS as a provider."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from nodewright.api import (
    Capability,
    GpuConfig,
    GroupFacts,
    Node,
    NodeGroup,
    NodeTemplate,
    PricingModel,
    Provider,
    ProviderContext,
    hookimpl,
)

from nodewright_aws.autoscaling.discovery import Discovery, SizeLimits
from nodewright_aws.autoscaling.processes import notes
from nodewright_aws.calls import Aws, metrics
from nodewright_aws.config import AwsConfig
from nodewright_aws.group_specs import TagRule, check_any, check_limits, parse_group_spec, parse_rule
from nodewright_aws.groups.instances import KnownInstances, instance_id
from nodewright_aws.groups.node_group import AwsNodeGroup, GroupServices
from nodewright_aws.groups.orders import RecentOrders
from nodewright_aws.warn_once import WarnOnce

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from nodewright_aws.parts import Parts


class AwsProvider(Provider):
    """Auto Scaling groups of one account and region of AWS.

    `refresh` reads the groups first, because nothing can be decided without them. The other parts may fail, and then
    keep what they knew: templates with their instance types, failed activities, interruptions, prices.
    """

    api_version = 1
    Config = AwsConfig
    capabilities = frozenset({Capability.SCALE_FROM_ZERO, Capability.FORCE_DELETE, Capability.PRICES})
    gpu_label = "k8s.amazonaws.com/accelerator"
    balancing_ignored_labels: ClassVar[frozenset[str]] = frozenset(
        {
            "alpha.eksctl.io/instance-id",
            "alpha.eksctl.io/nodegroup-name",
            "eks.amazonaws.com/nodegroup",
            "eks.amazonaws.com/sourceLaunchTemplateId",
            "eks.amazonaws.com/sourceLaunchTemplateVersion",
            "k8s.amazonaws.com/eniConfig",
            "lifecycle",
            "topology.ebs.csi.aws.com/zone",
            # Larger machines have these; the values differ from machine to machine.
            *(f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3, 4)),
            "topology.k8s.aws/zone-id",
        }
    )

    def __init__(self, config: AwsConfig, context: ProviderContext) -> None:
        super().__init__(config, context)
        rules = [*map(parse_rule, context.discovery), *(TagRule(tags=each.tags) for each in config.discover)]
        named = [*map(parse_group_spec, config.groups), *context.nodes]
        check_any(rules, named)
        check_limits(named)
        self._settings = config
        self._aws = Aws(config, user_agent=context.user_agent)
        self._discovery = Discovery(self._aws, rules, named)
        self._limits = SizeLimits(named)
        self._instances = KnownInstances()
        self._warnings = WarnOnce()
        self._orders = RecentOrders(context.clock)
        self._parts: Parts | None = None
        self._groups: Mapping[str, AwsNodeGroup] = {}

    def refresh(self) -> None:
        """Read all groups, and what is unknown or old of the other parts."""
        groups = tuple(map(self._orders.applied_to, self._discovery.read()))
        parts = self._parts = self._parts or self._make_parts()
        parts.refresh(groups)
        self._instances.update(groups)
        self._warnings.warn(
            {(each.name, note): f"group {each.name}: {note}" for each in groups for note in notes(each)}
        )
        services = GroupServices(
            aws=self._aws,
            templates=parts.templates,
            activities=parts.activities,
            instances=self._instances,
            orders=self._orders,
            interrupted=dict(parts.interruptions.interrupted),
            prefix=self._settings.prefix,
        )
        node_groups = (AwsNodeGroup(each, self._limits.of(each), services) for each in groups)
        self._groups = {group.id: group for group in node_groups}

    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh, sorted by name."""
        return tuple(self._groups.values())

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine."""
        instance = instance_id(node.spec.provider_id)
        name = self._instances.group_of(instance) if instance else None
        return None if name is None else self._settings.prefix + name

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """The group that an ``AWSAutoScalingGroup`` names by its ARN."""
        if kind != "AWSAutoScalingGroup":
            return None
        return next((name for name, group in self._groups.items() if group.auto_scaling_group.arn == id), None)

    def pricing(self) -> PricingModel | None:
        """Prices as of the last refresh."""
        return self._parts.prices.model() if self._parts else None

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """The accelerator that the label names."""
        accelerator = labels.get(self.gpu_label)
        return GpuConfig(label=self.gpu_label, type=accelerator, resource="nvidia.com/gpu") if accelerator else None

    @hookimpl
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        """Complete a template that was taken from a real node."""
        ours = self._groups.get(group.id)
        if ours is None or self._parts is None:
            return None
        return self._parts.templates.complete(ours.auto_scaling_group, template)

    def collectors(self) -> "Iterable[Collector]":
        """Metrics of calls, shared by all providers of this kind."""
        return (metrics().durations, metrics().retries)

    def close(self) -> None:
        """Close all connections."""
        self._aws.close()

    def _make_parts(self) -> "Parts":
        # Most of this plugin: loaded only if the provider is used.
        from nodewright_aws.parts import Parts

        return Parts(self._aws, self._settings, self.context.clock)
