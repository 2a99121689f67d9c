"""Leadership: whether this replica may act."""

import logging
from collections.abc import Callable
from threading import Event

from nodewright.api.errors import NotLeaderError
from nodewright.kube.lease import Lease

_log = logging.getLogger(__name__)


class Leadership:
    """Held with the *lease*, or always if there is none. For the loop's thread, except `held` and `permit`."""

    def __init__(self, lease: Lease | None) -> None:
        self._lease = lease

    @property
    def held(self) -> bool:
        """Whether this replica may act now. Safe to ask from any thread."""
        return self._lease is None or self._lease.held

    @property
    def obstacle(self) -> str:
        """Why this replica may not act; empty if it may. Safe to ask from any thread."""
        if self._lease is None or self._lease.held:
            return ""
        holder = self._lease.holder
        other = holder if holder != self._lease.identity else ""
        return f"this replica does not lead: lease {self._lease.name} is held by {other or 'no replica yet'}"

    def look(self) -> None:
        """See who leads: the time until another replica may take over counts from here."""
        if self._lease is not None:
            self._lease.look()

    def win(self, stop: Event, meanwhile: Callable[[], None]) -> bool:
        """Wait until this replica leads, or *stop* is set; return whether it leads.

        *meanwhile* is called between attempts.
        """
        if self._lease is None:
            return True
        if not self._lease.acquire(stop, meanwhile):
            return False
        _log.info("leading as %s: this replica holds lease %s", self._lease.identity, self._lease.name)
        return True

    def permit(self) -> None:
        """Raise `NotLeaderError` if this replica must not change anything. Safe to call from any thread."""
        if self._lease is not None and not self.held:
            raise NotLeaderError(f"this replica does not hold lease {self._lease.name}: another one may act by now")

    def resign(self, *, busy: bool) -> bool:
        """Let another replica lead; if *busy* with a call that is under way, not before the lease runs out.

        Returns whether this replica led and has stopped leading.
        """
        lease = self._lease
        if lease is None or not lease.taken or (lease.held and busy):
            return False
        lease.release()
        return True
