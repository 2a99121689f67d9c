"""Metrics of memory: whether it is stored."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class MemoryMetrics:
    """How writing memory goes. Safe to use from any thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._writes = Counter(
            "nodewright_memory_writes",
            "Attempts to store memory, by whether they succeeded.",
            ("outcome",),
            registry=registry,
        )
        for outcome in ("ok", "failed"):
            self._writes.labels(outcome=outcome)
        self._bytes = Gauge("nodewright_memory_bytes", "Size of the memory that was stored last.", registry=registry)
        self._shed = Gauge(
            "nodewright_memory_shed", "How many parts of the memory there was no room for.", registry=registry
        )

    def note(self, *, ok: bool, size: int, shed: int) -> None:
        """Note an attempt to store *size* bytes, without so many parts that were *shed* for want of room."""
        self._writes.labels(outcome="ok" if ok else "failed").inc()
        if ok:
            self._bytes.set(size)
            self._shed.set(shed)
