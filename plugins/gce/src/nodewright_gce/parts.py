"""What the provider knows besides the groups, part by part."""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from nodewright.api import Clock, NodewrightError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.groups.machines import is_queued, to_come
from nodewright_gce.groups.services import Knowledge
from nodewright_gce.groups.supply import Supply
from nodewright_gce.migs.history import History
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.queues import Queues
from nodewright_gce.migs.quotas import Quotas
from nodewright_gce.migs.reservations import Reservations
from nodewright_gce.pools import Pool
from nodewright_gce.prices.prices import Prices
from nodewright_gce.templates.templates import Templates

_log = logging.getLogger(__name__)


class Parts:
    """The parts of a project. Each reads Google Cloud in `refresh` only, and answers from that."""

    def __init__(self, compute: Compute, config: GceConfig, clock: Clock, time_of_day: Clock) -> None:
        self._config = config
        self.templates = Templates(compute, config.templates, clock, config.concurrent_refreshes)
        self.history = History(compute, time_of_day)
        self.queues = Queues(compute, clock)
        self.supply = Supply(Quotas(compute, clock), Reservations(compute, clock), self.templates)
        self.prices = Prices(compute, config.prices, clock)
        #: By part: why its last refresh failed.
        self._troubles: dict[str, str] = {}

    def refresh(self, groups: Sequence[ManagedGroup]) -> None:
        """Read what is unknown or old about *groups*. A part that fails keeps what it knew, and logs that once."""
        self._try("templates", lambda: self.templates.refresh(groups))
        queued = [each for each in groups if self._has_queue(each)]
        self._try("resize requests", lambda: self.queues.refresh(queued))
        self._try("histories of errors", lambda: self.history.refresh(groups, _is_silent, self._pool))
        if self._config.quotas:
            self._try("quotas", lambda: self.supply.refresh_quotas(groups))
        if self._config.reservations:
            self._try("reservations", lambda: self.supply.refresh_reservations(groups))
        self._try("prices", lambda: self.prices.refresh(self._pools(groups)))

    @property
    def known(self) -> Knowledge:
        """What groups show of it."""
        return Knowledge(templates=self.templates, history=self.history, queues=self.queues, supply=self.supply)

    def _has_queue(self, group: ManagedGroup) -> bool:
        return self.queues.is_waiting(group.address.id) or any(map(is_queued, group.members))

    def _pool(self, group: ManagedGroup) -> Pool:
        """Where machines of *group* come from, as far as that is the same for all."""
        pools: Sequence[Pool] = ()
        with suppress(NodewrightError):
            pools = self.templates.pools(group)
        place = group.address.place
        return pools[0] if len(pools) == 1 else Pool(zone="" if place.regional else place.name)

    def _pools(self, groups: Iterable[ManagedGroup]) -> set[Pool]:
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
                _log.exception("reading %s failed, which is a bug in nodewright-gce", part)
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


def _is_silent(group: ManagedGroup) -> bool:
    """Whether machines of *group* are missing, and none of it shows why."""
    mig = group.mig
    if group.trouble is not None or mig.status.is_stable:
        return False
    if any(each.last_attempt.errors.errors for each in group.members):
        return False
    return to_come(group.members, mig) > 0
