"""Answers calls: faults first, then identity and rates, then what the call asks for."""

from collections import Counter, deque
from collections.abc import Mapping
from threading import RLock

from nodewright.api import Clock

from nodewright_gce.resources.address import Place
from nodewright_gce.testing.faults import Faults
from nodewright_gce.testing.fleet import Fleet
from nodewright_gce.testing.identity import Identity
from nodewright_gce.testing.messages import Call, RefusalError, Reply, Request, not_found
from nodewright_gce.testing.mig_changes import MigChanges
from nodewright_gce.testing.mig_reads import Handler, MigReads
from nodewright_gce.testing.operations import Operations
from nodewright_gce.testing.pages import select
from nodewright_gce.testing.price_list import page_of_prices
from nodewright_gce.testing.project import Project
from nodewright_gce.testing.rates import Rates
from nodewright_gce.testing.view import Replica
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
        self.rates = Rates(clock)
        self.project = Project(name)
        self.fleet = Fleet(self.project.plan, clock, seed=seed)
        self.replica = Replica(self.fleet)
        self.operations = Operations(clock)
        self.reads = MigReads(self.replica, clock, self._places)
        self._identity = Identity(name)
        self._late = self._handlers(self.reads)
        self._present = self._handlers(MigReads(self.fleet, clock, self._places))

    def serve(self, request: Request) -> Reply:
        """Answer a request over HTTP; a call of an API is counted and may fail."""
        call = request.call
        with self.lock:
            self.requests.append(request)
            if not call.local:
                self.calls[call.resource, call.verb] += 1
        return self.faults.around(request, self._identity.answer if call.local else self._answer_checked)

    def answer(self, call: Call) -> Reply:
        """Answer a call without faults and without delay."""
        return self._answer(call, self._present)

    def _handlers(self, reads: MigReads) -> Mapping[str, Mapping[str, Handler]]:
        changes = MigChanges(self.fleet, self.operations, self.project.zones_of).handlers
        return {
            **{resource: {**handlers, **changes.get(resource, {})} for resource, handlers in reads.handlers.items()},
            **self.project.handlers(self.fleet),
            **self.operations.handlers,
            "skus": {"list": page_of_prices},
        }

    def _places(self) -> Mapping[Place, bool]:
        return {
            place: not self.faults.expected(f"instance_group_managers:list@{place.name}")
            for place in self.project.places
        }

    def _answer_checked(self, request: Request) -> Reply:
        try:
            self._identity.check(request)
            with self.lock:
                self.rates.charge(request.call)
        except RefusalError as refusal:
            return write_refusal(refusal)
        return self._answer(request.call, self._late)

    def _answer(self, call: Call, handlers: Mapping[str, Mapping[str, Handler]]) -> Reply:
        with self.lock:
            self.replica.look()
            self.fleet.catch_up()
            try:
                handler = handlers.get(call.resource, {}).get(call.verb)
                if handler is None:
                    raise not_found(f"{call.resource}/{call.name}")
                self.project.check(call)
                return write_reply(select(handler(call), str(call.arguments.get("fields", ""))))
            except RefusalError as refusal:
                return write_refusal(refusal)
