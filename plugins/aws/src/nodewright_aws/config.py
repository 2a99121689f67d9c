"""What users write under ``aws`` in YAML."""

from collections.abc import Mapping

from nodewright.api import PluginConfig
from pydantic import Field

from nodewright_aws.interruptions.settings import InterruptionSettings
from nodewright_aws.prices.settings import PriceSettings
from nodewright_aws.templates.settings import TemplateSettings


class Discovery(PluginConfig):
    """Finds groups: those that have all of these tags."""

    #: By key; null takes any value.
    tags: Mapping[str, str | None] = Field(min_length=1)


class Role(PluginConfig):
    """A role to take on before anything else is done."""

    arn: str
    external_id: str = ""
    session_name: str = "nodewright"


class AwsConfig(PluginConfig):
    """An account and region, and which of its groups to use."""

    #: As the SDK finds it, if empty: AWS_REGION, the profile, the machine's own.
    region: str = ""
    profile: str = ""
    assume_role: Role | None = None
    #: URLs by service, as boto3 names them.
    endpoints: Mapping[str, str] = Field(default_factory=dict)
    #: A file of Cluster Autoscaler's --cloud-config.
    cloud_config: str = ""
    #: Stands before the names of groups, for accounts and regions that have groups of the same name.
    prefix: str = ""
    #: Groups that match any of these are used, with the limits that AWS has for them.
    discover: tuple[Discovery, ...] = ()
    #: Groups by name, as ``min:max:name``; besides those of nodeGroups.
    groups: tuple[str, ...] = ()
    #: Take instance types from the table that comes along, and ask AWS for none.
    static_instance_list: bool = False
    templates: TemplateSettings = Field(default_factory=TemplateSettings)
    prices: PriceSettings = Field(default_factory=PriceSettings)
    interruptions: InterruptionSettings = Field(default_factory=InterruptionSettings)
