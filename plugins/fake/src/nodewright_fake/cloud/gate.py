"""The gate before the cloud's API: counts calls and applies faults to them."""

from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from threading import Lock

from nodewright.api import Clock

from nodewright_fake.cloud.api_fault import ApiFault
from nodewright_fake.cloud.refusal import RefusalError


class Gate:
    """Every call passes here first. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._faults: list[ApiFault] = []
        self._calls: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def __iter__(self) -> Iterator[ApiFault]:
        with self._lock:
            return iter(tuple(self._faults))

    @property
    def calls(self) -> dict[str, int]:
        """How often each operation was called, refused calls included."""
        with self._lock:
            return dict(sorted(self._calls.items()))

    @property
    def refused(self) -> dict[str, int]:
        """How often each operation was refused by a fault."""
        with self._lock:
            return dict(sorted(self._refused.items()))

    def add(self, fault: ApiFault) -> None:
        """Set a fault; slowness adds up, and of several refusals the first set one is given."""
        with self._lock:
            self._faults.append(fault)

    def heal(self, operations: str) -> None:
        """Forget the faults whose pattern is, or is matched by, *operations*."""
        with self._lock:
            self._faults = [fault for fault in self._faults if not fnmatchcase(fault.operations, operations)]

    def admit(self, operation: str) -> tuple[float, RefusalError | None]:
        """Count a call; return the seconds that it takes, and the refusal that it meets, if any."""
        with self._lock:
            self._calls[operation] += 1
            latency = 0.0
            for fault in self._faults:
                if not fault.befalls(operation, self._clock.now()):
                    continue
                latency += fault.latency
                refusal = fault.refusal(operation)
                if refusal is not None:
                    self._refused[operation] += 1
                    return latency, refusal
            return latency, None
