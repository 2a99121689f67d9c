"""A request as the API server understands it: who wants to do what to which resource."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

import yaml

from nodewright_fake.apiserver.document import Object, decode
from nodewright_fake.apiserver.protobuf import MEDIA_TYPE as PROTOBUF
from nodewright_fake.apiserver.protobuf import parsed_protobuf
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import bad_request, unsupported_media_type

_NAMESPACE_PARTS = ("status", "finalize")
_WRITES = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_BODIES = ("application/json", "application/yaml", PROTOBUF)


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a path under ``/api`` or ``/apis`` points to."""

    group: str = ""
    version: str = ""
    #: The resource's plural name; empty where the path ends before it.
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request, read whole. Hooks for faults and authorisation get it as well."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    #: Header names in lower case.
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: str = ""
    #: None for paths beside the resources: ``/version``, ``/healthz``, discovery.
    target: Target | None = None
    #: None where the target names nothing that is served.
    resource: Resource | None = None

    @property
    def verb(self) -> str:
        """Return the Kubernetes verb: get, list, watch, create, update, patch, delete, deletecollection."""
        if self.method in _WRITES:
            return _WRITES[self.method]
        named = self.target is None or bool(self.target.name)
        if self.method == "DELETE":
            return "delete" if named else "deletecollection"
        if named:
            return "get"
        return "watch" if self.flag("watch") else "list"

    @property
    def user_agent(self) -> str:
        """What the client calls itself."""
        return self.headers.get("user-agent", "")

    @property
    def dry_run(self) -> bool:
        """Whether everything is to be done but the writing."""
        return self.query.get("dryRun") == "All"

    def flag(self, name: str) -> bool:
        """Return whether the query parameter *name* is on."""
        return self.query.get(name, "").lower() in ("true", "1")

    def number(self, name: str, default: int) -> int:
        """Return the query parameter *name* as a number. Raises `StatusError` 400 if it is none."""
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isdecimal():
            raise bad_request(f'invalid value for query parameter {name}: "{text}" is not a number')
        return int(text)

    @property
    def media_type(self) -> str:
        """The type of the body, without parameters."""
        return self.headers.get("content-type", "application/json").partition(";")[0].strip()

    def document(self) -> Object:
        """Return the body as an object. Raises `StatusError` 400 or 415."""
        if self.media_type == PROTOBUF:
            return parsed_protobuf(self.body)
        if self.media_type not in (*_BODIES, "*/*"):
            raise unsupported_media_type(self.media_type, _BODIES)
        return parsed_object(self.body)


def parsed(text: bytes) -> object:
    """Return the value that JSON or YAML *text* stands for. Raises `StatusError` 400."""
    try:
        return decode(text) if text.lstrip()[:1] in (b"{", b"[", b"") else yaml.load(text, _PlainLoader)
    except (ValueError, yaml.YAMLError) as error:
        raise bad_request(f"the request's body cannot be read: {error}") from None


def parsed_object(text: bytes) -> Object:
    """Return the object that JSON or YAML *text* stands for. Raises `StatusError` 400."""
    value = parsed(text)
    if not isinstance(value, dict):
        raise bad_request("the request's body is not an object: expected fields such as kind, apiVersion, metadata")
    return value


def target_of(path: str) -> Target | None:
    """Return what *path* points to, or None if it is none of the resource paths."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "api" and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and rest[2] not in _NAMESPACE_PARTS:
        namespace, rest = rest[1], rest[2:]
    plural, name, *beyond = (*rest, "", "")
    return Target(
        group=group,
        version=version,
        plural=plural,
        namespace=namespace,
        name=name,
        subresource="/".join(part for part in beyond if part),
    )


def query_of(text: str) -> dict[str, str]:
    """Return the parameters of a query; of one that is repeated, the last."""
    return dict(parse_qsl(text, keep_blank_values=True)) if text else {}


class _PlainLoader(yaml.SafeLoader):
    """Reads YAML as JSON: what looks like a date stays text."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
