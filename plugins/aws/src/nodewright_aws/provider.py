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

from nodewright_aws.attempts import Attempts
from nodewright_aws.calls import Aws, metrics
from nodewright_aws.config import AwsConfig
from nodewright_aws.groups.bounds import Bounds
from nodewright_aws.groups.discovery import Discovery
from nodewright_aws.groups.group import AwsNodeGroup, Surroundings
from nodewright_aws.groups.machines import Machines, instance_id
from nodewright_aws.groups.orders import Orders
from nodewright_aws.groups.processes import notes
from nodewright_aws.groups.specs import TagRule, check_any, check_limits, parse_group_spec, parse_rule
from nodewright_aws.troubles import Troubles

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

    from nodewright_aws.parts import Parts


class AwsProvider(Provider):
    """Auto Scaling groups of one account and region of AWS.

    `refresh` reads the groups first, without which nothing can be decided. What comes after may fail, and then keeps
    what it knew: templates with their instance types, failed activities, interruptions, prices.
    """

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
            # Of larger machines, whose places in the network differ from machine to machine.
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
        self._bounds = Bounds(named)
        self._machines = Machines()
        self._troubles = Troubles()
        self._orders = Orders(context.clock)
        self._attempts = Attempts()
        self._parts: Parts | None = None
        self._groups: Mapping[str, AwsNodeGroup] = {}

    def refresh(self) -> None:
        """Read all groups, and what is unknown or old of the rest."""
        readings = tuple(map(self._orders.carried_out, self._discovery.read()))
        parts = self._parts = self._parts or self._make_parts()
        parts.refresh(readings, self._attempts)
        self._machines.update(readings)
        self._troubles.tell(
            {(each.name, note): f"group {each.name}: {note}" for each in readings for note in notes(each)}
        )
        surroundings = Surroundings(
            aws=self._aws,
            templates=parts.templates,
            activities=parts.activities,
            machines=self._machines,
            orders=self._orders,
            doomed=dict(parts.interruptions.doomed),
            prefix=self._settings.prefix,
        )
        groups = (AwsNodeGroup(each, self._bounds.of(each), surroundings) for each in readings)
        self._groups = {group.id: group for group in groups}

    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh, by name."""
        return tuple(self._groups.values())

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine."""
        machine = instance_id(node.spec.provider_id)
        name = self._machines.group_of(machine) if machine else None
        return None if name is None else self._settings.prefix + name

    def pricing(self) -> PricingModel | None:
        """Prices as of the last refresh."""
        return self._parts.prices.model() if self._parts else None

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """The accelerator that the label tells."""
        accelerator = labels.get(self.gpu_label)
        return GpuConfig(label=self.gpu_label, type=accelerator, resource="nvidia.com/gpu") if accelerator else None

    @hookimpl
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        """Add to a template that was taken of a real node what such a node does not tell."""
        ours = self._groups.get(group.id)
        if ours is None or self._parts is None:
            return None
        return self._parts.templates.complete(ours.reading, template)

    def collectors(self) -> "Iterable[Collector]":
        """How often AWS is called, by all providers of this kind."""
        return (metrics().durations, metrics().retries)

    def close(self) -> None:
        """Close all connections."""
        self._aws.close()

    def _make_parts(self) -> "Parts":
        # The greater part of this plugin, for those who use it.
        from nodewright_aws.parts import make_parts

        return make_parts(self._aws, self._settings, self.context.clock)
