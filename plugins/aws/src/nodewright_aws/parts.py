"""What the provider knows besides the groups, part by part."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from nodewright.api import Clock, NodewrightError

from nodewright_aws.attempts import Attempts
from nodewright_aws.calls import Calls
from nodewright_aws.calls.patience import Patience
from nodewright_aws.config import AwsConfig
from nodewright_aws.groups.activities import Activities
from nodewright_aws.groups.lifecycle import missing
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.interruptions.interruptions import Interruptions
from nodewright_aws.pools import Pool
from nodewright_aws.prices.prices import Prices
from nodewright_aws.shapes.catalogue import Catalogue
from nodewright_aws.templates.templates import Templates


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Each reads AWS in `refresh` only, and answers from that."""

    templates: Templates
    activities: Activities
    interruptions: Interruptions
    prices: Prices

    def refresh(self, groups: Sequence[GroupReading], attempts: Attempts) -> None:
        """Read what is unknown or old about *groups*. A part that fails keeps what it knew, and is told of once."""
        attempts.make("templates", lambda: self.templates.refresh(groups))
        short = [group for group in groups if missing(group)]
        attempts.make("scaling activities", lambda: self.activities.refresh(short))
        attempts.make("interruptions", lambda: self.interruptions.refresh(groups))
        attempts.make("prices", lambda: self.prices.refresh(self._pools(groups)))

    def _pools(self, groups: Iterable[GroupReading]) -> set[Pool]:
        pools: set[Pool] = set()
        for group in groups:
            # A group that nothing is known of has none.
            with suppress(NodewrightError):
                pools.update(self.templates.pools(group))
        return pools


def make_parts(aws: Calls, config: AwsConfig, clock: Clock) -> Parts:
    """Return the parts for the region of *aws*, which may have to ask the machine for it."""
    region = aws.region
    aws = Patience(aws)
    catalogue = Catalogue(aws, clock, static=config.static_instance_list)
    return Parts(
        templates=Templates(aws, catalogue, config.templates, clock, region),
        activities=Activities(aws, clock),
        interruptions=Interruptions(aws, config.interruptions, clock),
        prices=Prices(aws, config.prices, clock, region, shapes=catalogue.get),
    )
