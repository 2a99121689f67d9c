"""Back-off: groups that failed to grow, and pools and quotas that are used up, are left alone, longer each time."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.api.group import GroupFacts
from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import BackoffSettings
from nodewright.decision.memory import Backoff, HealthMemory
from nodewright.objects.node import INSTANCE_TYPE, ZONE

#: How many characters of a cloud's message are kept.
_MOST = 500
_CUT = "<truncated>"
TIMEOUT = InstanceError(error_class=ErrorClass.OTHER, code="timeout", message="machines did not come in time")


class Backoffs:
    """What is backed off at *now*: groups by id, and dry pools and full quotas by provider and their names.

    A stock-out that names its pool concerns every group that draws from the pool. A quota that is named concerns the
    groups whose machines take at least as much of it as the one that was refused: smaller ones may still fit in. Any
    other quota concerns only the group, even if the cloud names a pool: it is not known which other machines it counts,
    and groups for which there is room must be able to grow.
    """

    def __init__(self, memory: HealthMemory, settings: BackoffSettings, now: datetime) -> None:
        self._settings = settings
        self._now = now
        self.groups = self._remembered(memory.backoffs)
        self.pools = self._remembered(memory.pools)
        self.quotas = self._remembered(memory.quotas)

    def note(self, group: str, cause: InstanceError, facts: GroupFacts | None = None) -> None:
        """Back off *group*, of which these are the *facts* if there are any, because of *cause*.

        The pool or quota of its provider that *cause* says to be used up is backed off as well.
        """
        provider = facts.provider if facts else ""
        key = _key(provider, cause.pool)
        dry = cause.error_class is ErrorClass.STOCK_OUT and bool(cause.pool)
        amount = facts.quotas.get(cause.pool, 0) if facts and cause.error_class is ErrorClass.QUOTA else 0
        self.groups[group] = self._after(self.groups.get(group), cause, cause.pool if dry or amount else "")
        if dry:
            self.pools[key] = self._after(self.pools.get(key), cause, cause.pool)
        if amount:
            known = self.quotas.get(key)
            smaller = known is not None and self._lasts(known) and known.amount < amount
            culprit = (known.group, known.amount) if known is not None and smaller else (group, amount)
            fresh = self._after(known, cause, cause.pool)
            self.quotas[key] = replace(fresh, group=culprit[0], amount=culprit[1])

    def runs(self, group: str) -> bool:
        """Tell whether *group* failed itself and is backed off now."""
        known = self.groups.get(group)
        return known is not None and self._lasts(known)

    def against(self, facts: GroupFacts) -> Verdict | None:
        """Return why the group is backed off: it failed itself, its pools are dry, or a quota is full. None if not."""
        if self.runs(facts.id):
            return Verdict(reason=Reason.GROUP_BACKED_OFF, detail=_described(self.groups[facts.id]))
        if (dry := self._dry(facts)) is not None:
            return Verdict(reason=Reason.POOL_DRY, detail=_described(dry))
        if (full := self._full(facts)) is not None:
            who = f"{_described(full)}, after {full.group} was refused {full.amount} of it for a machine"
            return Verdict(reason=Reason.QUOTA_FULL, detail=who)
        return None

    def of(self, facts: GroupFacts) -> Backoff | None:
        """Return the back-off that keeps the group from growing, as in `against`; None if there is none."""
        return self.groups[facts.id] if self.runs(facts.id) else self._dry(facts) or self._full(facts)

    def _lasts(self, known: Backoff) -> bool:
        return self._now < known.until

    def _dry(self, facts: GroupFacts) -> Backoff | None:
        """Return the back-off of the group's pools that ends first; None if one of the pools is not dry."""
        if not self.pools:
            return None
        dry = [
            self.pools.get(_key(facts.provider, pool)) for pool in sorted(_pools_of(facts, self.groups.get(facts.id)))
        ]
        paused = [known for known in dry if known is not None and self._lasts(known)]
        if not paused or len(paused) < len(dry):
            return None
        return min(paused, key=lambda known: known.until)

    def _full(self, facts: GroupFacts) -> Backoff | None:
        """Return the back-off of a quota of which a machine of the group takes too much, the one that ends last."""
        if not self.quotas:
            return None
        full = [
            known
            for quota, amount in facts.quotas.items()
            if (known := self.quotas.get(_key(facts.provider, quota))) is not None
            and self._lasts(known)
            and known.amount <= amount
        ]
        return max(full, key=lambda known: known.until, default=None)

    def _after(self, known: Backoff | None, cause: InstanceError, pool: str) -> Backoff:
        """Return the back-off after a failure now; *known* is the last one.

        Failures during a back-off don't lengthen it. The first one after its end doubles the pause, up to a maximum.
        """
        if known is not None and self._lasts(known):
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
    if known is not None and known.error_class is ErrorClass.STOCK_OUT:
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
