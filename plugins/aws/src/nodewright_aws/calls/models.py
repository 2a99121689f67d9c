"""The SDK's data, without the hundreds of services and operations that this plugin never calls."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from botocore.loaders import JSONFileLoader, Loader

from nodewright_aws.calls.rights import RIGHTS

_MODEL, _ENDPOINTS = "service-2", "endpoints"
#: The SDK calls others of this service by itself, with roles of service accounts.
_WHOLE = {"sts"}
#: Besides our services by their names: what the price list and the SDK's sources of credentials are called there.
_OTHER_ENDPOINTS = {"api.pricing", "oidc", "portal.sso", "signin"}


def loader(data_path: str | None) -> Loader:
    """Return what loads models for the SDK, by AWS_DATA_PATH, too."""
    paths = [str(Path(each).expanduser()) for each in data_path.split(os.pathsep)] if data_path else None
    return Loader(extra_search_paths=paths, file_loader=_UsedOperations())


class _UsedOperations(JSONFileLoader):  # type: ignore[misc]
    """Reads the operations in `RIGHTS` and the shapes that they need, and the endpoints of these services.

    The model of EC2 and the table of endpoints become 24 MB of objects otherwise. Nearly all of it stays text here.
    """

    def load_file(self, file_path: str) -> Any:
        """Return the content of the file with this path and its ending; None if there is no such file."""
        path = Path(file_path)
        used = _used(path.parent.parent.name) if path.name == _MODEL else set()
        if not used and path.name != _ENDPOINTS:
            return super().load_file(file_path)
        for file, read in ((f"{file_path}.json", Path.read_bytes), (f"{file_path}.json.gz", _unpacked)):
            if Path(file).is_file():
                text = read(Path(file))
                return _cut(text, used) if used else _cut_endpoints(text)
        return None


def _used(service: str) -> set[str]:
    """Return the operations of *service* that are called, as AWS spells them; empty if all may be."""
    return {operation.title().replace("_", "") for name, operation in RIGHTS if name == service and name not in _WHOLE}


def _unpacked(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes())


def _cut(text: bytes, used: set[str]) -> dict[str, Any]:
    parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    operations = msgspec.json.decode(parts.pop("operations"), type=dict[str, msgspec.Raw])
    shapes = msgspec.json.decode(parts.pop("shapes"), type=dict[str, msgspec.Raw])
    model = {name: msgspec.json.decode(part) for name, part in parts.items()}
    model["operations"] = {name: msgspec.json.decode(operations[name]) for name in operations if name in used}
    model["shapes"] = {}
    waiting = [*_shapes_in(model["operations"])]
    while waiting:
        if (name := waiting.pop()) not in model["shapes"]:
            model["shapes"][name] = msgspec.json.decode(shapes[name])
            waiting += _shapes_in(model["shapes"][name])
    return model


def _cut_endpoints(text: bytes) -> dict[str, Any]:
    kept = {service for service, _ in RIGHTS} | _OTHER_ENDPOINTS
    parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    table = {name: msgspec.json.decode(part) for name, part in parts.items() if name != "partitions"}
    table["partitions"] = []
    for partition in msgspec.json.decode(parts["partitions"], type=list[dict[str, msgspec.Raw]]):
        services = msgspec.json.decode(partition.pop("services"), type=dict[str, msgspec.Raw])
        cut = {name: msgspec.json.decode(part) for name, part in partition.items()}
        cut["services"] = {name: msgspec.json.decode(part) for name, part in services.items() if name in kept}
        table["partitions"].append(cut)
    return table


def _shapes_in(node: Any) -> Iterator[str]:
    """Yield the names of shapes that *node* refers to; take out descriptions, which nobody reads."""
    if isinstance(node, list):
        for each in node:
            yield from _shapes_in(each)
    elif isinstance(node, dict):
        if isinstance(node.get("documentation"), str):
            del node["documentation"]
        if isinstance(node.get("shape"), str):
            yield node["shape"]
        for each in node.values():
            yield from _shapes_in(each)
