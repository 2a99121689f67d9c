"""Back-off: groups that failed to grow and capacity pools that ran dry are left alone, longer each time."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from nodewright.api.group import GroupFacts
from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import BackoffSettings
from nodewright.decision.memory import Backoff
from nodewright.objects.node import INSTANCE_TYPE, ZONE

#: How many characters of a cloud's message are kept.
_MOST = 500
_CUT = "<truncated>"
TIMEOUT = InstanceError(error_class=ErrorClass.OTHER, code="timeout", message="machines did not come in time")


class Backoffs:
    """What is backed off at *now*: groups by id, and dry pools by provider and pool.

    A stock-out that names its pool concerns every group that draws from the pool. A quota concerns only the group, even
    if it names a pool: it is not known which other machines it counts, and groups for which there is room must be
    able to grow.
    """

    def __init__(
        self, groups: Mapping[str, Backoff], pools: Mapping[str, Backoff], settings: BackoffSettings, now: datetime
    ) -> None:
        self._settings = settings
        self._now = now
        self.groups = self._remembered(groups)
        self.pools = self._remembered(pools)

    def note(self, group: str, provider: str, cause: InstanceError) -> None:
        """Back off *group* because of *cause*, and the pool of its *provider* that ran dry, if one did."""
        dry = cause.error_class is ErrorClass.STOCK_OUT and bool(cause.pool)
        self.groups[group] = self._after(self.groups.get(group), cause, cause.pool if dry else "")
        if dry:
            key = _key(provider, cause.pool)
            self.pools[key] = self._after(self.pools.get(key), cause, cause.pool)

    def runs(self, group: str) -> bool:
        """Tell whether *group* failed itself and is backed off now."""
        known = self.groups.get(group)
        return known is not None and self._now < known.until

    def against(self, facts: GroupFacts) -> Verdict | None:
        """Return why the group is backed off: it failed itself, or all its pools are dry. None if it is not."""
        if self.runs(facts.id):
            return Verdict(reason=Reason.GROUP_BACKED_OFF, detail=_described(self.groups[facts.id]))
        dry = self._dry(facts)
        return None if dry is None else Verdict(reason=Reason.POOL_DRY, detail=_described(dry))

    def of(self, facts: GroupFacts) -> Backoff | None:
        """Return the back-off that keeps the group from growing, as in `against`; None if there is none."""
        return self.groups[facts.id] if self.runs(facts.id) else self._dry(facts)

    def _dry(self, facts: GroupFacts) -> Backoff | None:
        """Return the back-off of the group's pools that ends first; None if one of the pools is not dry."""
        if not self.pools:
            return None
        dry = [
            self.pools.get(_key(facts.provider, pool)) for pool in sorted(_pools_of(facts, self.groups.get(facts.id)))
        ]
        paused = [known for known in dry if known is not None and self._now < known.until]
        if not paused or len(paused) < len(dry):
            return None
        return min(paused, key=lambda known: known.until)

    def _after(self, known: Backoff | None, cause: InstanceError, pool: str) -> Backoff:
        """Return the back-off after a failure now; *known* is the last one.

        Failures during a back-off don't lengthen it. The first one after its end doubles the pause, up to a maximum.
        """
        if known is not None and self._now < known.until:
            until, pause = known.until, known.pause
        else:
            pause = self._settings.initial if known is None else min(known.pause * 2, self._settings.max)
            until = self._now + pause
        return Backoff(
            until=until,
            pause=pause,
            failed_at=self._now,
            error_class=cause.error_class,
            code=cause.code,
            pool=pool,
            message=_shortened(cause.message),
        )

    def _remembered(self, backoffs: Mapping[str, Backoff]) -> dict[str, Backoff]:
        """Return *backoffs* without those whose last failure is so long ago that the next one counts as the first.

        Those of the future go as well: the clock was set back, and no group should wait until it catches up.
        """
        return {
            key: known
            for key, known in backoffs.items()
            if timedelta(0) <= self._now - known.failed_at < self._settings.reset_after
        }


def _pools_of(facts: GroupFacts, known: Backoff | None) -> set[str]:
    """Return the known pools that the group draws from.

    If its provider names none, these are the pools of its next machine and of its machines, and the one that failed.
    """
    if facts.pools:
        return set(facts.pools)
    pools = {_pool(instance.zone, instance.instance_type) for instance in facts.instances}
    if facts.template is not None:
        labels = facts.template.labels
        pools.add(_pool(labels.get(ZONE, ""), labels.get(INSTANCE_TYPE, "")))
    if known is not None:
        pools.add(known.pool)
    return pools - {""}


def _pool(zone: str, instance_type: str) -> str:
    return f"{zone}/{instance_type}" if zone and instance_type else ""


def _key(provider: str, pool: str) -> str:
    return f"{provider}:{pool}"


def _shortened(message: str) -> str:
    """Return as much of *message* as the status has room for. Cluster Autoscaler shortens it in the same way."""
    return message if len(message) <= _MOST else message[: _MOST - len(_CUT)] + _CUT


def _described(known: Backoff) -> str:
    what = known.code
    # A code such as NoCapacity or 409 needs an explanation; one that is the class itself does not.
    if known.error_class is not ErrorClass.OTHER and _plain(known.code) != _plain(known.error_class):
        what += f", {known.error_class}"
    if known.pool:
        what += f" of {known.pool}"
    return f"{what}, until {known.until:%H:%M:%S}"


def _plain(word: str) -> str:
    return word.replace("_", "").replace("-", "").casefold()
