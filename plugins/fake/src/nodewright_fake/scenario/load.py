"""Reading scenarios, with all mistakes at once and the line of each."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from nodewright.api import ConfigurationError, Problem
from pydantic import ValidationError

from nodewright_fake.cloud.group import pool_name
from nodewright_fake.mistakes import Mistake, mistakes
from nodewright_fake.names import Known
from nodewright_fake.scenario.scenario import Scenario

_HINT = "`nodewright world scenario` prints an example"


def load_scenario(path: Path) -> Scenario:
    """Read a scenario from a file; raises `ConfigurationError` with all mistakes."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(Problem(source=str(path), message=f"can't be read: {error}")) from error
    return parse_scenario(text, source=str(path))


def parse_scenario(text: str, *, source: str = "scenario") -> Scenario:
    """Read a scenario from YAML; raises `ConfigurationError` with all mistakes, *source* being the name of the file."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        document = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigurationError(
            Problem(source=source, line=line, message=f"is not YAML: {error.problem or error.context}")
        ) from error
    except yaml.YAMLError as error:
        raise ConfigurationError(Problem(source=source, message=f"is not YAML: {error}")) from error
    except (RecursionError, ValueError) as error:
        # Values that YAML can express and Python can't read: numbers of thousands of digits, dates that do not exist.
        reason = "is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigurationError(Problem(source=source, message=reason)) from error
    if root is None or not isinstance(document, dict):
        raise ConfigurationError(Problem(source=source, message=f"is not a mapping; {_HINT}"))

    found = list(_repeated(root, (), set()))
    scenario = None
    try:
        scenario = Scenario.model_validate(document, context=known_names(document))
    except ValidationError as error:
        found.extend(mistakes(error, Scenario))
    if scenario is None or found:
        problems = [
            Problem(source=source, line=_line(root, mistake.location), path=mistake.path, message=mistake.message)
            for mistake in found
        ]
        raise ConfigurationError(*sorted(problems, key=lambda problem: problem.line))
    return scenario


def _line(node: yaml.Node, location: tuple[int | str, ...]) -> int:
    """The line of the key or item at *location*, or of the innermost one around it that is there."""
    line: int = node.start_mark.line
    for part in location:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line
            continue
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = [(key, value) for key, value in pairs if key.value == str(part)]
        if not found:
            break
        key, node = found[-1]
        line = key.start_mark.line
    return line + 1


def _repeated(node: Any, location: tuple[int | str, ...], seen: set[int]) -> Iterator[Mistake]:
    """Keys that are written twice in one mapping, of which YAML would silently forget the first.

    Nodes that were *seen* are looked at once, however many aliases refer to them.
    """
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _repeated(item, (*location, index), seen)
    if isinstance(node, yaml.MappingNode):
        keys = set()
        for key, value in node.value:
            here = (*location, key.value)
            if key.value in keys:
                yield Mistake(location=here, message="is written twice")
            keys.add(key.value)
            yield from _repeated(value, here, seen)


def known_names(document: Mapping[str, Any]) -> Known:
    """Return the names in a parsed scenario; what is malformed is passed over."""
    groups = [group for group in _items(document, "groups") if isinstance(group.get("name"), str)]
    zones = document.get("zones")
    instance_types = document.get("instanceTypes")
    return Known(
        zones=[zone for zone in zones if isinstance(zone, str)] if isinstance(zones, list) else [],
        instance_types=[str(name) for name in instance_types] if isinstance(instance_types, dict) else [],
        groups=[group["name"] for group in groups],
        pools=sorted({_pool(group) for group in groups}),
        deployments=sorted(_deployments(document)),
    )


def _pool(group: Mapping[str, Any]) -> str:
    return pool_name(str(group.get("zone")), str(group.get("instanceType")), spot=group.get("spot") is True)


def _deployments(document: Mapping[str, Any]) -> Iterator[str]:
    workloads = document.get("workloads")
    for deployment in _items(workloads if isinstance(workloads, dict) else {}, "deployments"):
        yield _key(deployment)
    applied = [manifest for step in _items(document, "story") for manifest in _items(step, "apply")]
    for manifest in (*_items(document, "objects"), *applied):
        if manifest.get("kind") == "Deployment" and isinstance(manifest.get("metadata"), dict):
            yield _key(manifest["metadata"])


def _key(metadata: Mapping[str, Any]) -> str:
    return f"{metadata.get('namespace', 'default')}/{metadata.get('name')}"


def _items(mapping: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The mappings in the list under *key*."""
    items = mapping.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
