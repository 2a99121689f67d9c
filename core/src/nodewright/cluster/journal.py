"""The journal: how to take back what was done in a fork."""

from collections.abc import Callable


class Journal:
    """Undo steps, newest last. Outside of forks nothing is written down."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] = []
        self._depth = 0

    @property
    def open(self) -> bool:
        """Whether there is a fork."""
        return self._depth > 0

    def begin(self) -> int:
        """Begin a fork; returns the mark to give to `revert` or `commit`."""
        self._depth += 1
        return len(self._steps)

    def note(self, undo: Callable[[], None]) -> None:
        """Write down how to take a step back."""
        if self._depth:
            self._steps.append(undo)

    def revert(self, mark: int) -> None:
        """End a fork and take back all that was done in it; costs what was done."""
        while len(self._steps) > mark:
            self._steps.pop()()
        self._depth -= 1

    def commit(self, mark: int) -> None:
        """End a fork and let what was done in it stand, as part of the one around it if there is one."""
        self._depth -= 1
        if not self._depth:
            del self._steps[mark:]
