"""Kubernetes objects in scenarios."""

from typing import Annotated, Any

from pydantic import AfterValidator

#: A Kubernetes object as parsed YAML.
Object = dict[str, Any]


def _check(manifest: Object) -> Object:
    for key in ("apiVersion", "kind"):
        if not isinstance(manifest.get(key), str):
            raise ValueError(f"is no Kubernetes object: it has no {key}")
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not (metadata.get("name") or metadata.get("generateName")):
        raise ValueError(f"is no Kubernetes object: the {manifest['kind']} has no metadata.name")
    return manifest


#: An object with the fields that every object has.
Manifest = Annotated[Object, AfterValidator(_check)]
