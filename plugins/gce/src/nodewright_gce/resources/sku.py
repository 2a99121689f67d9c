"""Entries of the billing catalogue."""

from nodewright_gce.resources.resource import Resource


class SkuCategory(Resource, frozen=True, kw_only=True):
    """What kind of thing is sold."""

    resource_family: str = ""
    resource_group: str = ""
    #: ``OnDemand``, ``Preemptible``, ``Commit1Yr``, …
    usage_type: str = ""


class UnitPrice(Resource, frozen=True, kw_only=True):
    """An amount of money."""

    currency_code: str = ""
    units: int | str = 0
    nanos: int = 0


class TieredRate(Resource, frozen=True, kw_only=True):
    """A price from an amount on."""

    start_usage_amount: float = 0
    unit_price: UnitPrice = UnitPrice()


class PricingExpression(Resource, frozen=True, kw_only=True):
    """A price by unit: ``h``, ``GiBy.h``, ``GiBy.mo``."""

    usage_unit: str = ""
    tiered_rates: tuple[TieredRate, ...] = ()


class PricingInfo(Resource, frozen=True, kw_only=True):
    """The present price."""

    pricing_expression: PricingExpression = PricingExpression()


class Sku(Resource, frozen=True, kw_only=True):
    """Something that is sold."""

    name: str = ""
    sku_id: str = ""
    description: str = ""
    category: SkuCategory = SkuCategory()
    service_regions: tuple[str, ...] = ()
    pricing_info: tuple[PricingInfo, ...] = ()
