"""Pods made from the templates of their controllers."""

import hashlib
import json
from typing import Any

from nodewright_fake.apiserver.store import Object

#: Kubernetes' alphabet for generated names: no vowels, so no words.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def template_hash(template: Object) -> str:
    """Return a short name for the contents of a template, the same in every run.

    What is null or empty counts as absent: clients differ in whether they write such fields.
    """
    digest = hashlib.sha256(json.dumps(_stated(template), sort_keys=True).encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:10])


def _stated(value: Any) -> Any:
    if isinstance(value, dict):
        stated = {key: _stated(item) for key, item in value.items()}
        return {key: item for key, item in stated.items() if item not in (None, "", {}, [])}
    return [_stated(item) for item in value] if isinstance(value, list) else value


def owner_reference(owner: Object, api_version: str, kind: str) -> Object:
    """Return the reference that makes *owner* the controller of an object."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def new_pod(owner: Object, reference: Object, template: Object, *, name: str = "") -> Object:
    """Return a pod of *owner* to be created; without *name* it gets a generated one."""
    stated = template.get("metadata") or {}
    metadata: Object = {
        "namespace": owner["metadata"].get("namespace", ""),
        "labels": dict(stated.get("labels") or {}),
        "annotations": dict(stated.get("annotations") or {}),
        "ownerReferences": [reference],
    }
    if name:
        metadata["name"] = name
    else:
        metadata["generateName"] = owner["metadata"]["name"] + "-"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": dict(template.get("spec") or {})}
