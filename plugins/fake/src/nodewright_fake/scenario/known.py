"""The names that a scenario defines, found before it is known whether the rest of it is right."""

from collections.abc import Iterator, Mapping
from typing import Any

from nodewright_fake.cloud.group import pool_name
from nodewright_fake.names import Known


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
