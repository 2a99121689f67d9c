"""Memory in a ConfigMap."""

import binascii
from base64 import b64decode, b64encode
from typing import Any

from nodewright.api.errors import ApiServerError, ConflictError
from nodewright.kube.answer import object_in
from nodewright.kube.transport import Transport
from nodewright.memory_store.store import Stored

_PLAIN = "memory.json"
_PACKED = "memory.json.gz"
#: A ConfigMap takes 1 MiB. Base64 takes a quarter of that, and the rest of the object needs some room too.
_LIMIT = 750 * 1024
_GZIP = b"\x1f\x8b"


class ConfigMapStore:
    """Holds memory in one ConfigMap and set-aside content in a second one.

    The version is the object's resourceVersion, so the API server itself refuses a writer that is out of date.
    """

    limit = _LIMIT

    def __init__(self, transport: Transport, namespace: str, name: str) -> None:
        self._transport = transport
        self._namespace = namespace
        self._name = name
        self.place = f"ConfigMap {namespace}/{name}"
        self.aside = f"ConfigMap {namespace}/{self._aside}"

    def read(self) -> Stored | None:
        """Return the ConfigMap's content; b"" if it is empty, as when an administrator created it in advance."""
        try:
            found = object_in(self._transport.get(self._path(self._name)))
        except ApiServerError as error:
            if error.status == 404:
                return None
            raise
        return Stored(content=_content(found), version=found["metadata"]["resourceVersion"])

    def write(self, content: bytes, version: str) -> str:
        """Write the ConfigMap. One that was deleted is a conflict as well: the known version is no longer there."""
        if not version:
            return self._create(self._name, content)
        try:
            return self._replace(self._name, content, version)
        except ApiServerError as error:
            if error.status == 404:
                raise ConflictError(str(error), status=404) from error
            raise

    def set_aside(self, content: bytes) -> None:
        """Write the second ConfigMap, whatever it holds."""
        try:
            self._create(self._aside, content)
        except ConflictError:
            self._replace(self._aside, content, "")

    @property
    def _aside(self) -> str:
        return f"{self._name}-set-aside"

    def _create(self, name: str, content: bytes) -> str:
        metadata = {"name": name, "labels": {"app.kubernetes.io/managed-by": "nodewright"}}
        data = {key: values for key, values in _data(content).items() if values}
        return _version(
            self._transport.post(self._path(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **data})
        )

    def _replace(self, name: str, content: bytes, version: str) -> str:
        """Change only our own keys: labels, annotations and other data belong to others."""
        data = _data(content)
        gone = {"data": {_PLAIN: None}} if data["binaryData"] else {"binaryData": {_PACKED: None}}
        metadata = {"resourceVersion": version} if version else {}
        changes = {"metadata": metadata, **{key: values for key, values in data.items() if values}, **gone}
        return _version(self._transport.patch(self._path(name), changes))

    def _path(self, name: str = "") -> str:
        path = f"/api/v1/namespaces/{self._namespace}/configmaps"
        return f"{path}/{name}" if name else path


def _data(content: bytes) -> dict[str, dict[str, str]]:
    if _is_text(content):
        return {"data": {_PLAIN: content.decode()}, "binaryData": {}}
    return {"data": {}, "binaryData": {_PACKED: b64encode(content).decode()}}


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return not content.startswith(_GZIP)


def _content(document: dict[str, Any]) -> bytes:
    """Return the content of a ConfigMap, valid or not."""
    packed = (document.get("binaryData") or {}).get(_PACKED)
    if isinstance(packed, str):
        try:
            return b64decode(packed, validate=True)
        except binascii.Error:
            return packed.encode()
    return str((document.get("data") or {}).get(_PLAIN, "")).encode()


def _version(answer: bytes) -> str:
    return str(object_in(answer)["metadata"]["resourceVersion"])
