"""What the cloud can't deliver: stocks that run dry and quotas that are used up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from nodewright.api import ErrorClass, InstanceError

from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance_type import InstanceType


class ShortageMode(StrEnum):
    """How the cloud reports that it can't deliver."""

    #: The order is accepted; each machine that can't be had shows up as failed.
    FAIL = "fail"
    #: The order is refused at once.
    REFUSE = "refuse"
    #: The order is accepted and nothing happens until machines can be had.
    WAIT = "wait"
    #: The same, and the group says why.
    SAY = "say"


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """Why an order can't be filled now."""

    mode: ShortageMode
    error: InstanceError


@dataclass(frozen=True, kw_only=True)
class Stock:
    """The most machines that a capacity pool can hold at once."""

    #: Pattern of pools; each pool has a stock of its own.
    pools: str
    available: int
    mode: ShortageMode
    #: Whether the cloud tells how many machines are left.
    told: bool = False


@dataclass(frozen=True, kw_only=True)
class Quota:
    """The most processors that the customer may have of some instance types, over all zones."""

    #: Pattern of instance types, which share the quota.
    instance_types: str
    vcpus: int
    mode: ShortageMode
    #: Whether the cloud tells how many machines are left.
    told: bool = False

    @property
    def name(self) -> str:
        """Its name in errors, and among what machines take."""
        return f"vcpus/{self.instance_types}"


class Supply:
    """Stocks and quotas, and what is taken of them. Used under the cloud's lock only."""

    def __init__(self, instance_types: Mapping[str, InstanceType]) -> None:
        self._instance_types = instance_types
        self._stocks: dict[str, Stock] = {}
        self._quotas: dict[str, Quota] = {}
        self._taken: Counter[str] = Counter()
        self._vcpus: Counter[str] = Counter()

    @property
    def stocks(self) -> tuple[Stock, ...]:
        """All stocks that are limited."""
        return tuple(self._stocks.values())

    @property
    def quotas(self) -> tuple[Quota, ...]:
        """All quotas."""
        return tuple(self._quotas.values())

    def limit_stock(self, stock: Stock) -> None:
        """Limit a stock, instead of the limit set for the same pattern before."""
        self._stocks[stock.pools] = stock

    def lift_stocks(self, pools: str) -> bool:
        """Lift the limits whose pattern is, or is matched by, *pools*; return whether there was any."""
        kept = {key: stock for key, stock in self._stocks.items() if not fnmatchcase(key, pools)}
        lifted = len(kept) < len(self._stocks)
        self._stocks = kept
        return lifted

    def limit_quota(self, quota: Quota) -> None:
        """Set a quota, instead of the one set for the same pattern before."""
        self._quotas[quota.instance_types] = quota

    def lift_quotas(self, instance_types: str) -> bool:
        """Lift the quotas whose pattern is, or is matched by, *instance_types*; return whether there was any."""
        kept = {key: quota for key, quota in self._quotas.items() if not fnmatchcase(key, instance_types)}
        lifted = len(kept) < len(self._quotas)
        self._quotas = kept
        return lifted

    def take(self, group: GroupSettings, count: int = 1) -> None:
        """Note that *count* machines of *group* are held; a negative one gives them back."""
        self._taken[group.pool] += count
        self._vcpus[group.instance_type] += count * self._instance_types[group.instance_type].vcpus

    def taken_of_quotas(self, group: GroupSettings) -> dict[str, int]:
        """What a machine of *group* takes of quotas, by their names."""
        vcpus = self._instance_types[group.instance_type].vcpus
        return {quota.name: vcpus for quota in self._quotas_of(group)}

    def left(self, group: GroupSettings) -> int | None:
        """How many more machines of *group* there are, as far as the cloud tells."""
        vcpus = self._instance_types[group.instance_type].vcpus
        rooms = [quota.vcpus - self._used(quota) for quota in self._quotas_of(group) if quota.told]
        stocks = [stock for stock in self._stocks.values() if stock.told and fnmatchcase(group.pool, stock.pools)]
        left = [room // vcpus for room in rooms] + [stock.available - self._taken[group.pool] for stock in stocks]
        return max(0, min(left)) if left else None

    def shortage(self, group: GroupSettings, count: int = 1) -> Shortage | None:
        """Why *count* more machines can't be had for *group*; None if they can."""
        for stock in self._stocks.values():
            if fnmatchcase(group.pool, stock.pools) and self._taken[group.pool] + count > stock.available:
                return Shortage(
                    mode=stock.mode,
                    error=InstanceError(
                        error_class=ErrorClass.STOCK_OUT,
                        code="STOCK_OUT",
                        message=f"capacity pool {group.pool} has no more machines at the moment",
                        pool=group.pool,
                    ),
                )
        for quota in self._quotas_of(group):
            used = self._used(quota)
            wanted = count * self._instance_types[group.instance_type].vcpus
            if used + wanted > quota.vcpus:
                return Shortage(
                    mode=quota.mode,
                    error=InstanceError(
                        error_class=ErrorClass.QUOTA,
                        code="QUOTA_EXCEEDED",
                        message=f"{used} of {quota.vcpus} vCPUs of {quota.instance_types} are in use, "
                        f"{wanted} more are not allowed: ask for a higher quota",
                        pool=quota.name,
                    ),
                )
        return None

    def _quotas_of(self, group: GroupSettings) -> list[Quota]:
        return [each for each in self._quotas.values() if fnmatchcase(group.instance_type, each.instance_types)]

    def _used(self, quota: Quota) -> int:
        return sum(vcpus for name, vcpus in self._vcpus.items() if fnmatchcase(name, quota.instance_types))
