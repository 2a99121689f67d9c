"""JSON documents that remember how they are written."""

from typing import Any

import msgspec

#: A Kubernetes object as parsed JSON. What the store hands out is shared: never change it, change a copy.
Object = dict[str, Any]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()

encode = _encoder.encode


class Document(dict[str, Any]):
    """One version of an object. It never changes, so its JSON text is made at most once, however many read it."""

    __slots__ = ("_encoded",)

    @property
    def encoded(self) -> bytes:
        """The object as JSON."""
        try:
            return self._encoded
        except AttributeError:
            self._encoded: bytes = encode(self)
            return self._encoded


def decode(text: bytes) -> Any:
    """Return the value that JSON *text* stands for. Raises `ValueError` that says what is wrong with it."""
    return _decoder.decode(text)


def copied(value: Any) -> Any:
    """Return a copy of a JSON value that shares nothing with it that could change."""
    if isinstance(value, dict):
        return {key: copied(item) if isinstance(item, (dict, list)) else item for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def dig(value: Any, path: str) -> Any:
    """Return what is at the dotted *path* within nested objects, or None where there is nothing."""
    for key in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
