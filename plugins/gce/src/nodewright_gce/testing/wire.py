"""Requests and answers of Google's REST APIs, read and written."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from nodewright_gce.resources.address import Place
from nodewright_gce.testing.messages import Call, RefusalError, Reply, Request, not_found

_COMPUTE = re.compile(r"/compute/v1/projects/(?P<project>[^/]+)(?P<rest>/.*)")
_BILLING = re.compile(r"/v1/services/(?P<service>[^/]+)/skus")
_JSON = {"Content-Type": "application/json; charset=UTF-8"}
_VERBS = {"GET": "get", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
#: Collections that the API calls otherwise where they belong to a region.
_REGIONAL = {
    "instance_group_managers",
    "instance_group_manager_resize_requests",
    "instance_groups",
    "instance_templates",
    "operations",
}
#: ``google.rpc.Code`` of HTTP's status.
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


def read_request(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Request:
    """Return the call that an HTTP request makes; one to nowhere has no resource."""
    url = urlsplit(path)
    arguments: dict[str, Any] = dict(parse_qsl(url.query, keep_blank_values=True))
    if match := _COMPUTE.fullmatch(url.path):
        if body:
            arguments |= msgspec.json.decode(body)
        call = _compute_call(method, unquote(match["project"]), match["rest"], arguments)
    elif match := _BILLING.fullmatch(url.path):
        call = Call(resource="skus", verb="list", name=match["service"], arguments=arguments)
    elif url.path.startswith("/computeMetadata/v1/") or url.path == "/":
        call = Call(resource="metadata", verb="get", name=url.path, arguments=arguments)
    elif url.path == "/token":
        call = Call(resource="oauth", verb="token", arguments=dict(parse_qsl(body.decode())))
    else:
        call = Call(resource="", verb="", name=url.path)
    return Request(method=method, path=path, headers=headers, body=body, call=call)


def write_reply(body: Mapping[str, Any]) -> Reply:
    """Return an answer that went well."""
    return Reply(body=msgspec.json.encode(body), headers=_JSON)


def write_refusal(refusal: RefusalError) -> Reply:
    """Return a refusal in Google's envelope."""
    said = {"message": str(refusal), "domain": "global", "reason": refusal.reason}
    error: dict[str, Any] = {
        "code": refusal.status,
        "message": str(refusal),
        "errors": [said],
        "status": _STATUS.get(refusal.status, "UNKNOWN"),
    }
    if refusal.reason == "rateLimitExceeded":
        said["domain"] = "usageLimits"
        error["details"] = [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "RATE_LIMIT_EXCEEDED",
                "domain": "googleapis.com",
                "metadata": {"service": "compute.googleapis.com"},
            }
        ]
    return Reply(
        status=refusal.status, body=msgspec.json.encode({"error": error}), headers={**_JSON, **refusal.headers}
    )


def read_reply(reply: Reply) -> dict[str, Any]:
    """Return what an answer says; raises `RefusalError`."""
    body: dict[str, Any] = msgspec.json.decode(reply.body)
    if reply.status >= 400:
        error = body["error"]
        raise RefusalError(reply.status, error["errors"][0]["reason"], error["message"])
    return body


def _compute_call(method: str, project: str, path: str, arguments: Mapping[str, Any]) -> Call:
    """The call at *path* of a project; a place is in front of what it holds, and is a resource itself."""
    first, *rest = (unquote(part) for part in path.strip("/").split("/"))
    place = None
    if first in ("zones", "regions"):
        if len(rest) < 2:
            return Call(
                resource=first, verb="get" if rest else "list", project=project, name="".join(rest), arguments=arguments
            )
        place = Place(project=project, name=rest.pop(0), regional=first == "regions")
    if first not in ("zones", "regions", "global", "aggregated") or not rest or len(rest) > 5:
        raise not_found(f"projects/{project}{path}")
    collection, name, below, child, verb = (*rest, "", "", "", "", "")[:5]
    resource = _in_snake_case(collection)
    if below == "resizeRequests":
        resource, below = "instance_group_manager_resize_requests", verb
    if below:
        told = _in_snake_case(below)
    elif first == "aggregated":
        told = "aggregated_list"
    elif name and (child or resource != "instance_group_manager_resize_requests"):
        told = _VERBS.get(method, "")
    else:
        told = "list" if method == "GET" else "insert"
    if place is not None and place.regional and resource in _REGIONAL:
        resource = f"region_{resource}"
    elif place is not None and resource == "operations":
        resource = "zone_operations"
    return Call(resource=resource, verb=told, project=project, place=place, name=name, child=child, arguments=arguments)


def _in_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
