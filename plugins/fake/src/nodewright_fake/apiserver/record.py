"""Who asked for what: the record of all requests."""

from collections import Counter
from dataclasses import dataclass
from threading import Lock

from nodewright_fake.apiserver.request import Request


@dataclass(frozen=True, kw_only=True, order=True)
class Call:
    """One kind of request by one kind of client."""

    user_agent: str
    #: As Kubernetes' RBAC calls it: get, list, watch, create, update, patch, delete, deletecollection.
    verb: str
    #: The API group; empty for the core group and for paths beside the resources.
    group: str = ""
    #: The plural name; for paths beside the resources the path itself.
    resource: str = ""
    subresource: str = ""


class Record:
    """Counts of requests, refused ones included. Safe to use from any thread."""

    def __init__(self) -> None:
        self._calls: Counter[Call] = Counter()
        self._lock = Lock()

    def note(self, request: Request) -> None:
        """Count a request."""
        target = request.target
        call = Call(
            user_agent=request.user_agent,
            verb=request.verb,
            group=target.group if target else "",
            resource=target.plural if target else request.path,
            subresource=target.subresource if target else "",
        )
        with self._lock:
            self._calls[call] += 1

    @property
    def calls(self) -> Counter[Call]:
        """How often each kind of request came, so far."""
        with self._lock:
            return self._calls.copy()

    def count(
        self,
        *,
        user_agent: str = "",
        verb: str | None = None,
        group: str | None = None,
        resource: str | None = None,
        subresource: str | None = None,
    ) -> int:
        """Return how many requests fit everything that is given; *user_agent* needs to give the beginning only."""
        wanted = {"verb": verb, "group": group, "resource": resource, "subresource": subresource}
        return sum(
            times
            for call, times in self.calls.items()
            if call.user_agent.startswith(user_agent)
            and all(value is None or getattr(call, key) == value for key, value in wanted.items())
        )

    def clear(self) -> None:
        """Start anew."""
        with self._lock:
            self._calls.clear()
