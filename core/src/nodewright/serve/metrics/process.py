"""What is to tell of the process itself."""

import platform
from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Info, Metric, ProcessCollector
from prometheus_client.registry import Collector

from nodewright import __version__
from nodewright.serve.metrics.panel import gauges


class ProcessMetrics:
    """Its version, its memory and processor time, whether it leads, and how it keeps up with the API server.

    *leading* and *troubles* are asked at each scrape, on the server's threads: they must return at once. Whoever knows
    sets them.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        #: Whether this process is the one that acts; None if it takes no part in that.
        self.leading: Callable[[], bool] | None = lambda: True
        #: What is the matter with each kind that is watched, empty if nothing is.
        self.troubles: Callable[[], Mapping[str, str]] = dict
        ProcessCollector(registry=registry)
        Info("nodewright_build", "The version that runs.", registry=registry).info(
            {"version": __version__, "python_version": platform.python_version()}
        )
        registry.register(_Now(self))


class _Now(Collector):
    def __init__(self, process: ProcessMetrics) -> None:
        self._process = process

    def collect(self) -> Iterable[Metric]:
        leading = self._process.leading
        yield gauges(
            "nodewright_leader",
            "Whether this process holds the lease, or needs none.",
            (),
            {} if leading is None else {(): leading()},
        )
        yield gauges(
            "nodewright_watch_trouble",
            "Whether a kind of objects can't be kept up with at the moment.",
            ("kind",),
            {(kind,): bool(trouble) for kind, trouble in self._process.troubles().items()},
        )
