"""Secrets: hidden in settings and messages."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

MASK = "***"
#: The names of settings whose values are hidden.
_NAMES = re.compile(
    r"secret|token|passw|credential|private|api_?key|access_?key|external_?id|authorization|cookie", re.I
)
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")
#: Shorter values are not secrets, and would be found in ordinary words.
_SHORTEST = 4


def is_secret(name: object) -> bool:
    """Return whether the value of a setting with this *name* is hidden."""
    return _NAMES.search(str(name)) is not None


def without_secrets(value: Any, *, hidden: bool = False) -> Any:
    """Return *value*, which is plain JSON, with a mask in place of secrets."""
    if isinstance(value, Mapping):
        return {key: without_secrets(inner, hidden=hidden or is_secret(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(item, hidden=hidden) for item in value]
    if hidden and value is not None and not isinstance(value, bool):
        return MASK
    return _USER_IN_URL.sub(f"{MASK}@", value) if isinstance(value, str) else value


def secrets_in(value: Any, *, hidden: bool = False) -> Iterator[str]:
    """Yield the texts that `without_secrets` masks."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from secrets_in(inner, hidden=hidden or is_secret(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from secrets_in(item, hidden=hidden)
    elif hidden and isinstance(value, str | int) and len(str(value)) >= _SHORTEST:
        yield str(value)


def masked(text: str, secrets: frozenset[str]) -> str:
    """Return *text* with a mask in place of all *secrets* and of users in URLs."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _USER_IN_URL.sub(f"{MASK}@", text)
