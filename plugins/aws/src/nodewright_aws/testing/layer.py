"""Answers calls: faults first, then our handlers where moto lacks something, then moto."""

from collections import Counter, deque
from collections.abc import Mapping
from threading import RLock

from nodewright.api import Clock

from nodewright_aws.testing.autoscaling import AutoScaling, Handler
from nodewright_aws.testing.backend import Moto
from nodewright_aws.testing.ec2 import Ec2
from nodewright_aws.testing.faults import Faults
from nodewright_aws.testing.fleet import Fleet, Replica
from nodewright_aws.testing.messages import RefusalError, Reply, Request
from nodewright_aws.testing.wire import write_refusal, write_reply

_REQUESTS_KEPT = 10_000


class Layer:
    """One account, empty at first. Any thread may call; hold `lock` to use the fleet."""

    def __init__(self, moto: Moto, clock: Clock, *, seed: int) -> None:
        self.lock = RLock()
        self.faults = Faults()
        #: Calls over HTTP by service and operation, in boto3's names; each page is a call.
        self.calls: Counter[tuple[str, str]] = Counter()
        #: The latest of those calls.
        self.requests: deque[Request] = deque(maxlen=_REQUESTS_KEPT)
        self._moto = moto
        self._autoscaling = AutoScaling(moto, clock, seed=seed)
        self.ec2 = Ec2(moto, self._autoscaling)
        self._handlers: Mapping[str, Mapping[str, Handler]] = {
            "autoscaling": self._autoscaling.handlers,
            "ec2": self.ec2.handlers,
        }
        self._late = {**self._handlers, "autoscaling": {**self._autoscaling.handlers, **self._autoscaling.late}}

    @property
    def fleet(self) -> Fleet:
        """The groups and their machines."""
        return self._autoscaling.fleet

    def shorten_pages(self, groups: int) -> None:
        """Return at most so many groups in one answer."""
        self._autoscaling.page = groups

    @property
    def replica(self) -> Replica:
        """The groups as answers over HTTP show them."""
        return self._autoscaling.replica

    def serve(self, request: Request) -> Reply:
        """Answer a call over HTTP, which is counted and may fail."""
        with self.lock:
            self.calls[request.service, request.operation] += 1
            self.requests.append(request)
        return self.faults.around(request, lambda request: self._answer(request, self._late))

    def answer(self, request: Request) -> Reply:
        """Answer a call without faults and without delay."""
        return self._answer(request, self._handlers)

    def _answer(self, request: Request, handlers: Mapping[str, Mapping[str, Handler]]) -> Reply:
        with self.lock:
            if not request.operation.startswith(("describe_", "get_", "list_")):
                self._autoscaling.changed()
            self.replica.look()
            self.fleet.catch_up()
            handler = handlers.get(request.service, {}).get(request.operation)
            if handler is None:
                return self._moto.answer(request)
            try:
                return write_reply(request, handler(request.arguments))
            except RefusalError as refusal:
                return write_refusal(request, refusal)
