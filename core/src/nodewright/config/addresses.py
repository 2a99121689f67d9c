"""Types of settings that name something outside: Kubernetes objects, addresses, URLs."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from nodewright.config.wording import written

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_CHARACTERS, _NAME_CHARACTERS = 63, 253
_PORT_MAX = 65535


def read_namespace(text: str) -> str:
    """Return *text* if it is a valid name of a namespace. Raises `ValueError` otherwise."""
    if not re.fullmatch(_LABEL, text) or len(text) > _LABEL_CHARACTERS:
        raise ValueError(f"{written(text)} is not a valid name of a namespace: use lower-case letters, digits and -")
    return text


def split_address(text: str) -> tuple[str, int]:
    """Return host and port of ``host:port``, ``[host]:port`` or ``:port``. Raises `ValueError` for anything else."""
    host, colon, port = text.rpartition(":")
    bare = not (host.startswith("[") and host.endswith("]"))
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > _PORT_MAX or (bare and ":" in host):
        raise ValueError(
            f"{written(text)} is not an address to listen on: write host:port, [IPv6]:port, or :port for all addresses"
        )
    return (host if bare else host[1:-1]), int(port)


def _read_object_name(text: str) -> str:
    if not re.fullmatch(rf"{_LABEL}(\.{_LABEL})*", text) or len(text) > _NAME_CHARACTERS:
        raise ValueError(f"{written(text)} is not a valid name of an object: use lower-case letters, digits, - and .")
    return text


def _read_address(text: str) -> str:
    split_address(text)
    return text


def _read_server(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if text and not (usable and re.fullmatch(r"\S+", text)):
        raise ValueError(f"write a URL such as https://10.0.0.1:6443, not {written(text)}")
    return text


def _read_header(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise ValueError("write printable ASCII characters, in one line")
    return text


#: The name of a Kubernetes object of most kinds.
ObjectName = Annotated[str, Field(min_length=1), AfterValidator(_read_object_name)]
NamespaceName = Annotated[str, Field(min_length=1), AfterValidator(read_namespace)]
#: ``host:port``: an address to listen on.
Address = Annotated[str, Field(min_length=1), AfterValidator(_read_address)]
#: The URL of an API server, or an empty text.
ServerUrl = Annotated[str, AfterValidator(_read_server)]
#: A text that can be sent as an HTTP header.
HeaderText = Annotated[str, Field(min_length=1), AfterValidator(_read_header)]
