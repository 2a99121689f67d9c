"""Bodies in Kubernetes' protobuf encoding, read as the JSON that they stand for."""

import base64
from collections.abc import Iterator
from typing import Any

from nodewright_fake.apiserver.document import Object
from nodewright_fake.apiserver.messages import fields_of
from nodewright_fake.apiserver.status import StatusError, bad_request

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\x00"
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
#: Go writes these even if they say nothing; in JSON they are left out.
_LEFT_OUT_EMPTY = ("text", "port")
_SIZES = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}


def parsed_protobuf(body: bytes) -> Object:
    """Return the object that *body* holds. Raises `StatusError` 400 or, for what is not known here, 415."""
    if not body.startswith(_MAGIC):
        raise bad_request("the request's body is no protobuf as Kubernetes writes it: it does not begin with k8s")
    try:
        envelope = _message("Unknown", body[len(_MAGIC) :])
        identity = envelope.get("typeMeta", {})
        content = base64.b64decode(envelope.get("raw", ""))
        return {**identity, **_message(identity.get("kind", ""), content)}
    except (IndexError, ValueError) as error:
        raise bad_request(f"the request's body cannot be read as protobuf: {error}") from None


def _message(name: str, content: bytes) -> dict[str, Any]:
    fields = fields_of(name)
    if fields is None:
        raise _unknown(f"protobuf of kind {name}")
    made: dict[str, Any] = {}
    for number, value in _values(content):
        field, kind = fields.get(number, ("", ""))
        if kind == "-":
            continue
        if not kind:
            if value:
                raise _unknown(f"protobuf field {number} of {name}")
        elif kind[0] == "[":
            made.setdefault(field, []).append(_value(kind[1:-1], value))
        elif kind[0] == "{":
            entry = _message("Entry", _bytes(value))
            made.setdefault(field, {})[entry.get("key", "")] = _value(
                kind[1:-1], base64.b64decode(entry.get("value", ""))
            )
        elif value or kind not in _LEFT_OUT_EMPTY:
            made[field] = _value(kind, value)
    return made


def _value(kind: str, value: int | bytes) -> Any:
    match kind:
        case "text":
            return _bytes(value).decode()
        case "bytes":
            return base64.b64encode(_bytes(value)).decode()
        case "flag":
            return bool(value)
        case "number" | "port":
            return _signed(value)
        case "Quantity":
            return _message("Quantity", _bytes(value)).get("text", "0")
        case "IntOrString":
            either = _message("IntOrString", _bytes(value))
            return either.get("text", "") if either.get("type") else either.get("number", 0)
    return _message(kind, _bytes(value))


def _values(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield numbers and contents of the fields of a message. Raises `IndexError` where it breaks off."""
    position = 0
    while position < len(content):
        tag, position = _varint(content, position)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, position = _varint(content, position)
            yield number, value
            continue
        if wire == _LENGTH:
            size, position = _varint(content, position)
        elif wire in _SIZES:
            size = _SIZES[wire]
        else:
            raise ValueError(f"there is no wire type {wire}")
        if position + size > len(content):
            raise IndexError("it breaks off in the middle")
        yield number, content[position : position + size]
        position += size


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("there is a number where a text or a message belongs")
    return value


def _signed(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("there is a text or a message where a number belongs")
    return value - (1 << 64) if value >> 63 else value


def _unknown(what: str) -> StatusError:
    message = f"{what} is not known to this server: send it as JSON (kubectl create -f FILE, kubectl apply -f FILE)"
    return StatusError(415, "UnsupportedMediaType", message)
