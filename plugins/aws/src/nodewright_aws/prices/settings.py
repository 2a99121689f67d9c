"""Where prices come from, and what is added to them or taken off."""

from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Self

from nodewright.api import PluginConfig
from pydantic import Field, model_validator

from nodewright_aws.duration import Duration
from nodewright_aws.pools import Lifecycle, Pool


class OnDemandSource(StrEnum):
    """Where prices on demand come from."""

    #: The table that comes along.
    TABLE = "table"
    #: The price list API, and the table for what it does not tell.
    API = "api"
    OFF = "off"


class SpotSource(StrEnum):
    """Where spot prices come from."""

    HISTORY = "history"
    OFF = "off"


class Mixed(StrEnum):
    """What a node of a group costs whose pools differ in price."""

    HIGHEST = "highest"
    LOWEST = "lowest"
    MEAN = "mean"


class OverlayRule(PluginConfig, defer_build=True):
    """What machines really cost. Names are patterns as in a shell; one that is left out matches everything."""

    instance_type: str = "*"
    zone: str = "*"
    region: str = "*"
    lifecycle: Lifecycle | None = None
    #: For an hour, instead of AWS' price.
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    #: Of AWS' price: 0.72 is a discount of 28 %.
    factor: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    #: For an hour, on top of the rest: licences, agents, support.
    per_node: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.price is not None and self.factor is not None:
            raise ValueError(
                "price and factor exclude each other: write the price for an hour, or a factor of AWS' price"
            )
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
        """Return what a machine costs for which AWS asks *price*, None if that is not known."""
        if self.price is not None:
            return self.price + self.per_node
        return None if price is None else price * (self.factor or 1.0) + self.per_node


class PriceSettings(PluginConfig, defer_build=True):
    """Where prices come from, and what is added to them or taken off."""

    on_demand: OnDemandSource = OnDemandSource.TABLE
    #: How often the price list is read again.
    on_demand_interval: Duration = Field(default="12h", validate_default=True, ge=timedelta(minutes=10))
    spot: SpotSource = SpotSource.HISTORY
    #: How often spot prices are read again.
    spot_interval: Duration = Field(default="5m", validate_default=True, ge=timedelta(minutes=1))
    #: Of the price on demand, for spot pools whose price is not known; without it, they have none.
    spot_ratio: float | None = Field(default=None, gt=0, le=1)
    mixed: Mixed = Mixed.MEAN
    #: The currency of all prices, if it is not that of AWS in this region, and what one unit of AWS' currency is in it.
    currency: str = Field(default="", pattern="^([A-Z]{3})?$")
    exchange_rate: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    #: The first rule that matches a pool counts. Its amounts are in the currency of all prices.
    overlay: tuple[OverlayRule, ...] = ()

    @model_validator(mode="after")
    def _can_convert(self) -> Self:
        if bool(self.currency) != (self.exchange_rate is not None):
            raise ValueError("currency and exchangeRate go together: write both, or neither for the currency of AWS")
        return self
