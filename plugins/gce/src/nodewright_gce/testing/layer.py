"""Answers calls: faults first, then rates, then what the call asks for."""

from collections import Counter, deque
from collections.abc import Mapping
from threading import RLock

from nodewright.api import Clock

from nodewright_gce.testing.faults import Faults
from nodewright_gce.testing.fleet import Fleet
from nodewright_gce.testing.identity import Identity
from nodewright_gce.testing.messages import Call, RefusalError, Reply, Request, not_found
from nodewright_gce.testing.migs import Handler, Migs
from nodewright_gce.testing.operations import Operations
from nodewright_gce.testing.pages import select
from nodewright_gce.testing.project import Project
from nodewright_gce.testing.urls import url
from nodewright_gce.testing.wire import write_refusal, write_reply

_REQUESTS_KEPT = 10_000


class Layer:
    """One project, empty at first. Any thread may call; hold `lock` to use the fleet."""

    def __init__(self, name: str, clock: Clock, *, seed: int) -> None:
        self.lock = RLock()
        self.faults = Faults()
        #: Calls of APIs by resource and verb; each page is a call.
        self.calls: Counter[tuple[str, str]] = Counter()
        #: The latest requests, also those for metadata and tokens.
        self.requests: deque[Request] = deque(maxlen=_REQUESTS_KEPT)
        self.project = Project(name)
        self.fleet = Fleet(self.project, clock, seed=seed)
        self.operations = Operations(clock, url)
        self.migs = Migs(self.fleet, self.operations)
        self.identity = Identity(name)
        self._handlers: Mapping[str, Mapping[str, Handler]] = {
            **self.migs.handlers,
            **self.project.handlers(self.fleet),
            **self.operations.handlers,
        }

    def serve(self, request: Request) -> Reply:
        """Answer a request over HTTP; a call of an API is counted and may fail."""
        call = request.call
        local = call.resource in ("metadata", "oauth")
        with self.lock:
            if not local:
                self.calls[call.resource, call.verb] += 1
            self.requests.append(request)
        return self.faults.around(request, self._identify if local else self._answer_known)

    def answer(self, call: Call) -> Reply:
        """Answer a call without faults and without delay."""
        with self.lock:
            self.fleet.catch_up()
            handler = self._handlers.get(call.resource, {}).get(call.verb)
            try:
                if handler is None:
                    raise not_found(call.name)
                if call.project and call.project != self.project.name:
                    raise not_found(f"projects/{call.project}")
                if call.place is not None:
                    self.project.check(call.place)
                return write_reply(select(handler(call), str(call.arguments.get("fields", ""))))
            except RefusalError as refusal:
                return write_refusal(refusal)

    def _identify(self, request: Request) -> Reply:
        return self.identity.answer(request)

    def _answer_known(self, request: Request) -> Reply:
        try:
            self.identity.check(request)
        except RefusalError as refusal:
            return write_refusal(refusal)
        return self.answer(request.call)
