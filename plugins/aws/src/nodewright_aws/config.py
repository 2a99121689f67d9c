"""What users write under ``aws`` in YAML."""

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from nodewright.api import PluginConfig, parse_duration, parse_quantity
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, WithJsonSchema, model_validator

from nodewright_aws.group_specs import parse_group_spec
from nodewright_aws.pools import Lifecycle, Pool

#: Services that the plugin calls, by boto3's names.
Service = Literal["autoscaling", "ec2", "eks", "pricing", "sqs", "ssm", "sts"]


def _read_duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise ValueError(f"write a duration such as 10m or 1h30m, not {value}")


#: A span of time, read from text. Defaults are text too, and validated, so that the schema shows what people write.
Duration = Annotated[timedelta, BeforeValidator(_read_duration), WithJsonSchema({"type": "string"})]


def _group(text: str) -> str:
    parse_group_spec(text)
    return text


def _role(arn: str) -> str:
    if not re.fullmatch(r"arn:[^:]+:iam::\d{12}:role/.+", arn):
        raise ValueError(f"{arn!r} is no role: write its ARN, such as arn:aws:iam::123456789012:role/nodewright")
    return arn


def _region(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]*", name):
        raise ValueError(f"{name!r} is no region: write one such as eu-west-1")
    return name


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{text!r} is no URL: write one such as https://autoscaling.eu-west-1.amazonaws.com")
    return text


def _quantity(text: str) -> str:
    if parse_quantity(text) < 0:
        raise ValueError(f"{text!r} is negative: write an amount such as 200m or 1Gi")
    return text


def _quantity_or_percent(text: str) -> str:
    if not text.endswith("%"):
        return _quantity(text)
    try:
        percent = float(text[:-1])
    except ValueError:
        percent = -1
    if not 0 <= percent <= 100:
        raise ValueError(f"{text!r} is no threshold: write an amount such as 200Mi, or a percentage from 0% to 100%")
    return text


Quantity = Annotated[str, AfterValidator(_quantity)]
Threshold = Annotated[str, AfterValidator(_quantity_or_percent)]
Reservable = Literal["cpu", "memory", "ephemeral-storage"]


class DiscoverySettings(PluginConfig, defer_build=True):
    """Finds the groups that have all of these tags."""

    #: By key; null matches any value.
    tags: Mapping[Annotated[str, Field(min_length=1)], str | None] = Field(min_length=1)


class RoleSettings(PluginConfig, defer_build=True):
    """A role to assume before any other call."""

    arn: Annotated[str, AfterValidator(_role)]
    external_id: SecretStr = SecretStr("")
    #: Shown in AWS' own records of calls.
    session_name: str = Field(default="nodewright", pattern=r"^[\w+=,.@-]{2,64}$")


class AmiFamily(StrEnum):
    """Which family of images machines boot. Windows is not among them."""

    AL2023 = "al2023"
    AL2 = "al2"
    BOTTLEROCKET = "bottlerocket"
    #: Anything else: only what the settings say is reserved, and 110 pods fit, which is the kubelet's own default.
    CUSTOM = "custom"


class KubeletSettings(PluginConfig, defer_build=True):
    """Settings of the kubelets of new nodes that change what pods may use.

    Everything that is not set here is as in the AMI.
    """

    ami_family: AmiFamily = AmiFamily.AL2023
    #: ``eni``: one for each address of the machine's network interfaces; ``managed``: the same, up to the limit of
    #: EKS for managed node groups; ``prefix``: with a prefix in place of each address; or a number.
    #: ``auto`` is ``eni``, and 110 for custom AMIs.
    max_pods: Literal["auto", "eni", "managed", "prefix"] | Annotated[int, Field(ge=1)] = "auto"
    #: Network interfaces that are not for pods; ``RESERVED_ENIS`` in other tools.
    reserved_enis: int = Field(default=0, ge=0)
    #: Pods have subnets of their own, so they do not use the first interface.
    custom_networking: bool = False
    kube_reserved: Mapping[Reservable, Quantity] = Field(default_factory=dict)
    system_reserved: Mapping[Reservable, Quantity] = Field(default_factory=dict)
    eviction_hard: Mapping[Literal["memory.available", "nodefs.available"], Threshold] = Field(default_factory=dict)
    #: Percent of the memory sold that the booted system does not see; by default an estimate by type and size.
    memory_overhead: float | None = Field(default=None, ge=0, lt=100)
    #: Pods write to the machine's own NVMe disks, joined into one (``localStorage: {strategy: RAID0}`` of nodeadm).
    local_disks_as_storage: bool = False


class MixedInstances(StrEnum):
    """Which of a group's instance types its template is made of."""

    #: What all of them have: the smallest amount of each resource, and the labels that they share.
    SMALLEST = "smallest"
    #: The first, as in Cluster Autoscaler. Right for groups that take types by priority.
    FIRST = "first"
    #: The one with the most CPU, and of those the one with the most memory.
    LARGEST = "largest"


class ZoneChoice(StrEnum):
    """In which zone a new machine is expected, for groups with several zones."""

    #: The one with the fewest machines, in which AWS launches next.
    NEXT = "next"
    #: The first by name, or that of an existing node, as in Cluster Autoscaler.
    FIRST = "first"


class TemplateSettings(PluginConfig, defer_build=True):
    """How the templates of groups are made."""

    mixed_instances: MixedInstances = MixedInstances.SMALLEST
    zones: ZoneChoice = ZoneChoice.NEXT
    kubelet: KubeletSettings = Field(default_factory=KubeletSettings)


class OnDemandSource(StrEnum):
    """Where on-demand prices come from."""

    #: The bundled table.
    TABLE = "table"
    #: The price list API, and the table for prices that it lacks.
    API = "api"
    OFF = "off"


class SpotSource(StrEnum):
    """Where spot prices come from."""

    HISTORY = "history"
    OFF = "off"


class MixedPrices(StrEnum):
    """What a node costs if the pools of its group differ in price."""

    HIGHEST = "highest"
    LOWEST = "lowest"
    MEAN = "mean"


class PriceRule(PluginConfig, defer_build=True):
    """What machines really cost. Names are shell patterns; one that is left out matches everything."""

    instance_type: str = "*"
    zone: str = "*"
    region: str = "*"
    lifecycle: Lifecycle | None = None
    #: Per hour, in place of AWS' price.
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    #: Of AWS' price: 0.72 is a discount of 28 %.
    factor: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    #: Per hour, on top of the rest: licences, agents, support.
    per_node: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _changes_a_price(self) -> Self:
        if self.price is not None and self.factor is not None:
            raise ValueError("price and factor exclude each other: write the hourly price, or a factor of AWS' price")
        if self.price is None and self.factor is None and not self.per_node:
            raise ValueError("the rule changes no price: write price, factor or perNode")
        return self

    def matches(self, pool: Pool, region: str) -> bool:
        """Tell whether the rule is about *pool* in *region*."""
        return (
            fnmatchcase(pool.instance_type, self.instance_type)
            and fnmatchcase(pool.zone, self.zone)
            and fnmatchcase(region, self.region)
            and self.lifecycle in (None, pool.lifecycle)
        )

    def applied(self, price: float | None) -> float | None:
        """Return what a machine really costs if AWS charges *price*; None if that is unknown."""
        if self.price is not None:
            return self.price + self.per_node
        return None if price is None else price * (self.factor or 1.0) + self.per_node


class PriceSettings(PluginConfig, defer_build=True):
    """Where prices come from, and how they are corrected."""

    on_demand: OnDemandSource = OnDemandSource.TABLE
    #: How often the price list is read.
    on_demand_interval: Duration = Field(default="12h", validate_default=True, ge=timedelta(minutes=10))
    spot: SpotSource = SpotSource.HISTORY
    #: How often spot prices are read.
    spot_interval: Duration = Field(default="5m", validate_default=True, ge=timedelta(minutes=1))
    #: Share of the on-demand price, for spot pools whose price is unknown; without it, they have none.
    spot_ratio: float | None = Field(default=None, gt=0, le=1)
    mixed: MixedPrices = MixedPrices.MEAN
    #: The currency of all prices, if not AWS' own in this region, and the value of one unit of AWS' currency in it.
    currency: str = Field(default="", pattern="^([A-Z]{3})?$")
    exchange_rate: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    #: The first rule that matches a pool counts. Amounts are in the currency of all prices.
    overlay: tuple[PriceRule, ...] = ()

    @model_validator(mode="after")
    def _can_convert(self) -> Self:
        if bool(self.currency) != (self.exchange_rate is not None):
            raise ValueError("currency and exchangeRate go together: write both, or neither for the currency of AWS")
        return self


class Rebalance(StrEnum):
    """What to do about a machine that AWS may interrupt soon."""

    IGNORE = "ignore"
    AVOID = "avoid"


class InterruptionSettings(PluginConfig, defer_build=True):
    """Where interruption events are read."""

    #: Name or URL of an SQS queue that gets EC2's events from EventBridge; empty for none.
    queue: str = ""
    #: Whether a rebalance recommendation counts as an interruption, in groups where AWS then replaces the machine.
    rebalance: Rebalance = Rebalance.IGNORE
    #: Delete messages once they are read; false if the queue has another reader.
    delete_messages: bool = True

    @model_validator(mode="after")
    def _has_a_queue(self) -> Self:
        if self.rebalance is Rebalance.AVOID and not self.queue:
            raise ValueError("rebalance: avoid needs a queue: set queue to the name of an SQS queue")
        return self


class AwsConfig(PluginConfig, defer_build=True):
    """An account and region, and which of its groups to use."""

    #: If empty: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or the machine's own.
    region: Annotated[str, AfterValidator(_region)] = ""
    profile: str = ""
    assume_role: RoleSettings | None = None
    #: URLs by service.
    endpoints: Mapping[Service, Annotated[str, AfterValidator(_url)]] = Field(default_factory=dict)
    #: A file of Cluster Autoscaler's --cloud-config.
    cloud_config: str = ""
    #: Stands before the names of groups, for accounts and regions that have groups of the same name.
    prefix: str = ""
    #: Groups that match any of these are used, within the limits that AWS has for them.
    discover: tuple[DiscoverySettings, ...] = ()
    #: Groups by name, as ``min:max:name``; in addition to those of nodeGroups.
    groups: tuple[Annotated[str, AfterValidator(_group)], ...] = ()
    #: Take instance types from the bundled table, and never ask AWS.
    static_instance_list: bool = False
    templates: TemplateSettings = Field(default_factory=TemplateSettings)
    prices: PriceSettings = Field(default_factory=PriceSettings)
    interruptions: InterruptionSettings = Field(default_factory=InterruptionSettings)
