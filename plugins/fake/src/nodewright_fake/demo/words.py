"""Figures in words."""

from datetime import timedelta


def count(number: int, noun: str) -> str:
    """Return how many of something there are: ``1 node``, ``12 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def span(time: timedelta) -> str:
    """Return a length of time: ``34s``, ``2m05s``."""
    minutes, seconds = divmod(int(time.total_seconds()), 60)
    return f"{minutes}m{seconds:02}s" if minutes else f"{seconds}s"
