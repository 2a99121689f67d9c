"""What spot machines cost, from the history that EC2 keeps of their prices."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.pools import Pool
from nodewright_aws.prices.agenda import Agenda, Key

#: The same machine is listed by the one name or the other, depending on how old the account is.
_PRODUCTS = ("Linux/UNIX", "Linux/UNIX (Amazon VPC)")
#: Types for one request, so that it does not grow too long.
_TYPES = 100
_REMEDY = "allow ec2:DescribeSpotPriceHistory, or set prices.spot to off"


class SpotPrices:
    """Knows the newest prices of the pools in use. Prices are in the currency of AWS, for an hour."""

    def __init__(self, aws: Calls, clock: Clock, interval: timedelta, chance: Random) -> None:
        self._aws = aws
        self._clock = clock
        self._agenda = Agenda("spot prices", _REMEDY, clock, interval, chance)
        #: By zone and instance type.
        self.known: Mapping[Key, float] = {}

    def refresh(self, pools: Collection[Pool]) -> None:
        """Ask for the prices of *pools*, all of them if it is time, and otherwise those that are new.

        If AWS does not answer, what was known stays known.
        """
        in_use = frozenset((pool.zone, pool.instance_type) for pool in pools)
        self.known = {key: price for key, price in self.known.items() if key in in_use}
        with self._agenda.questions(in_use) as questions:
            self.known |= self._read(questions)

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
                # The price that holds now is told as well, however long ago it was set.
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
