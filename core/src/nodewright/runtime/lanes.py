"""Lanes: several things are done at once, but one after another on each lane, and nobody is waited for without end."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

T = TypeVar("T")

_WORKERS = 8


@dataclass(frozen=True, kw_only=True)
class Job(Generic[T]):
    """What is to be done on one lane, in this order."""

    steps: Sequence[Callable[[], T]]
    #: Jobs of one pool share a few threads; one pool that hangs holds up no other.
    pool: str = ""


@dataclass(frozen=True, kw_only=True)
class Results(Generic[T]):
    """What came of jobs, by lane."""

    done: Mapping[str, Sequence[T]] = field(default_factory=dict)
    #: Lanes whose job is under way, and will end some time.
    late: frozenset[str] = frozenset()
    #: Lanes whose job did not even begin in time, and will not any more.
    cancelled: frozenset[str] = frozenset()


class Lanes(Generic[T]):
    """Runs jobs on threads of its own. Methods are for one thread; steps must not raise."""

    def __init__(self) -> None:
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._late: dict[str, list[Future[Sequence[T]]]] = {}

    @property
    def busy(self) -> bool:
        """Whether a late job is still under way."""
        return not all(future.done() for futures in self._late.values() for future in futures)

    def run(self, jobs: Mapping[str, Job[T]], timeout: timedelta | None = None) -> Results[T]:
        """Run *jobs* by lane, all at once, and wait for them, but no longer than *timeout* if that is given."""
        futures = {lane: self._submit(lane, job) for lane, job in jobs.items()}
        wait(futures.values(), None if timeout is None else timeout.total_seconds())
        done, late, cancelled = {}, set(), set()
        for lane, future in futures.items():
            # What has not begun is no longer wanted when it could; what ends just now is in time.
            if future.cancel():
                cancelled.add(lane)
            elif future.done():
                done[lane] = future.result()
            else:
                late.add(lane)
                self._late.setdefault(lane, []).append(future)
        return Results(done=done, late=frozenset(late), cancelled=frozenset(cancelled))

    def ended(self) -> dict[str, Sequence[T]]:
        """Return what came of late jobs of lanes on which all has ended by now; each is returned once."""
        ended = {lane: futures for lane, futures in self._late.items() if all(future.done() for future in futures)}
        for lane in ended:
            del self._late[lane]
        return {lane: [each for future in futures for each in future.result()] for lane, futures in ended.items()}

    def close(self) -> None:
        """Wait for what is under way, but for what is late, and end the threads."""
        for pool in self._pools.values():
            pool.shutdown(wait=not self._late, cancel_futures=True)

    def _submit(self, lane: str, job: Job[T]) -> "Future[Sequence[T]]":
        if job.pool not in self._pools:
            self._pools[job.pool] = ThreadPoolExecutor(_WORKERS, f"actor-{job.pool}" if job.pool else "actor")
        before = tuple(self._late.get(lane, ()))

        def work() -> Sequence[T]:
            wait(before)
            return [step() for step in job.steps]

        return self._pools[job.pool].submit(work)
