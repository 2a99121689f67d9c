"""Pods made from templates, complete as the API server's admission would make them."""

import copy
import hashlib
import json

from nodewright_fake.apiserver.store import Object, Store
from nodewright_fake.controllers.taints import NOT_READY, UNREACHABLE, read_toleration

#: Kubernetes' alphabet for generated names: no vowels, so no words.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_BUILT_IN_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def template_hash(template: Object) -> str:
    """Return a short name for the contents of a template, the same in every run."""
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:10])


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


def new_pod(store: Store, owner: Object, reference: Object, template: Object, *, name: str = "") -> Object:
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
    spec = copy.deepcopy(template.get("spec") or {})
    _complete(store, spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _complete(store: Store, spec: Object) -> None:
    spec.setdefault("schedulerName", "default-scheduler")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    if "priority" not in spec:
        spec["priority"] = _priority(store, spec.get("priorityClassName") or "")
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        if limits := resources.get("limits"):
            container["resources"] = {**resources, "requests": {**limits, **(resources.get("requests") or {})}}
        if spec.get("hostNetwork"):
            for port in container.get("ports") or ():
                port.setdefault("hostPort", port.get("containerPort", 0))
    tolerations = spec.setdefault("tolerations", [])
    read = [read_toleration(toleration) for toleration in tolerations]
    for taint in (NOT_READY, UNREACHABLE):
        if not any(toleration.key in ("", taint) and toleration.effect in ("", "NoExecute") for toleration in read):
            tolerations.append({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})


def _priority(store: Store, name: str) -> int:
    if name in _BUILT_IN_PRIORITIES:
        return _BUILT_IN_PRIORITIES[name]
    found = store.find("priorityclasses.scheduling.k8s.io", name) if name else None
    return int(found["value"]) if found else 0
