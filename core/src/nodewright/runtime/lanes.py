"""Worker lanes: jobs run at once on several lanes and one after another on each; no late job holds up its caller."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

T = TypeVar("T")

_WORKERS = 8


@dataclass(frozen=True, kw_only=True)
class Job(Generic[T]):
    """Steps to be done on one lane, in this order."""

    steps: Sequence[Callable[[], T]]
    #: Jobs of one pool share a few threads. A pool that hangs holds up no other.
    pool: str = ""


@dataclass(frozen=True, kw_only=True)
class Results(Generic[T]):
    """The results of jobs, by lane."""

    done: Mapping[str, Sequence[T]] = field(default_factory=dict)
    #: Lanes whose job is under way and goes on.
    late: frozenset[str] = frozenset()
    #: Lanes whose job did not begin in time and never will.
    cancelled: frozenset[str] = frozenset()


class Lanes(Generic[T]):
    """Runs jobs on threads of its own. Methods are for one thread; steps must not raise."""

    def __init__(self) -> None:
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._late: dict[str, list[Future[Sequence[T]]]] = {}
        #: Those of the last run.
        self._latest: tuple[Future[Sequence[T]], ...] = ()

    @property
    def busy(self) -> bool:
        """Whether a late job is still under way."""
        return not all(future.done() for futures in list(self._late.values()) for future in futures)

    @property
    def active(self) -> bool:
        """Whether any job is under way, late or not. Safe to ask from any thread."""
        return self.busy or any(future.running() for future in self._latest)

    def run(self, jobs: Mapping[str, Job[T]], timeout: timedelta | None = None) -> Results[T]:
        """Run *jobs* by lane, all at once, and wait for them; no longer than *timeout* if that is given."""
        futures = {lane: self._submit(lane, job) for lane, job in jobs.items()}
        self._latest = tuple(futures.values())
        wait(futures.values(), None if timeout is None else timeout.total_seconds())
        done, late, cancelled = {}, set(), set()
        for lane, future in futures.items():
            # A job that has not begun must not begin later. One that ends just now is in time.
            if future.cancel():
                cancelled.add(lane)
            elif future.done():
                done[lane] = future.result()
            else:
                late.add(lane)
                self._late.setdefault(lane, []).append(future)
        return Results(done=done, late=frozenset(late), cancelled=frozenset(cancelled))

    def ended(self) -> dict[str, Sequence[T]]:
        """Return the results of late jobs, once each, by lane; only of lanes on which all late jobs have ended."""
        ended = {lane: futures for lane, futures in self._late.items() if all(future.done() for future in futures)}
        for lane in ended:
            del self._late[lane]
        return {lane: [each for future in futures for each in future.result()] for lane, futures in ended.items()}

    def close(self) -> None:
        """End the threads; wait for jobs under way, unless one of them is late."""
        for pool in self._pools.values():
            pool.shutdown(wait=not self._late, cancel_futures=True)

    def _submit(self, lane: str, job: Job[T]) -> "Future[Sequence[T]]":
        if job.pool not in self._pools:
            self._pools[job.pool] = ThreadPoolExecutor(_WORKERS, f"executor-{job.pool}" if job.pool else "executor")
        before = tuple(self._late.get(lane, ()))

        def work() -> Sequence[T]:
            wait(before)
            return [step() for step in job.steps]

        return self._pools[job.pool].submit(work)
