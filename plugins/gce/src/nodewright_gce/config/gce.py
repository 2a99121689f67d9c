"""A project of Google Cloud, and which of its groups to use."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from nodewright.api import PluginConfig
from pydantic import AfterValidator, Field, model_validator

from nodewright_gce.config.fields import Duration
from nodewright_gce.config.prices import PriceSettings
from nodewright_gce.config.templates import TemplateSettings
from nodewright_gce.group_specs import DiscoveryRule, check_limits, check_prefix, is_region, is_zone, parse_group

#: Services of Google that the plugin calls.
Service = Literal["billing", "compute", "iam"]


def _group(text: str) -> str:
    parse_group(text)
    return text


def _place(what: str, example: str, is_one: Callable[[str], bool]) -> Callable[[str], str]:
    def check(name: str) -> str:
        if not is_one(name):
            raise ValueError(f"{name!r} is no {what}: write one such as {example}")
        return name

    return check


def _prefix(text: str) -> str:
    check_prefix(text)
    return text


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{text!r} is no URL: write one such as https://compute.googleapis.com")
    return text


def _account(text: str) -> str:
    if text and "@" not in text:
        raise ValueError(
            f"{text!r} is no service account: write its e-mail address, NAME@PROJECT.iam.gserviceaccount.com"
        )
    return text


Zone = Annotated[str, AfterValidator(_place("zone", "europe-west1-b", is_zone))]
Region = Annotated[str, AfterValidator(_place("region", "europe-west1", is_region))]


class DiscoverySettings(PluginConfig, defer_build=True):
    """Finds the groups that all of this is true of."""

    #: Names begin with it, and go on behind it.
    name_prefix: Annotated[str, AfterValidator(_prefix)] = ""
    #: A shell pattern for the name of the instance template, such as ``workers-*``.
    template: str = ""
    #: Labels of the instance template; null matches any value.
    labels: Mapping[Annotated[str, Field(min_length=1)], str | None] = Field(default_factory=dict)
    #: Limits of each group, if the metadata of its template does not say.
    min: int | None = Field(default=None, ge=0)
    max: int | None = Field(default=None, ge=1)
    #: Where to look, if not in the project, zones and regions of the provider.
    project: str = ""
    zones: tuple[Zone, ...] = ()
    regions: tuple[Region, ...] = ()

    @model_validator(mode="after")
    def _finds_some(self) -> Self:
        if not (self.name_prefix or self.template or self.labels):
            raise ValueError("the rule would find all groups: write namePrefix, template or labels")
        check_limits(self.min, self.max)
        return self

    @property
    def rule(self) -> DiscoveryRule:
        """The rule that is written here."""
        return DiscoveryRule(
            name_prefix=self.name_prefix,
            template=self.template,
            labels=self.labels,
            min_size=self.min,
            max_size=self.max,
            project=self.project,
            zones=self.zones,
            regions=self.regions,
        )


class GceConfig(PluginConfig, defer_build=True):
    """A project of Google Cloud, and which of its groups to use."""

    #: If empty: that of cloudConfig, GOOGLE_CLOUD_PROJECT, the credentials, or the machine's own.
    project: str = ""
    #: Where `discover` looks: zones, and regions with all their zones and their regional groups.
    #: If both are empty: the zone of cloudConfig, or the machine's own.
    zones: tuple[Zone, ...] = ()
    regions: tuple[Region, ...] = ()
    #: Look in all zones of the region that the zone of cloudConfig, or the machine's own, is in.
    regional: bool = False
    #: Groups that match any of these are used.
    discover: tuple[DiscoverySettings, ...] = ()
    #: Groups by URL, as ``min:max:URL``; in addition to those of nodeGroups.
    groups: tuple[Annotated[str, AfterValidator(_group)], ...] = ()
    #: A file of credentials. If empty: that of GOOGLE_APPLICATION_CREDENTIALS or of gcloud, or the machine's account.
    credentials: str = ""
    #: The e-mail address of a service account to act as.
    impersonate: Annotated[str, AfterValidator(_account)] = ""
    #: A file of Cluster Autoscaler's --cloud-config.
    cloud_config: str = ""
    #: URLs by service.
    endpoints: Mapping[Service, Annotated[str, AfterValidator(_url)]] = Field(default_factory=dict)
    #: How many calls that read groups and their machines are made at the same time.
    concurrent_refreshes: int = Field(default=8, ge=1, le=64)
    #: The machines of a group are not read again within this time, unless Nodewright changed the group.
    instances_min_refresh_wait: Duration = Field(default="5s", validate_default=True, ge=timedelta(0))
    #: Has no effect: the machines of groups at rest are not listed at all.
    bulk_listing: bool = False
    #: Read the quotas of the regions, and let groups share them.
    quotas: bool = True
    #: Read the reservations that templates name.
    reservations: bool = True
    templates: TemplateSettings = Field(default_factory=TemplateSettings)
    prices: PriceSettings = Field(default_factory=PriceSettings)
