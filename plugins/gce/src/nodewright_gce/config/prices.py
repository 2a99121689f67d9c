"""Where prices come from, and how they are corrected."""

from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Self

from nodewright.api import PluginConfig
from pydantic import Field, model_validator

from nodewright_gce.config.fields import Duration


class OnDemandSource(StrEnum):
    """Where list prices come from."""

    TABLE = "table"
    API = "api"
    OFF = "off"


class Lifecycle(StrEnum):
    """How a machine is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"


class MixedPrices(StrEnum):
    """What a node costs if the machines that its group may get differ in price."""

    HIGHEST = "highest"
    LOWEST = "lowest"
    MEAN = "mean"


class PriceRule(PluginConfig, defer_build=True):
    """What machines really cost. Names are shell patterns; one that is left out matches everything."""

    machine_type: str = "*"
    zone: str = "*"
    region: str = "*"
    lifecycle: Lifecycle | None = None
    #: Per hour with all that belongs to the machine, in place of Google's price.
    price: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    #: Of Google's price: 0.72 is a discount of 28 %.
    factor: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    #: Per hour, on top of the rest: licences, agents, support.
    per_node: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _changes_a_price(self) -> Self:
        if self.price is not None and self.factor is not None:
            raise ValueError(
                "price and factor exclude each other: write the hourly price, or a factor of Google's price"
            )
        if self.price is None and self.factor is None and not self.per_node:
            raise ValueError("the rule changes no price: write price, factor or perNode")
        return self

    def matches(self, machine_type: str, *, zone: str, region: str, spot: bool) -> bool:
        """Tell whether the rule is about such machines."""
        return (
            fnmatchcase(machine_type, self.machine_type)
            and fnmatchcase(zone, self.zone)
            and fnmatchcase(region, self.region)
            and self.lifecycle in (None, Lifecycle.SPOT if spot else Lifecycle.ON_DEMAND)
        )

    def applied(self, price: float | None) -> float | None:
        """Return what a machine really costs if Google charges *price*; None if that is unknown."""
        if self.price is not None:
            return self.price + self.per_node
        return None if price is None else price * (self.factor or 1.0) + self.per_node


class PriceSettings(PluginConfig, defer_build=True):
    """Where prices come from, and how they are corrected."""

    #: The bundled table; Google's billing catalogue, then the table; or nothing but the overlay.
    on_demand: OnDemandSource = OnDemandSource.TABLE
    #: How often the catalogue is read.
    on_demand_interval: Duration = Field(default="12h", validate_default=True, ge=timedelta(minutes=10))
    #: Share of the on-demand price, for what has no known spot price; without it, that has none.
    spot_ratio: float | None = Field(default=None, gt=0, le=1)
    mixed: MixedPrices = MixedPrices.MEAN
    #: The currency of all prices, if not USD, and the value of one USD in it.
    currency: str = Field(default="", pattern="^([A-Z]{3})?$")
    exchange_rate: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    #: The first rule that matches a machine counts. Amounts are in the currency of all prices.
    overlay: tuple[PriceRule, ...] = ()

    @model_validator(mode="after")
    def _can_convert(self) -> Self:
        if bool(self.currency) != (self.exchange_rate is not None):
            raise ValueError("currency and exchangeRate go together: write both, or neither for USD")
        return self
