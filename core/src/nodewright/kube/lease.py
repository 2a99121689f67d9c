"""The lease: only one of several replicas acts."""

import logging
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from math import ceil
from threading import Event, Thread
from typing import Any

from nodewright.api.errors import AccessDeniedError, ApiServerError, ConflictError, NodewrightError
from nodewright.config.model import LeaderElection
from nodewright.kube.answer import object_in
from nodewright.kube.transport import Transport

#: The pause between attempts is longer by up to this factor, so that replicas do not all try at once.
_JITTER = 1.2
#: Seconds that every request gets at least.
_LEAST_SECONDS = 0.1

_log = logging.getLogger(__name__)


def _running() -> float:
    """Return seconds that also count while the machine sleeps, where the system supports it."""
    boot_time = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot_time is None else time.clock_gettime(boot_time)


class Lease:
    """A Lease of coordination.k8s.io, held by one replica at a time; a Cluster Autoscaler can be one of them.

    *identity* must be unique among replicas. Call `look`, `acquire` and `release` on one thread; the lease's own thread
    renews it in between. Times written by others are never compared with our clock: a lease is free once it has not
    changed for its whole duration, as counted by *now*.
    """

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        election: LeaderElection,
        identity: str,
        *,
        now: Callable[[], float] = _running,
    ) -> None:
        self.name = f"{namespace}/{election.resource_name}"
        self.identity = identity
        #: Set once a held lease is lost, but not when it is released.
        self.lost = Event()
        self._record = _Record(transport, namespace, election.resource_name, now)
        self._now = now
        self._duration = election.lease_duration.total_seconds()
        self._deadline = election.renew_deadline.total_seconds()
        self._period = election.retry_period.total_seconds()
        #: When the request that last took or renewed it was begun; None if it is not ours.
        self._renewed: float | None = None
        self._released = Event()
        self._thread = Thread(target=self._keep, name="lease", daemon=True)
        self._logged = ""

    @property
    def uid(self) -> str:
        """The uid of the Lease object, empty if it was not seen."""
        return self._record.uid

    @property
    def holder(self) -> str:
        """Who held it when it was last seen; empty if nobody did. Safe to read from any thread."""
        return self._record.holder

    @property
    def taken(self) -> bool:
        """Whether it was taken and not released; it may have been lost since."""
        return self._renewed is not None

    @property
    def held(self) -> bool:
        """Whether we may act: only until the renew deadline. Safe to read from any thread."""
        return not self.lost.is_set() and self._now() < self._until

    @property
    def spare(self) -> float:
        """Seconds for which no other replica can take it, even without a renewal."""
        if self._renewed is None or self._record.holder != self.identity:
            return 0.0
        return max(0.0, self._renewed + self._duration - self._now())

    def look(self) -> None:
        """Read who holds it, which starts the count until it is free. Errors are logged."""
        try:
            self._record.read(self._patience)
        except NodewrightError as error:
            self._log_change("lease %s can't be read: %s", error)

    def acquire(self, stop: Event, meanwhile: Callable[[], None] = lambda: None) -> bool:
        """Wait until it is held or *stop* is set; return whether it is held. Calls *meanwhile* between attempts."""
        while not stop.is_set():
            if self._attempt() and self.held:
                self._thread.start()
                return True
            meanwhile()
            stop.wait(self._period * (1 + random.uniform(0, _JITTER)))
        return False

    def renew(self) -> float | None:
        """Try to renew it; return the seconds until the next renewal, None if it is lost. For the lease's thread."""
        # A lease that lapsed for a moment is lost for good, as other threads may have seen that.
        if not self.held or (not self._attempt() and not self.held):
            self.lost.set()
            return None
        return max(0.0, min(self._period, self._until - self._now()))

    def release(self) -> None:
        """Release it, so that another replica can take it at once. No action may be in progress any more."""
        self._released.set()
        if not self.held:
            return
        self._thread.join()
        now = _micro_time()
        free = {"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now, "renewTime": now}
        try:
            self._record.read(self._patience)
            if self._record.holder == self.identity:
                self._record.write(free, self._patience)
        except NodewrightError as error:
            _log.warning("lease %s could not be released; it is free in %g s: %s", self.name, self._duration, error)
        finally:
            self._renewed = None

    def _keep(self) -> None:
        pause: float | None = self._period
        while pause is not None and not self._released.wait(pause):
            pause = self.renew()

    @property
    def _until(self) -> float:
        renewed = self._renewed
        return renewed + self._deadline if renewed is not None else float("-inf")

    @property
    def _patience(self) -> float:
        """Seconds that a request may take: if it hangs, there must be time for another."""
        half = self._deadline / 2
        return max(_LEAST_SECONDS, min(half, self._until - self._now())) if self.held else half

    def _attempt(self) -> bool:
        """Try once to take or renew it; return whether that succeeded."""
        begun, holding = self._now(), self.held
        try:
            taken = self._renew_unread() if holding else False
            if not taken and not self._released.is_set():
                self._record.read(self._patience)
                taken = self._take(holding)
        except ConflictError:
            # Another replica was faster; the next attempt shows which.
            return False
        except NodewrightError as error:
            self._log_change(f"lease %s could not be {'renewed' if holding else 'taken'}: %s", error)
            return False
        except Exception:
            _log.exception("lease %s could not be %s", self.name, "renewed" if holding else "taken")
            return False
        # A success after the deadline is too late: `held` has already ended.
        if not taken or (holding and not self.held):
            return False
        if holding and self._logged:
            _log.info("lease %s is renewed again", self.name)
        self._renewed, self._logged = begun, ""
        return True

    def _renew_unread(self) -> bool:
        """Renew it without reading it first, which succeeds unless someone else has changed it."""
        try:
            self._record.write(self._claim(), self._patience)
        except (AccessDeniedError, ApiServerError) as error:
            if error.status == 0:
                raise
            return False
        return True

    def _take(self, holding: bool) -> bool:
        """Take the lease just read, unless another replica holds it."""
        record = self._record
        if record.holder not in ("", self.identity) and (holding or not record.is_over(self._duration)):
            if holding:
                self.lost.set()
            self._log_change("lease %s is held by %s", record.holder, level=logging.INFO)
            return False
        record.write(self._claim(), self._patience)
        return True

    def _claim(self) -> dict[str, Any]:
        now, old = _micro_time(), self._record.spec
        mine = self._record.holder == self.identity
        transitions = old.get("leaseTransitions") or 0
        return {
            "holderIdentity": self.identity,
            # Whole seconds, rounded up: others may wait longer but not shorter.
            "leaseDurationSeconds": ceil(self._duration),
            "acquireTime": old.get("acquireTime", now) if mine else now,
            "renewTime": now,
            "leaseTransitions": transitions if mine or not old else transitions + 1,
        }

    def _log_change(self, message: str, what: object, *, level: int = logging.WARNING) -> None:
        """Log a message unless it was the last one."""
        line = message % (self.name, what)
        if line != self._logged:
            _log.log(level, "%s", line)
        self._logged = line


class _Record:
    """The Lease object as last seen. Unknown fields are left as they are."""

    def __init__(self, transport: Transport, namespace: str, name: str, now: Callable[[], float]) -> None:
        self._transport = transport
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._new: dict[str, Any] = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": namespace},
        }
        self._now = now
        self._object: dict[str, Any] = self._new
        #: When its spec was last seen to change.
        self._since = now()

    @property
    def spec(self) -> dict[str, Any]:
        return self._object.get("spec") or {}

    @property
    def holder(self) -> str:
        return self.spec.get("holderIdentity") or ""

    @property
    def uid(self) -> str:
        return str(self._object["metadata"].get("uid", ""))

    def is_over(self, default: float) -> bool:
        """Return whether it has not changed for its whole duration, or for *default* seconds if it has none."""
        return self._now() >= self._since + (self.spec.get("leaseDurationSeconds") or default)

    def read(self, timeout: float) -> None:
        try:
            answer = self._transport.get(f"{self._collection}/{self._new['metadata']['name']}", timeout=timeout)
        except ApiServerError as error:
            if error.status != 404:
                raise
            self._see(self._new)
        else:
            self._see(object_in(answer))

    def write(self, changes: dict[str, Any], timeout: float) -> None:
        """Write *changes* of the spec. Raises `ConflictError` if the object has changed since it was last seen."""
        wanted = {**self._object, "spec": {**self.spec, **changes}}
        name = self._new["metadata"]["name"]
        if "resourceVersion" in self._object["metadata"]:
            answer = self._transport.put(f"{self._collection}/{name}", wanted, timeout=timeout)
        else:
            answer = self._transport.post(self._collection, wanted, timeout=timeout)
        self._see(object_in(answer))

    def _see(self, seen: dict[str, Any]) -> None:
        if (seen.get("spec") or {}) != self.spec:
            self._since = self._now()
        self._object = seen


def _micro_time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
