"""Moments as Kubernetes writes them."""

from datetime import UTC, datetime


def read_timestamp(text: str) -> datetime:
    """Return the moment that *text* names, such as ``2030-01-01T00:00:00Z``; raises `ValueError` for other texts."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
