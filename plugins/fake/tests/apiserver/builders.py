"""Objects for the tests, as short as the API server lets them be."""

from typing import Any

Object = dict[str, Any]


def pod(name: str = "web-0", namespace: str = "default", *, node: str = "", phase: str = "", **spec: Any) -> Object:
    made: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "web:1"}], **spec},
    }
    if node:
        made["spec"]["nodeName"] = node
    if phase:
        made["status"] = {"phase": phase}
    return made


def ready_pod(name: str = "web-0", node: str = "n1", **labels: str) -> Object:
    made = pod(name, node=node, phase="Running")
    made["metadata"]["labels"] = labels or {"app": "web"}
    made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    made["status"]["containerStatuses"] = [{"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}]
    return made


def owned(owned_object: Object, kind: str, name: str, uid: str) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}
    owned_object["metadata"]["ownerReferences"] = [reference]
    return owned_object


def node(name: str = "n1", *, ready: bool = True, **labels: str) -> Object:
    resources = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "spec": {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "nodeInfo": {"kubeletVersion": "v1.36.0"},
            "addresses": [{"type": "InternalIP", "address": "10.0.0.7"}],
        },
    }


def deployment(name: str = "web", *, replicas: int | None = 2, image: str = "web:1") -> Object:
    spec: Object = {
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": image}]},
        },
    }
    if replicas is not None:
        spec["replicas"] = replicas
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def budget(name: str = "web", *, allowed: int, needs: int = 2, has: int = 2, **more: Any) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": needs, **more},
        "status": {
            "disruptionsAllowed": allowed,
            "desiredHealthy": needs,
            "currentHealthy": has,
            "expectedPods": has,
            "observedGeneration": 1,
        },
    }


def config_map(name: str = "settings", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


def definition(*, scope: str = "Namespaced", subresources: Object | None = None, columns: Any = ()) -> Object:
    version = {"name": "v1", "served": True, "storage": True, "schema": {}, "additionalPrinterColumns": list(columns)}
    if subresources is not None:
        version["subresources"] = subresources
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "machinepools.cluster.example"},
        "spec": {
            "group": "cluster.example",
            "scope": scope,
            "names": {"plural": "machinepools", "kind": "MachinePool", "shortNames": ["mp"]},
            "versions": [version],
        },
    }


def machine_pool(name: str = "blue", **spec: Any) -> Object:
    return {
        "apiVersion": "cluster.example/v1",
        "kind": "MachinePool",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }
