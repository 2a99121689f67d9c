"""A live account as a cloud under test."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event

from nodewright.api import (
    Clock,
    Instance,
    InstanceState,
    NodeGroup,
    NodewrightError,
    PermanentError,
    Provider,
    TemporaryError,
    ThrottledError,
)
from nodewright.api.group_name import name_of_group
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.live.guard import GuardedProvider

#: Seconds until a group is looked at again for the first time, and how much longer each further pause is.
_FIRST_PAUSE, _LENGTHENED = 1.0, 1.5


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a group may take to come to rest, and how often it is looked at meanwhile."""

    deadline: timedelta = timedelta(minutes=15)
    #: The longest pause between two looks. The first are shorter: some clouds need a second, others minutes.
    interval: timedelta = timedelta(seconds=10)

    def pauses(self) -> Iterator[float]:
        """Seconds to wait after each look."""
        longest = self.interval.total_seconds()
        pause = min(_FIRST_PAUSE, longest)
        while True:
            yield pause
            pause = min(pause * _LENGTHENED, longest)


@dataclass(frozen=True, kw_only=True)
class Sight:
    """The state of a group at one time, as a provider sees it."""

    min_size: int
    max_size: int
    target: int
    instances: tuple[Instance, ...]

    @property
    def running(self) -> list[str]:
        """Ids of the machines that run."""
        return [each.id for each in self.instances if each.state is InstanceState.RUNNING]

    @property
    def at_rest(self) -> bool:
        """Whether all machines run that were asked for, and no others are there."""
        there = sum(each.state is not InstanceState.STOPPED for each in self.instances)
        return len(self.running) == there == self.target

    def __str__(self) -> str:
        states = [each.state.value.lower() for each in self.instances]
        counted = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or "no machines"
        return f"{counted}, asked for {self.target}"


class LiveCloud(Cloud):
    """An account that is only read: actions of its groups are refused before they reach the provider."""

    #: A live cloud may take long, and the user can press Ctrl-C.
    longest = 0.0

    def __init__(self, make: Callable[[], Provider], group: str) -> None:
        self._make = make
        self._group = group

    def provider(self) -> Provider:
        """A new provider, guarded."""
        return GuardedProvider(self._make())

    def group(self) -> str:
        """The group that the tests are about."""
        return self._group

    def prepare(self) -> None:
        """Make sure that a test may begin."""

    def restore(self) -> None:
        """Set back what a test has changed."""


class ResizedCloud(LiveCloud):
    """An account of which one group is resized by tests, and set back after each of them; other groups are only read.

    Everything goes through the provider under test: a live account offers no other way.
    """

    abilities = frozenset({Ability.CHANGE})

    def __init__(self, make: Callable[[], Provider], group: str, clock: Clock, patience: Patience) -> None:
        super().__init__(make, group)
        self._clock = clock
        self._patience = patience
        self._stop = Event()
        # Whether the group may have changed since it was found: looking takes time and calls.
        self._unsure = True
        with self._open() as provider:
            found = self._find(provider)
            #: The group as it was found.
            self.found = _seen(found)
        # People may write less than the whole id.
        self._group = found.id

    def provider(self) -> Provider:
        """A new provider, all of whose groups are guarded but one."""
        self._unsure = True
        return GuardedProvider(self._make(), open_group=self._group)

    def sight(self) -> Sight:
        """Look at the group now. Raises what the provider does."""
        with self._open() as provider:
            return self._look(provider)

    def settle(self) -> None:
        """Poll until all machines run that were asked for. Raises `TemporaryError` if that takes too long."""
        with self._open() as provider:
            self._settled(provider)

    def prepare(self) -> None:
        """Wait until the group is at rest with as many machines as it was found with."""
        self.restore()

    def restore(self) -> None:
        """Set the group back to the size that it was found with, and wait until it is at rest.

        Machines that were found are kept if they are still there. Does nothing if no provider was handed out since.
        Raises `TemporaryError` with the state of the group if that fails.
        """
        if not self._unsure:
            return
        wanted = self.found.target
        with self._open() as provider:
            group = self._find(provider)
            seen = _seen(group)
            if seen.target < wanted:
                group.increase(wanted - seen.target)
            elif seen.target > wanted:
                self._shrink(group, seen.target - wanted, seen)
            seen = self._settled(provider)
        if seen.target != wanted:
            raise TemporaryError(
                f"group {self._group} had {wanted} machines and could not be set back: {seen}; set it back by hand"
            )
        self._unsure = False

    def _shrink(self, group: NodeGroup, count: int, seen: Sight) -> None:
        there = [each.id for each in seen.instances if each.state.counted]
        unmet = min(count, max(0, seen.target - len(there)))
        if unmet:
            group.decrease_target(unmet)
        before = {each.id for each in self.found.instances}
        # Newcomers go first, the latest of them before all others.
        newest_first = list(reversed(there))
        going = sorted(newest_first, key=before.__contains__)[: count - unmet]
        if going:
            group.delete_nodes([self.node(instance) for instance in going])

    def _settled(self, provider: Provider) -> Sight:
        end = self._clock.now() + self._patience.deadline
        pauses = self._patience.pauses()
        while not (seen := self._look(provider)).at_rest:
            failed = next(
                (each.error for each in seen.instances if each.error and each.state is InstanceState.CREATING), None
            )
            if failed is not None:
                raise TemporaryError(
                    f"group {self._group} does not get the machines that it was asked for: "
                    f"{failed.code} {failed.message}".rstrip()
                )
            if self._clock.now() >= end:
                minutes = self._patience.deadline.total_seconds() / 60
                raise TemporaryError(f"group {self._group} has not come to rest within {minutes:g} min: {seen}")
            self._clock.wait(self._stop, next(pauses))
        return seen

    def _look(self, provider: Provider) -> Sight:
        return _seen(self._find(provider))

    def _find(self, provider: Provider) -> NodeGroup:
        self._refresh(provider)
        return find_group(provider.groups(), self._group)

    def _refresh(self, provider: Provider) -> None:
        """Read the cloud; if it asks for fewer calls, wait as long as it says. Raises what the provider does."""
        end = self._clock.now() + self._patience.deadline
        while True:
            try:
                return provider.refresh()
            except ThrottledError as error:
                pause = max(error.retry_after or 0.0, self._patience.interval.total_seconds())
                if self._clock.now() + timedelta(seconds=pause) > end:
                    raise
                self._clock.wait(self._stop, pause)

    @contextmanager
    def _open(self) -> Iterator[Provider]:
        """Yield a provider of its own, on which actions of the tests have left no trace."""
        provider = self._make()
        try:
            yield provider
        finally:
            provider.close()


def find_group(groups: Sequence[NodeGroup], name: str) -> NodeGroup:
    """Return the group with that id, or the only one of that *name*; raises `PermanentError` that names all."""
    by_id = {group.id: group for group in groups}
    if name in by_id:
        return by_id[name]
    named = [group for id_, group in by_id.items() if name_of_group(id_) == name]
    if len(named) == 1:
        return named[0]
    there = ", ".join(sorted(by_id)) or "none at all"
    raise PermanentError(f"the provider finds no group {name!r}; it finds {there}")


def most_telling(groups: Sequence[NodeGroup]) -> NodeGroup:
    """Return the first group that is at rest and has machines, or the closest to that: most rules need such a group."""
    return max(groups, key=_told_by)


def _told_by(group: NodeGroup) -> tuple[bool, bool]:
    try:
        seen = _seen(group)
    except NodewrightError:
        return False, False
    return bool(seen.running) and seen.at_rest, bool(seen.instances)


def _seen(group: NodeGroup) -> Sight:
    return Sight(
        min_size=group.min_size,
        max_size=group.max_size,
        target=group.target_size,
        instances=tuple(group.instances()),
    )
