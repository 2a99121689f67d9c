"""Spot prices, from EC2's price history."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.pools import Pool
from nodewright_aws.prices.schedule import Key, RefreshSchedule

#: Which of the two names a machine is listed by depends on the age of the account.
_PRODUCTS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
#: Types per request, to limit its length.
_TYPES = 100
_ADVICE = "allow ec2:DescribeSpotPriceHistory, or set prices.spot to off"


class SpotPrices:
    """The newest hourly prices of the pools in use, in AWS' currency."""

    def __init__(self, aws: Calls, clock: Clock, interval: timedelta, chance: Random) -> None:
        self._aws = aws
        self._clock = clock
        self._schedule = RefreshSchedule("spot prices", _ADVICE, clock, interval, chance)
        #: By zone and instance type.
        self.known: Mapping[Key, float] = {}

    def refresh(self, pools: Collection[Pool]) -> None:
        """Ask for the prices of *pools*: all of them once per interval, new ones at once.

        If AWS does not answer, known prices stay.
        """
        in_use = frozenset((pool.zone, pool.instance_type) for pool in pools)
        self.known = {key: price for key, price in self.known.items() if key in in_use}
        with self._schedule.due(in_use) as due:
            self.known |= self._read(due)

    def _read(self, wanted: Collection[Key]) -> dict[Key, float]:
        newest: dict[Key, tuple[datetime, float]] = {}
        for types in _batches(sorted({name for _, name in wanted})):
            zones = sorted({zone for zone, name in wanted if name in types})
            for page in self._aws.pages(
                "ec2",
                "describe_spot_price_history",
                InstanceTypes=types,
                ProductDescriptions=list(_PRODUCTS),
                Filters=[{"Name": "availability-zone", "Values": zones}],
                # The answer includes the current price, however old it is.
                StartTime=self._clock.now(),
            ):
                for key, at, price in map(_parse, page.get("SpotPriceHistory", ())):
                    if key in wanted and price > 0 and (key not in newest or at > newest[key][0]):
                        newest[key] = at, price
        return {key: price for key, (_, price) in newest.items()}


def _parse(entry: Mapping[str, Any]) -> tuple[Key, datetime, float]:
    return (entry["AvailabilityZone"], entry["InstanceType"]), entry["Timestamp"], float(entry["SpotPrice"])


def _batches(names: list[str]) -> Iterator[list[str]]:
    rest = iter(names)
    while batch := list(islice(rest, _TYPES)):
        yield batch
