"""AWS' protocols, read and written with botocore's service models."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4
from xml.sax.saxutils import escape

from nodewright_aws.testing.messages import RefusalError, Reply, Request

_CREDENTIAL = re.compile(r"Credential=([^/]*)/\d*/([^/]*)/([^/]*)/aws4_request")


def read_request(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Request:
    """Return the call that an HTTP request makes. *headers* are looked up whatever their case."""
    match = _CREDENTIAL.search(headers.get("Authorization") or "")
    access_key, region, service = match.groups() if match else ("", "", "sts")
    arguments: Mapping[str, Any] = {}
    operation = ""
    protocol = _model(service).metadata["protocol"] if service in _services() else ""
    if protocol in ("query", "ec2"):
        form = dict(parse_qsl(body.decode(), keep_blank_values=True))
        action = form.get("Action", "")
        if action in _model(service).operation_names:
            operation = _in_snake_case(action)
            shape = _model(service).operation_model(action).input_shape
            arguments = (_read(shape, form, "", ec2=protocol == "ec2") if shape else None) or {}
    elif protocol == "json":
        operation = _in_snake_case((headers.get("X-Amz-Target") or "").rpartition(".")[2])
        arguments = json.loads(body or b"{}")
    elif protocol == "rest-json":
        operation = _by_path(service, method, urlsplit(path).path)
    return Request(
        service=service,
        operation=operation,
        method=method,
        path=path,
        headers=headers,
        body=body,
        arguments=arguments,
        access_key=access_key,
        region=region,
    )


def write_request(service: str, operation: str, arguments: Mapping[str, Any], *, region: str) -> Request:
    """Return the call that boto3 would make."""
    from botocore.serialize import create_serializer

    model = _model(service)
    written = create_serializer(model.metadata["protocol"]).serialize_to_request(
        dict(arguments), model.operation_model(_in_camel_case(service)[operation])
    )
    body = written["body"]
    if isinstance(body, dict):
        body = urlencode(body)
    query = urlencode(written["query_string"])
    return Request(
        service=service,
        operation=operation,
        method=written["method"],
        path=written["url_path"] + (f"?{query}" if query else ""),
        headers={
            **written["headers"],
            "Authorization": f"AWS4-HMAC-SHA256 Credential=double/20300101/{region}/{service}/aws4_request,"
            " SignedHeaders=host, Signature=0",
        },
        body=body.encode() if isinstance(body, str) else body,
        arguments=arguments,
        region=region,
    )


def read_reply(request: Request, reply: Reply) -> dict[str, Any]:
    """Return an answer as boto3 does; raises `RefusalError`."""
    from botocore.parsers import create_parser

    model = _model(request.service)
    action = _in_camel_case(request.service)[request.operation]
    answer: dict[str, Any] = create_parser(model.metadata["protocol"]).parse(
        {"body": reply.body, "headers": reply.headers, "status_code": reply.status},
        model.operation_model(action).output_shape,
    )
    if reply.status >= 300:
        raise RefusalError(answer["Error"]["Code"], answer["Error"]["Message"], status=reply.status)
    return answer


def write_reply(request: Request, answer: Mapping[str, Any]) -> Reply:
    """Return an answer in boto3's form as the service of *request* writes it."""
    model = _model(request.service)
    protocol = model.metadata["protocol"]
    if protocol not in ("query", "ec2"):
        return Reply(body=json.dumps(answer).encode(), headers={"Content-Type": "application/x-amz-json-1.1"})
    action = _in_camel_case(request.service)[request.operation]
    shape = model.operation_model(action).output_shape
    inner = _write_members(shape, answer) if shape else ""
    number = uuid4()
    if protocol == "ec2":
        body = f"<requestId>{number}</requestId>{inner}"
    else:
        body = (
            f"<{action}Result>{inner}</{action}Result>"
            f"<ResponseMetadata><RequestId>{number}</RequestId></ResponseMetadata>"
        )
    namespace = model.metadata.get("xmlNamespace", "")
    return _xml(f'<{action}Response xmlns="{namespace}">{body}</{action}Response>')


def write_refusal(request: Request, refusal: RefusalError) -> Reply:
    """Return a refusal as the service of *request* writes it."""
    protocol = _model(request.service).metadata["protocol"] if request.service in _services() else "json"
    if protocol not in ("query", "ec2"):
        return Reply(
            status=refusal.status,
            body=json.dumps({"__type": refusal.code, "message": str(refusal)}).encode(),
            headers={"Content-Type": "application/x-amz-json-1.1", "x-amzn-errortype": refusal.code},
        )
    number = uuid4()
    words = f"<Code>{escape(refusal.code)}</Code><Message>{escape(str(refusal))}</Message>"
    if protocol == "ec2":
        return _xml(
            f"<Response><Errors><Error>{words}</Error></Errors><RequestID>{number}</RequestID></Response>",
            status=refusal.status,
        )
    side = "Sender" if refusal.status < 500 else "Receiver"
    return _xml(
        f"<ErrorResponse><Error><Type>{side}</Type>{words}</Error><RequestId>{number}</RequestId></ErrorResponse>",
        status=refusal.status,
    )


def _xml(text: str, *, status: int = 200) -> Reply:
    return Reply(status=status, body=text.encode(), headers={"Content-Type": "text/xml"})


@cache
def _session() -> Any:
    import botocore.session

    return botocore.session.Session()


@cache
def _services() -> frozenset[str]:
    return frozenset(_session().get_available_services())


@cache
def _model(service: str) -> Any:
    return _session().get_service_model(service)


@cache
def _in_camel_case(service: str) -> dict[str, str]:
    return {_in_snake_case(name): name for name in _model(service).operation_names}


@cache
def _in_snake_case(name: str) -> str:
    from botocore import xform_name

    return str(xform_name(name))


@cache
def _paths(service: str) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    found = []
    for name in _model(service).operation_names:
        http = _model(service).operation_model(name).http
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(urlsplit(http["requestUri"]).path))
        found.append((http["method"], re.compile(pattern), _in_snake_case(name)))
    return tuple(found)


def _by_path(service: str, method: str, path: str) -> str:
    return next((name for verb, pattern, name in _paths(service) if verb == method and pattern.fullmatch(path)), "")


def _read(shape: Any, form: Mapping[str, str], prefix: str, *, ec2: bool) -> Any:
    """Return the value of *shape* in a form; None if it has none."""
    if prefix and prefix not in form and not any(key.startswith(prefix + ".") for key in form):
        return None
    if shape.type_name == "structure":
        read = {
            name: _read(member, form, f"{prefix}.{key}" if prefix else key, ec2=ec2)
            for name, member in shape.members.items()
            for key in (_key(name, member, ec2=ec2),)
        }
        return {name: value for name, value in read.items() if value is not None}
    if shape.type_name == "list":
        if not ec2 and not shape.serialization.get("flattened"):
            prefix += "." + shape.member.serialization.get("name", "member")
        items: list[Any] = []
        while (item := _read(shape.member, form, f"{prefix}.{len(items) + 1}", ec2=ec2)) is not None:
            items.append(item)
        return items
    text = form.get(prefix, "")
    if shape.type_name in ("integer", "long"):
        return int(text)
    if shape.type_name in ("float", "double"):
        return float(text)
    return text.lower() == "true" if shape.type_name == "boolean" else text


def _key(name: str, shape: Any, *, ec2: bool) -> str:
    told = shape.serialization
    if not ec2:
        return str(told.get("name", name))
    key = str(told.get("queryName") or told.get("name", name))
    return key[0].upper() + key[1:]


def _write_members(shape: Any, value: Mapping[str, Any]) -> str:
    return "".join(
        _write(member, value[name], member.serialization.get("name", name))
        for name, member in shape.members.items()
        if value.get(name) is not None
    )


def _write(shape: Any, value: Any, tag: str) -> str:
    if shape.type_name == "structure":
        inner = _write_members(shape, value)
    elif shape.type_name == "list":
        item = shape.member.serialization.get("name", "member")
        inner = "".join(_write(shape.member, each, item) for each in value)
    elif shape.type_name == "boolean":
        inner = "true" if value else "false"
    elif isinstance(value, datetime):
        inner = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    else:
        inner = escape(str(value))
    return f"<{tag}>{inner}</{tag}>"
