"""What the running machines cost for an hour."""

from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.journal import Entry


class Rates:
    """Reads the journal of a cloud from time to time, and misses nothing of what was in between."""

    def __init__(self, cloud: Cloud) -> None:
        #: Now, as of the last `update`.
        self.current = 0.0
        #: At the most.
        self.peak = 0.0
        self._cloud = cloud
        self._prices: dict[str, float] = {}
        self._running: set[str] = set()
        self._read = 0

    def update(self) -> tuple[Entry, ...]:
        """Take in what happened since the last time, and return it."""
        with self._cloud.lock:
            self._prices.update((machine.name, machine.hourly_price) for machine in self._cloud.fleet.all())
            self._read, entries = self._cloud.history_since(self._read)
        for entry in entries:
            if entry.event == "running":
                self._running.add(entry.machine)
            elif entry.event == "gone":
                self._running.discard(entry.machine)
            self.current = sum(self._prices.get(machine, 0.0) for machine in self._running)
            self.peak = max(self.peak, self.current)
        return entries
