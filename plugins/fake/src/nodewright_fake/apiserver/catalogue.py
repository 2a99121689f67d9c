"""What is served right now: the built-in resources and those that custom resource definitions bring."""

from collections.abc import Iterable
from typing import Any

from nodewright_fake.apiserver.document import Object
from nodewright_fake.apiserver.resources import BUILT_IN, DEFINITIONS, SCALE, Resource, ScalePaths, Subresource
from nodewright_fake.apiserver.store import Change, Store


class Catalogue:
    """All resources by group, version and plural name. Follows the definitions in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._custom: dict[str, list[Resource]] = {}
        self._index: dict[tuple[str, str, str], Resource] = {}
        with store.lock:
            self._unsubscribe = store.subscribe(self._observe)
            for definition in store.list(DEFINITIONS):
                self._custom[definition["metadata"]["name"]] = _defined(definition)
        self._reindex()

    def close(self) -> None:
        """Stop following the store."""
        self._unsubscribe()

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return what a path names, or None."""
        return self._index.get((group, version, plural))

    def all(self) -> list[Resource]:
        """Return all resources, the built-in ones first."""
        return list(self._index.values())

    def _observe(self, change: Change) -> None:
        if change.resource != DEFINITIONS:
            return
        name = change.object["metadata"]["name"]
        if change.type == "DELETED":
            self._custom.pop(name, None)
        else:
            self._custom[name] = _defined(change.object)
        self._reindex()

    def _reindex(self) -> None:
        custom = (resource for resources in self._custom.values() for resource in resources)
        everything: Iterable[Resource] = (*BUILT_IN, *custom)
        self._index = {(one.group, one.version, one.plural): one for one in everything}


def _defined(definition: Object) -> list[Resource]:
    spec = definition["spec"]
    return [_custom(spec, version) for version in spec.get("versions") or () if version.get("served", True)]


def _custom(spec: dict[str, Any], version: dict[str, Any]) -> Resource:
    names, group = spec["names"], spec["group"]
    api_version = f"{group}/{version['name']}"
    stated = version.get("subresources") or {}
    scale = stated.get("scale")
    subresources = []
    if stated.get("status") is not None:
        subresources.append(Subresource(name="status", kind=names["kind"], api_version=api_version))
    if scale:
        subresources.append(Subresource(name="scale", kind="Scale", api_version=SCALE))
    return Resource(
        group=group,
        version=version["name"],
        plural=names["plural"],
        kind=names["kind"],
        namespaced=spec.get("scope", "Namespaced") == "Namespaced",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=tuple(subresources),
        scale=_scale_paths(scale) if scale else None,
        counts_generations=True,
        custom=True,
        columns=tuple(version.get("additionalPrinterColumns") or ()),
    )


def _scale_paths(scale: dict[str, Any]) -> ScalePaths:
    selector = scale.get("labelSelectorPath")
    return ScalePaths(
        replicas=scale["specReplicasPath"].lstrip("."),
        observed=scale["statusReplicasPath"].lstrip("."),
        selector=selector.lstrip(".") if selector else None,
    )
