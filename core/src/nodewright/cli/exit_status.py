"""How commands end: one table of exit statuses, for all of them."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the exit status of a command says. `docs/output.md` has the same table."""

    text: str

    def __new__(cls, value: int, text: str) -> "ExitStatus":
        """Make a member from its number and what it says."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.text = text
        return member

    DONE = 0, "done; what was asked about is as it should be"
    FAILED = 1, "not done, or what was asked about is not as it should be"
    WRONG = 2, "wrong usage, configuration, plugin or input: nothing was tried"
    UNFINISHED = 3, "`migrate`: printed, but something has to be done by hand"
    INTERRUPTED = 130, "ended by Ctrl-C"
    BROKEN_PIPE = 141, "whoever read the output has gone"
    LOST = 255, "`run`: the lease was lost, another replica may act. `cluster-autoscaler`: can't go on"
