"""Protocol buffers on the wire: the few field types that the expander protocol needs."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_SIZES = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
#: Negative numbers are written in 64-bit two's complement.
_MASK = (1 << 64) - 1


def number_field(number: int, value: int) -> bytes:
    """Return field *number* with an integer or a boolean."""
    return _varint(number << 3 | _VARINT) + _varint(value & _MASK)


def bytes_field(number: int, content: bytes) -> bytes:
    """Return field *number* with bytes or a message, which are encoded alike."""
    return _varint(number << 3 | _LENGTH) + _varint(len(content)) + content


def text_field(number: int, text: str) -> bytes:
    """Return field *number* with a string."""
    return bytes_field(number, text.encode())


def map_field(number: int, entries: Iterable[tuple[str, bytes]]) -> bytes:
    """Return field *number* with a map from strings to bytes, strings or messages."""
    return b"".join(bytes_field(number, text_field(1, key) + bytes_field(2, value)) for key, value in entries)


def contents(message: bytes, number: int) -> Iterator[bytes]:
    """Yield the contents of the fields *number* of *message*: bytes, strings or messages. Skips other fields.

    Raises `ValueError` if this is not a message.
    """
    position = 0
    while position < len(message):
        tag, position = _read_varint(message, position)
        wire = tag & 7
        if wire == _VARINT:
            _, position = _read_varint(message, position)
            continue
        if wire == _LENGTH:
            size, position = _read_varint(message, position)
        elif wire in _SIZES:
            size = _SIZES[wire]
        else:
            raise ValueError(f"the wire type {wire} is unknown")
        end = position + size
        if end > len(message):
            raise ValueError("it is cut off")
        if tag >> 3 == number and wire == _LENGTH:
            yield message[position:end]
        position = end


@lru_cache(maxsize=4096)  # tags and lengths repeat
def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _read_varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(message):
            raise ValueError("it is cut off")
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
