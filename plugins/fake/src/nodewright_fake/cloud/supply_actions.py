"""Stocks and quotas that change."""

from pydantic import Field

from nodewright_fake.cloud.action import Action
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.refusal import bad_request
from nodewright_fake.cloud.shortage import Quota, ShortageMode, Stock
from nodewright_fake.names import InstanceTypePattern, PoolPattern


class StockOut(Action):
    """Pools hold a limited number of machines at once."""

    summary = "let capacity pools run dry"

    pool: PoolPattern
    #: Machines that a pool can hold; those above stay, but are not replaced.
    available: int = Field(default=0, ge=0)
    mode: ShortageMode = ShortageMode.FAIL
    #: Whether the cloud tells how many are left.
    told: bool = False

    def apply(self, cloud: Cloud) -> None:
        """Limit the stock."""
        with cloud.lock:
            cloud.supply.limit_stock(Stock(pools=self.pool, available=self.available, mode=self.mode, told=self.told))
            cloud.fill()


class Restore(Action):
    """Pools are as large as ever again."""

    summary = "end stock-outs"

    pool: str = "*"

    def apply(self, cloud: Cloud) -> None:
        """Lift the limit of the stock."""
        with cloud.lock:
            if not cloud.supply.lift_stocks(self.pool):
                limited = ", ".join(stock.pools for stock in cloud.supply.stocks)
                raise bad_request(f"no stock is limited by the pattern {self.pool!r}; limited: {limited or 'none'}")
            cloud.fill()


class LimitQuota(Action):
    """Instance types share a quota of processors."""

    summary = "allow no more than so many vCPUs of some instance types"

    types: InstanceTypePattern
    vcpus: int = Field(ge=0)
    mode: ShortageMode = ShortageMode.REFUSE
    #: Whether the cloud tells how many machines are left.
    told: bool = False

    def apply(self, cloud: Cloud) -> None:
        """Set the quota."""
        with cloud.lock:
            cloud.supply.limit_quota(Quota(instance_types=self.types, vcpus=self.vcpus, mode=self.mode, told=self.told))
            cloud.fill()


class LiftQuota(Action):
    """A quota is gone."""

    summary = "end quotas"

    types: str = "*"

    def apply(self, cloud: Cloud) -> None:
        """Lift the quota."""
        with cloud.lock:
            if not cloud.supply.lift_quotas(self.types):
                limited = ", ".join(quota.instance_types for quota in cloud.supply.quotas)
                raise bad_request(f"there is no quota for the pattern {self.types!r}; quotas: {limited or 'none'}")
            cloud.fill()
