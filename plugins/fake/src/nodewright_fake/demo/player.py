"""The player: runs the autoscaler on a stage, on a thread of its own."""

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

from nodewright.api import NodewrightError

from nodewright_fake.demo.stage import Stage

if TYPE_CHECKING:
    from nodewright.testing import Harness


class Player:
    """Plays for the length of its ``with`` block, within that of the stage.

    *on_ready* is called on the player's thread when the autoscaler is about to begin.
    """

    def __init__(self, stage: Stage, *, on_ready: Callable[[], None] = lambda: None) -> None:
        self._failure: Exception | None = None
        self._autoscaler: Harness | None = None
        self._stage = stage
        self._on_ready = on_ready
        self._stop = Event()
        self._thread = Thread(target=self._play, name="demo-autoscaler", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._autoscaler is not None:
            self._autoscaler.wake()
        self._thread.join()

    def check(self) -> None:
        """Raise what ended the play, or its world, before its time, if anything did."""
        if self._failure is not None:
            raise self._failure
        if self._stage.world.failure is not None:
            raise NodewrightError(
                f"the demo's world broke down: {self._stage.world.failure!r}. That is a fault of nodewright-fake, "
                "please report it"
            ) from self._stage.world.failure

    def _play(self) -> None:
        try:
            with self._stage.autoscaler() as self._autoscaler:
                self._on_ready()
                self._autoscaler.run(self._stop)
        except Exception as error:
            self._failure = error
