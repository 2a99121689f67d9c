"""The fake cloud as a provider."""

import logging
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import ClassVar
from urllib.parse import urlsplit

from nodewright.api import (
    Capability,
    ConfigurationError,
    GpuConfig,
    GroupSpec,
    Node,
    NodeGroup,
    NodewrightError,
    PluginConfig,
    PricingModel,
    Problem,
    Provider,
    ProviderContext,
    ResourceLimits,
)
from pydantic import Field, field_validator

from nodewright_fake.cloud.group import ACCELERATOR_LABEL, GROUP_LABEL
from nodewright_fake.cloud.instance_type import GPU_RESOURCE
from nodewright_fake.host import SCHEME
from nodewright_fake.provider.client import CloudClient
from nodewright_fake.provider.group import FakeNodeGroup
from nodewright_fake.provider.pricing import FakePricing
from nodewright_fake.provider.reading import GroupReading, Reading, parse_reading

URL_VARIABLE = "NODEWRIGHT_FAKE_URL"

_log = logging.getLogger(__name__)


class FakeConfig(PluginConfig):
    """Where the fake cloud is, and which of its groups to use."""

    #: The URL that ``nodewright world up`` prints.
    url: str = Field(default_factory=lambda: os.environ.get(URL_VARIABLE, ""), validate_default=True)
    #: Patterns of group names; all groups if empty.
    only: tuple[str, ...] = ()

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        if not url:
            raise ValueError(f"is missing: write the URL that `nodewright world up` prints, or set {URL_VARIABLE}")
        if urlsplit(url).scheme != "http" or not urlsplit(url).hostname:
            raise ValueError(f"{url!r} is not a URL of a fake cloud: write one such as http://127.0.0.1:7070")
        return url


class FakeProvider(Provider):
    """Groups, machines and prices of a fake cloud."""

    api_version = 1
    Config = FakeConfig
    capabilities = frozenset(Capability)
    gpu_label = ACCELERATOR_LABEL
    balancing_ignored_labels: ClassVar[frozenset[str]] = frozenset({GROUP_LABEL})

    def __init__(self, config: FakeConfig, context: ProviderContext) -> None:
        super().__init__(config, context)
        self._only = config.only
        self._client = CloudClient(config.url, user_agent=context.user_agent)
        self._named = {spec.name: spec for spec in context.nodes}
        self._discovery = tuple(parse_discovery(rule) for rule in context.discovery)
        self._reading = Reading()
        self._groups: tuple[FakeNodeGroup, ...] = ()
        self._group_by_instance: dict[str, str] = {}
        self._pricing: FakePricing | None = None
        self._missing: frozenset[str] = frozenset()

    def refresh(self) -> None:
        """Read groups, machines and prices. Prices that can't be read stay as they were."""
        reading = parse_reading(self._client.get("v1", "snapshot"))
        self._reading = reading
        self._groups = tuple(self._node_group(group) for group in reading.groups if self._ours(group))
        self._group_by_instance = reading.group_by_instance
        self._warn_of_missing_groups()
        try:
            prices = self._client.get("v1", "prices")
        except NodewrightError as error:
            _log.warning("prices could not be read and stay as they were: %s", error)
        else:
            self._pricing = FakePricing(currency=prices["currency"], hourly=prices["hourly"], hardware=reading.hardware)

    def groups(self) -> Sequence[NodeGroup]:
        """The groups that are ours, in the cloud's order."""
        return self._groups

    def group_of(self, node: Node) -> str | None:
        """The group of the node's machine; if that is not known (yet or any more), the group on the node's label."""
        if not node.spec.provider_id.startswith(SCHEME):
            return None
        name = self._group_by_instance.get(node.spec.provider_id) or node.metadata.labels.get(GROUP_LABEL)
        return name if any(group.id == name for group in self._groups) else None

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """The group that a ``FakeGroup`` names by zone and name."""
        named = {f"{group.settings.zone}/{group.settings.name}": group.settings.name for group in self._reading.groups}
        name = named.get(id) if kind == "FakeGroup" else None
        return name if any(group.id == name for group in self._groups) else None

    def pricing(self) -> PricingModel | None:
        """The prices that were read last."""
        return self._pricing

    def resource_limits(self) -> ResourceLimits:
        """The limits that the cloud's scenario sets."""
        return self._reading.limits

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """The accelerator that the label names."""
        accelerator = labels.get(ACCELERATOR_LABEL)
        return GpuConfig(label=ACCELERATOR_LABEL, type=accelerator, resource=GPU_RESOURCE) if accelerator else None

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _ours(self, group: GroupReading) -> bool:
        settings = group.settings
        if self._only and not any(fnmatchcase(settings.name, pattern) for pattern in self._only):
            return False
        if not self._named and not self._discovery:
            return True
        labels = settings.labels
        return settings.name in self._named or any(rule.items() <= labels.items() for rule in self._discovery)

    def _node_group(self, group: GroupReading) -> FakeNodeGroup:
        spec: GroupSpec | None = self._named.get(group.settings.name)
        return FakeNodeGroup(
            client=self._client,
            reading=group,
            hardware=self._reading.hardware[group.settings.instance_type],
            bounds=(spec.min_size, spec.max_size) if spec else None,
        )

    def _warn_of_missing_groups(self) -> None:
        missing = frozenset(self._named) - {group.id for group in self._groups}
        if missing and missing != self._missing:
            _log.warning("the fake cloud has no group named %s: correct --nodes", ", ".join(sorted(missing)))
        self._missing = missing


def parse_discovery(rule: str) -> Mapping[str, str]:
    """Return the labels that groups must have for a rule such as ``fake:team=web,tier=front``."""
    discoverer, _, pairs = rule.partition(":")
    labels = dict(pair.split("=", 1) for pair in pairs.split(",") if "=" in pair)
    if discoverer != "fake" or len(labels) != len(pairs.split(",")) or "" in labels:
        raise ConfigurationError(
            Problem(
                message=f"{rule!r}, of discovery or --node-group-auto-discovery, is no rule of the fake provider: "
                "write fake:label=value,label=value"
            )
        )
    return labels
