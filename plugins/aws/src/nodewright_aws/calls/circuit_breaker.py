"""A circuit breaker: a service that does not answer is left alone for a while."""

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, TypeVar

from nodewright.api import CloudUnavailableError

from nodewright_aws.calls.aws import Calls
from nodewright_aws.calls.session import CONNECT_TIMEOUT

T = TypeVar("T")


class CircuitBreaker:
    """Makes the calls of *aws*. A service that timed out is not called again for as long as the timeout took.

    So a service that can't be reached, as in a network without an endpoint for it, costs a refresh the time of one call
    rather than the time of all its calls. Times are of *now*, in seconds.
    """

    def __init__(self, aws: Calls, now: Callable[[], float] = monotonic) -> None:
        self._aws = aws
        self._now = now
        #: By service: until when it is not called, and why.
        self._open: dict[str, tuple[float, str]] = {}

    @property
    def region(self) -> str:
        """The region that calls go to."""
        return self._aws.region

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make one call and return its answer."""
        return self._ask(service, lambda: self._aws.call(service, operation, **arguments))

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Make one call for each page of the answer, when that page is needed."""
        pages = self._aws.pages(service, operation, **arguments)
        while (page := self._ask(service, lambda: next(pages, None))) is not None:
            yield page

    def _ask(self, service: str, ask: Callable[[], T]) -> T:
        began = self._now()
        until, why = self._open.get(service, (began, ""))
        if began < until:
            raise CloudUnavailableError(why)
        try:
            return ask()
        except CloudUnavailableError as error:
            # A call that failed at once may succeed at once.
            if (waited := self._now() - began) >= CONNECT_TIMEOUT:
                self._open[service] = self._now() + waited, str(error)
            raise
