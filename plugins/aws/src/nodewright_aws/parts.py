"""What the provider knows besides the groups, part by part."""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from nodewright.api import Clock, NodewrightError

from nodewright_aws.autoscaling.activities import Activities
from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.calls import Calls
from nodewright_aws.calls.circuit_breaker import CircuitBreaker
from nodewright_aws.config import AwsConfig
from nodewright_aws.instance_types.catalogue import Catalogue
from nodewright_aws.interruptions.interruptions import Interruptions
from nodewright_aws.pools import Pool
from nodewright_aws.prices.prices import Prices
from nodewright_aws.templates.templates import Templates

_log = logging.getLogger(__name__)


class Parts:
    """The parts for the region of *aws*. Each reads AWS in `refresh` only, and answers from that.

    Making them may ask the machine for its region.
    """

    def __init__(self, aws: Calls, config: AwsConfig, clock: Clock) -> None:
        region = aws.region
        aws = CircuitBreaker(aws)
        catalogue = Catalogue(aws, clock, static=config.static_instance_list)
        self.templates = Templates(aws, catalogue, config.templates, clock, region)
        self.activities = Activities(aws, clock)
        self.interruptions = Interruptions(aws, config.interruptions, clock)
        self.prices = Prices(aws, config.prices, clock, region, infos=catalogue.get)
        #: By part: why its last refresh failed.
        self._troubles: dict[str, str] = {}

    def refresh(self, groups: Sequence[AutoScalingGroup]) -> None:
        """Read what is unknown or old about *groups*. A part that fails keeps what it knew, and logs that once."""
        self._try("templates", lambda: self.templates.refresh(groups))
        short = [group for group in groups if group.missing]
        self._try("scaling activities", lambda: self.activities.refresh(short))
        self._try("interruptions", lambda: self.interruptions.refresh(groups))
        self._try("prices", lambda: self.prices.refresh(self._pools(groups)))

    def _pools(self, groups: Iterable[AutoScalingGroup]) -> set[Pool]:
        pools: set[Pool] = set()
        for group in groups:
            # A group of which nothing is known has no pools.
            with suppress(NodewrightError):
                pools.update(self.templates.pools(group))
        return pools

    def _try(self, part: str, refresh: Callable[[], None]) -> None:
        try:
            refresh()
        except NodewrightError as error:
            self._warn(part, str(error) or type(error).__name__)
        except Exception as error:
            if self._warn(part, f"{type(error).__name__}: {error}"):
                _log.exception("reading %s failed, which is a bug in nodewright-aws", part)
        else:
            if self._troubles.pop(part, ""):
                _log.info("%s can be read again", part)

    def _warn(self, part: str, trouble: str) -> bool:
        """Log *trouble* unless it is known; tell whether it is new."""
        if self._troubles.get(part) == trouble:
            return False
        self._troubles[part] = trouble
        _log.warning("%s could not be read, so what was known of them stays: %s", part, trouble)
        return True
