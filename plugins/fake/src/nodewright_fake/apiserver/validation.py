"""What an object must be like to be stored: its names, its labels, its amounts."""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from nodewright.api import parse_quantity

from nodewright_fake.apiserver.document import Object, dig
from nodewright_fake.apiserver.resources import DEFINITIONS, Resource
from nodewright_fake.apiserver.status import bad_request, invalid

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(
    r"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_LABEL_NAMED = frozenset({"namespaces", "services"})
_PATH_NAMED_GROUP = "rbac.authorization.k8s.io"
_NAME_RULE = (
    "must consist of lower case alphanumeric characters, {}, and must start and end with an alphanumeric character"
)
_VALUE_RULE = "must be at most 63 alphanumeric characters, '-', '_' or '.', and start and end with an alphanumeric one"
_CONFIG_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_CONFIG_KEY_RULE = "alphanumeric characters, '-', '_' or '.'"
_CONFIG_SIZE = 1024 * 1024
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def check_type(resource: Resource, sent: Object) -> None:
    """Raise `StatusError` 400 if the object is of another kind or version than the path says."""
    for key, expected, what in (
        ("apiVersion", resource.api_version, "API version"),
        ("kind", resource.kind, "kind"),
    ):
        found = sent.setdefault(key, expected)
        if found != expected:
            raise bad_request(f"the {what} in the data ({found}) does not match the expected {what} ({expected})")
    metadata = sent.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise bad_request("the object's metadata is no object: expected fields such as name, namespace, labels")
    for place, part, key in ((sent, "", "spec"), (sent, "", "status"), (metadata, "metadata.", "labels")):
        if place.get(key) is not None and not isinstance(place[key], dict):
            raise bad_request(f"the object's {part}{key} is no object: expected fields, found {place[key]!r}")


def check(resource: Resource, draft: Object) -> None:
    """Raise `StatusError` 422 that names everything that is wrong with an object."""
    wrongs = list(_wrongs(resource, draft))
    if wrongs:
        raise invalid(resource.kind, resource.group, draft["metadata"].get("name", ""), wrongs)


def _wrongs(resource: Resource, draft: Object) -> Iterator[tuple[str, str]]:
    metadata = draft["metadata"]
    yield from _name(resource, metadata)
    yield from _labels(metadata)
    if resource.key == "pods":
        yield from _pod_spec("spec", draft.get("spec") or {})
    elif resource.key == "nodes":
        yield from _taints((draft.get("spec") or {}).get("taints") or ())
    elif resource.key == "configmaps":
        yield from _content(draft)
    elif resource.key == DEFINITIONS:
        yield from _definition(draft)
    elif resource.group in ("apps", "batch") and dig(draft, "spec.template") is not None:
        yield from _pod_spec("spec.template.spec", dig(draft, "spec.template.spec") or {})
        yield from _selector(draft)


def _name(resource: Resource, metadata: Object) -> Iterator[tuple[str, str]]:
    name = metadata.get("name")
    if not name:
        yield "metadata.name", "Required value: name or generateName is required"
    elif resource.group == _PATH_NAMED_GROUP:
        if name in (".", "..") or "/" in name or "%" in name:
            yield "metadata.name", f'Invalid value: "{name}": may not be "." or ".." or contain "/" or "%"'
    elif resource.key in _LABEL_NAMED:
        if len(name) > 63 or not _LABEL.fullmatch(name):
            rule = _NAME_RULE.format("'-'")
            yield "metadata.name", f'Invalid value: "{name}": a lowercase RFC 1123 label {rule}'
    elif len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
        rule = _NAME_RULE.format("'-' or '.'")
        yield "metadata.name", f'Invalid value: "{name}": a lowercase RFC 1123 subdomain {rule}'


def _labels(metadata: Object) -> Iterator[tuple[str, str]]:
    for key, value in (metadata.get("labels") or {}).items():
        if not _QUALIFIED.fullmatch(key):
            yield "metadata.labels", f'Invalid value: "{key}": a label\'s name {_VALUE_RULE}, after an optional domain/'
        if not isinstance(value, str) or not _LABEL_VALUE.fullmatch(value):
            yield "metadata.labels", f'Invalid value: "{value}": a label {_VALUE_RULE}'
    for key, value in (metadata.get("annotations") or {}).items():
        if not isinstance(value, str):
            yield f"metadata.annotations[{key}]", f"Invalid value: {value!r}: an annotation is a text: quote it"


def _content(config_map: Object) -> Iterator[tuple[str, str]]:
    texts, packed = config_map.get("data") or {}, config_map.get("binaryData") or {}
    for key in (*texts, *packed):
        if not _CONFIG_KEY.fullmatch(key):
            yield f"data[{key}]", f'Invalid value: "{key}": a valid config key must consist of {_CONFIG_KEY_RULE}'
    for key in packed:
        if key in texts:
            yield f"data[{key}]", f'Invalid value: "{key}": duplicate of key present in binaryData'
    size = 0
    for text in texts.values():
        if not isinstance(text, str):
            yield "data", f"Invalid value: {text!r}: a value is a text"
        else:
            size += len(text.encode())
    for key, text in packed.items():
        try:
            size += len(b64decode(text, validate=True))
        except (TypeError, ValueError):
            yield f"binaryData[{key}]", "Invalid value: not base64"
    if size > _CONFIG_SIZE:
        yield "", f"Too long: may not be more than {_CONFIG_SIZE} bytes"


def _pod_spec(path: str, spec: Object) -> Iterator[tuple[str, str]]:
    containers = spec.get("containers") or []
    if not containers:
        yield f"{path}.containers", "Required value"
    seen: set[str] = set()
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key) or ()):
            place = f"{path}.{key}[{index}]"
            name = container.get("name", "")
            if not name:
                yield f"{place}.name", "Required value"
            elif name in seen:
                yield f"{place}.name", f'Duplicate value: "{name}"'
            seen.add(name)
            yield from _amounts(f"{place}.resources", container.get("resources") or {})


def _amounts(path: str, resources: Object) -> Iterator[tuple[str, str]]:
    for part in ("requests", "limits"):
        for name, amount in (resources.get(part) or {}).items():
            try:
                number = parse_quantity(str(amount), scale=3)
            except ValueError as error:
                yield f"{path}.{part}[{name}]", f"Invalid value: {error}"
                continue
            if number < 0:
                yield f"{path}.{part}[{name}]", f'Invalid value: "{amount}": must be greater than or equal to 0'


def _taints(taints: Any) -> Iterator[tuple[str, str]]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        identity = (taint.get("key", ""), taint.get("effect", ""))
        if not identity[0]:
            yield f"metadata.taints[{index}].key", "Required value"
        if identity[1] not in _EFFECTS:
            yield f"metadata.taints[{index}].effect", f'Unsupported value: "{identity[1]}": {", ".join(_EFFECTS)}'
        if identity in seen:
            yield (
                f"metadata.taints[{index}]",
                f'Duplicate value: "{identity[0]}": taints must be unique by key and effect',
            )
        seen.add(identity)


def _definition(definition: Object) -> Iterator[tuple[str, str]]:
    for field in ("spec.group", "spec.names.plural", "spec.names.kind", "spec.versions"):
        if not dig(definition, field):
            yield field, "Required value"
    wanted = f"{dig(definition, 'spec.names.plural')}.{dig(definition, 'spec.group')}"
    if definition["metadata"]["name"] != wanted:
        yield "metadata.name", f'Invalid value: "{definition["metadata"]["name"]}": must be {wanted}'


def _selector(workload: Object) -> Iterator[tuple[str, str]]:
    wanted = dig(workload, "spec.selector.matchLabels") or {}
    labels = dig(workload, "spec.template.metadata.labels") or {}
    if workload["kind"] != "Job" and any(labels.get(key) != value for key, value in wanted.items()):
        yield (
            "spec.template.metadata.labels",
            f"Invalid value: {labels}: `selector` does not match template `labels`",
        )
