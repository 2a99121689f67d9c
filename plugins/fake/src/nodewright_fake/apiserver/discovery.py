"""How clients find out what is served: versions, groups, resources, schemas, health."""

from collections.abc import Iterable
from typing import Any

from nodewright_fake.apiserver.catalogue import Catalogue
from nodewright_fake.apiserver.document import encode
from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import unknown_path
from nodewright_fake.apiserver.wire import Response

VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.0+nodewright",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none: written in Python",
    "compiler": "",
    "platform": "",
}

#: What clients ask for, and what it is called in the answer: there an @ would be no valid media type.
_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_PROTOBUF_ANSWER = _PROTOBUF.replace("@", ".")
_HEALTH = ("/healthz", "/livez", "/readyz")


class Discovery:
    """Answers everything beside the resources."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def answer(self, request: Request) -> Response:
        """Answer a GET. Raises `StatusError` 404 for a path that leads nowhere."""
        path = request.path.rstrip("/") or "/"
        parts = path.strip("/").split("/")
        if path == "/version":
            return _json(VERSION)
        if f"/{parts[0]}" in _HEALTH:
            return Response(body=b"ok", content_type="text/plain; charset=utf-8")
        if path == "/":
            return _json({"paths": ["/api", "/api/v1", "/apis", *_HEALTH, "/openapi/v2", "/openapi/v3", "/version"]})
        if path == "/openapi/v2":
            return _schema(request.headers.get("accept", ""))
        if path == "/openapi/v3":
            return _json({"paths": {}})
        match parts:
            case ["api"]:
                return _json({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
            case ["api", "v1"]:
                return _json(self._resources("", "v1"))
            case ["apis"]:
                return _json({"kind": "APIGroupList", "apiVersion": "v1", "groups": self._groups()})
            case ["apis", name]:
                return _json(self._group(name))
            case ["apis", name, version]:
                return _json(self._resources(name, version))
        raise unknown_path()

    def _groups(self) -> list[dict[str, Any]]:
        names = dict.fromkeys(resource.group for resource in self._catalogue.all())
        return [self._group(name) for name in names if name]

    def _group(self, name: str) -> dict[str, Any]:
        versions = dict.fromkeys(one.version for one in self._catalogue.all() if one.group == name)
        if not versions:
            raise unknown_path()
        listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
        return {
            "kind": "APIGroup",
            "apiVersion": "v1",
            "name": name,
            "versions": listed,
            "preferredVersion": listed[0],
        }

    def _resources(self, group: str, version: str) -> dict[str, Any]:
        served = [one for one in self._catalogue.all() if (one.group, one.version) == (group, version)]
        if not served:
            raise unknown_path()
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{group}/{version}" if group else version,
            "resources": [entry for resource in served for entry in _entries(resource)],
        }


def _entries(resource: Resource) -> Iterable[dict[str, Any]]:
    main: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        main["shortNames"] = list(resource.short_names)
    if resource.categories:
        main["categories"] = list(resource.categories)
    yield main
    for subresource in resource.subresources:
        entry = {
            "name": f"{resource.plural}/{subresource.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": subresource.kind,
            "verbs": list(subresource.verbs),
        }
        group, _, version = subresource.api_version.rpartition("/")
        if (group, version) != (resource.group, resource.version):
            entry |= {"group": group, "version": version}
        yield entry


def _json(body: object) -> Response:
    return Response(body=encode(body), headers={"Cache-Control": "no-cache, private"})


def _schema(accept: str) -> Response:
    """Return a schema that describes nothing: clients check nothing then, and send what they are given."""
    title, version = "Kubernetes", str(VERSION["gitVersion"])
    if _PROTOBUF in accept:
        info = _text_field(1, title) + _text_field(2, version)
        body = _text_field(1, "2.0") + _bytes_field(2, info) + _bytes_field(8, b"")
        return Response(body=body, content_type=_PROTOBUF_ANSWER)
    return _json({"swagger": "2.0", "info": {"title": title, "version": version}, "paths": {}, "definitions": {}})


def _text_field(number: int, text: str) -> bytes:
    return _bytes_field(number, text.encode())


def _bytes_field(number: int, content: bytes) -> bytes:
    """Return a field of a protobuf message; fits contents of less than 128 bytes."""
    return bytes((number << 3 | 2, len(content))) + content
