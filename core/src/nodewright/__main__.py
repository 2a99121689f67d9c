"""``python -m nodewright``, and the command ``nodewright``."""

import signal
from typing import NoReturn


def program() -> NoReturn:
    """Run the program's own command line and end the process."""
    # An interrupt ends the process without a word until there is something to say about it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from nodewright.cli.main import program

    program()


if __name__ == "__main__":
    program()
