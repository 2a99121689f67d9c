"""Counters of what went wrong, by Cluster Autoscaler's types of errors."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter

from nodewright.api.decision import Outcome
from nodewright.api.errors import (
    AccessDeniedError,
    ApiServerError,
    CapacityError,
    ConfigurationError,
    GroupNotFoundError,
    PluginError,
    TemporaryError,
)
from nodewright.serve.metrics.sight import Sight

_CLOUD, _API = "cloudProviderError", "apiCallError"
_INTERNAL = "internalError"
#: The first that fits.
_TYPES = (
    (ConfigurationError, "configurationError"),
    (GroupNotFoundError, "nodeGroupDoesNotExistError"),
    ((ApiServerError, AccessDeniedError), _API),
    (TemporaryError, "transientError"),
    ((PluginError, CapacityError), _CLOUD),
)
_BY_ACTION = {
    "grow": _CLOUD,
    "shrink": _CLOUD,
    "delete-instances": _CLOUD,
    "drain": _API,
    "restore": _API,
}


class ErrorMetrics:
    """Counts errors, one of each type in a loop at most. Written on the loop's thread."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._errors = Counter(
            "cluster_autoscaler_errors",
            "Loops in which something went wrong, by what it was.",
            ("type",),
            registry=registry,
        )
        for kind in (*(name for _, name in _TYPES), _INTERNAL, "unexpectedScaleDownStateError"):
            self._errors.labels(kind)
        self._counted: set[str] = set()

    def begin(self) -> None:
        """Begin another loop."""
        self._counted.clear()

    def note(self, error: Exception) -> None:
        """Count what ended a loop."""
        self._count(next((name for kinds, name in _TYPES if isinstance(error, kinds)), _INTERNAL))

    def note_loop(self, sight: Sight) -> None:
        """Count clouds that could not be read, or that have not answered."""
        if any(facts.error for facts in sight.world.groups):
            self._count(_CLOUD)

    def note_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Count actions that failed. An eviction that is refused is no error."""
        for outcome in outcomes:
            if not outcome.ok and outcome.action in _BY_ACTION:
                self._count(_BY_ACTION[outcome.action])

    def _count(self, kind: str) -> None:
        if kind not in self._counted:
            self._counted.add(kind)
            self._errors.labels(kind).inc()
