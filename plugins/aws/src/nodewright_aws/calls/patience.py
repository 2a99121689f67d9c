"""Not to wait for the same service over and over."""

from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, TypeVar

from nodewright.api import CloudUnavailableError

from nodewright_aws.calls.aws import Calls
from nodewright_aws.calls.session import CONNECT_TIMEOUT

T = TypeVar("T")


class Patience:
    """Makes the calls of *aws*; a service that kept us waiting in vain is not asked again for as long as that took.

    So that a service that nobody can reach, as in a network without an endpoint for it, takes the time of one call
    from a refresh, and not that of all. Times are of *now*, in seconds.
    """

    def __init__(self, aws: Calls, now: Callable[[], float] = monotonic) -> None:
        self._aws = aws
        self._now = now
        self._silent: dict[str, tuple[float, str]] = {}

    @property
    def region(self) -> str:
        """The region that calls go to."""
        return self._aws.region

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make one call and return its answer."""
        return self._ask(service, lambda: self._aws.call(service, operation, **arguments))

    def pages(self, service: str, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Make as many calls as the answer has pages, one for each that is asked for."""
        pages = self._aws.pages(service, operation, **arguments)
        while (page := self._ask(service, lambda: next(pages, None))) is not None:
            yield page

    def _ask(self, service: str, ask: Callable[[], T]) -> T:
        began = self._now()
        until, why = self._silent.get(service, (began, ""))
        if began < until:
            raise CloudUnavailableError(why)
        try:
            return ask()
        except CloudUnavailableError as error:
            # What was refused at once may be answered at once.
            if (waited := self._now() - began) >= CONNECT_TIMEOUT:
                self._silent[service] = self._now() + waited, str(error)
            raise
