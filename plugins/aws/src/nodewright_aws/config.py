"""What users write under ``aws`` in YAML."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from nodewright.api import PluginConfig
from pydantic import AfterValidator, Field, SecretStr

from nodewright_aws.groups.specs import parse_group_spec
from nodewright_aws.interruptions.settings import InterruptionSettings
from nodewright_aws.prices.settings import PriceSettings
from nodewright_aws.templates.settings import TemplateSettings

#: Services that are called, by boto3's names.
Service = Literal["autoscaling", "ec2", "eks", "pricing", "sqs", "ssm", "sts"]


def _is_group(text: str) -> str:
    parse_group_spec(text)
    return text


def _is_role(arn: str) -> str:
    if not re.fullmatch(r"arn:[^:]+:iam::\d{12}:role/.+", arn):
        raise ValueError(f"{arn!r} is no role: write its ARN, such as arn:aws:iam::123456789012:role/nodewright")
    return arn


def _is_region(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]*", name):
        raise ValueError(f"{name!r} is no region: write one such as eu-west-1")
    return name


def _is_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{text!r} is no URL: write one such as https://autoscaling.eu-west-1.amazonaws.com")
    return text


class Discovery(PluginConfig, defer_build=True):
    """Finds groups: those that have all of these tags."""

    #: By key; null takes any value.
    tags: Mapping[Annotated[str, Field(min_length=1)], str | None] = Field(min_length=1)


class Role(PluginConfig, defer_build=True):
    """A role to take on before anything else is done."""

    arn: Annotated[str, AfterValidator(_is_role)]
    external_id: SecretStr = SecretStr("")
    #: Shows in AWS' own records of calls.
    session_name: str = Field(default="nodewright", pattern=r"^[\w+=,.@-]{2,64}$")


class AwsConfig(PluginConfig, defer_build=True):
    """An account and region, and which of its groups to use."""

    #: If empty: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or the machine's own.
    region: Annotated[str, AfterValidator(_is_region)] = ""
    profile: str = ""
    assume_role: Role | None = None
    #: URLs by service.
    endpoints: Mapping[Service, Annotated[str, AfterValidator(_is_url)]] = Field(default_factory=dict)
    #: A file of Cluster Autoscaler's --cloud-config.
    cloud_config: str = ""
    #: Stands before the names of groups, for accounts and regions that have groups of the same name.
    prefix: str = ""
    #: Groups that match any of these are used, with the limits that AWS has for them.
    discover: tuple[Discovery, ...] = ()
    #: Groups by name, as ``min:max:name``; besides those of nodeGroups.
    groups: tuple[Annotated[str, AfterValidator(_is_group)], ...] = ()
    #: Take instance types from the table that comes along, and ask AWS for none.
    static_instance_list: bool = False
    templates: TemplateSettings = Field(default_factory=TemplateSettings)
    prices: PriceSettings = Field(default_factory=PriceSettings)
    interruptions: InterruptionSettings = Field(default_factory=InterruptionSettings)
