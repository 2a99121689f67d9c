"""Error texts: what the errors of plugins say, in words that can be written anywhere."""

from nodewright.api import NodewrightError
from nodewright.plugins.conduct import MisconductError


def text_of(error: BaseException) -> str:
    """Return the text of *error*, which can be written anywhere. A plugin's own error may be unable to tell it."""
    try:
        return str(error).encode(errors="backslashreplace").decode()
    except BaseException as failure:
        return f"its text can't be told ({type(failure).__name__})"


def describe(error: BaseException) -> str:
    """Return *error* in one line: its message, with its type unless that is one of Nodewright's own."""
    message = " ".join(text_of(error).split())
    if isinstance(error, NodewrightError | MisconductError) and message:
        return message
    if isinstance(error, TypeError) and "offset-naive" in message:
        message += ": the times that Nodewright gives have a time zone, and so must yours"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
