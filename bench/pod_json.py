"""Pods as an API server writes them: about 5 KB of JSON each, most of which no decision reads."""

import json
from collections.abc import Mapping
from typing import Any

_NAME, _UID, _NODE, _TOKEN, _IP = "@name@", "@uid@", "@node@", "@token@", "@ip@"
_PAGE = b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1000000"%s},"items":[%s]}'


class PodText:
    """The text of the pods of one ReplicaSet, in which only names, addresses and nodes differ."""

    def __init__(self, app: str, requests: Mapping[str, str], *, spec: Mapping[str, Any] | None = None) -> None:
        self._pending = _split(_pod(app, requests, dict(spec or {}), node=""))
        self._running = _split(_pod(app, requests, dict(spec or {}), node=_NODE))
        self._app = app

    def pod(self, number: int, node: str = "") -> bytes:
        """Return one pod, on *node* or pending."""
        token = f"{number:05x}"[-5:]
        values = {
            _NAME: f"{self._app}-6d4cf56db6-{number:07}",
            _UID: f"8f14e45f-ceea-467f-a83b-{number:012x}",
            _NODE: node,
            _TOKEN: token,
            _IP: f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
        }
        parts = self._running if node else self._pending
        return "".join(values.get(part, part) for part in parts).encode()


def page(pods: list[bytes], *, more: bool = False) -> bytes:
    """Return one page of a list of pods."""
    return _PAGE % (b',"continue":"next"' if more else b"", b",".join(pods))


def _split(pod: Mapping[str, Any]) -> list[str]:
    parts = [json.dumps(pod, separators=(",", ":"))]
    for mark in (_NAME, _UID, _NODE, _TOKEN, _IP):
        parts = [piece for part in parts for piece in _divide(part, mark)]
    return parts


def _divide(part: str, mark: str) -> list[str]:
    first, *rest = part.split(mark)
    return [first, *(piece for each in rest for piece in (mark, each))]


def _pod(app: str, requests: Mapping[str, str], spec: dict[str, Any], *, node: str) -> dict[str, Any]:
    return {
        "metadata": _metadata(app),
        "spec": _spec(app, requests, spec, node),
        "status": _running(app, requests) if node else _unschedulable(),
    }


def _metadata(app: str) -> dict[str, Any]:
    labels = {"app": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "6d4cf56db6", "team": "checkout"}
    return {
        "name": _NAME,
        "generateName": f"{app}-6d4cf56db6-",
        "namespace": "default",
        "uid": _UID,
        "resourceVersion": "884120",
        "creationTimestamp": "2026-01-15T08:30:00Z",
        "labels": labels,
        "annotations": {
            "checksum/config": "0a4d55a8d778e5022fab701977c5d840bbc486d0a4d55a8d778e5022fab70197",
            "kubectl.kubernetes.io/restartedAt": "2026-01-15T08:29:58Z",
            "prometheus.io/port": "9102",
            "prometheus.io/scrape": "true",
        },
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"{app}-6d4cf56db6",
                "uid": f"c4ca4238-a0b9-2382-0dcc-{app:0>12}",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
        "managedFields": [
            _managed("kube-controller-manager", "", _owned_by_controllers(labels)),
            _managed("kubelet", "status", _owned_by_kubelet()),
        ],
    }


def _managed(manager: str, subresource: str, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-01-15T08:30:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    } | ({"subresource": subresource} if subresource else {})


def _owned_by_controllers(labels: Mapping[str, str]) -> dict[str, Any]:
    probe: dict[str, Any] = {
        "f:failureThreshold": {},
        "f:httpGet": {"f:path": {}, "f:port": {}, "f:scheme": {}},
        "f:periodSeconds": {},
    }
    container: dict[str, Any] = {
        ".": {},
        "f:env": {".": {}} | {f'k:{{"name":"SETTING_{n}"}}': {".": {}, "f:name": {}, "f:value": {}} for n in range(2)},
        "f:image": {},
        "f:imagePullPolicy": {},
        "f:livenessProbe": {".": {}, **probe, "f:successThreshold": {}, "f:timeoutSeconds": {}},
        "f:name": {},
        "f:ports": {".": {}, 'k:{"containerPort":8080,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
        "f:readinessProbe": {".": {}, **probe, "f:successThreshold": {}, "f:timeoutSeconds": {}},
        "f:resources": {".": {}, "f:limits": {".": {}, "f:memory": {}}, "f:requests": {".": {}, "f:cpu": {}}},
        "f:terminationMessagePath": {},
        "f:terminationMessagePolicy": {},
    }
    return {
        "f:metadata": {
            "f:annotations": {".": {}, "f:checksum/config": {}, "f:prometheus.io/port": {}},
            "f:generateName": {},
            "f:labels": {".": {}} | {f"f:{key}": {} for key in labels},
            "f:ownerReferences": {".": {}, 'k:{"uid":"c4ca4238-a0b9-2382-0dcc-509a6f75849b"}': {}},
        },
        "f:spec": {
            "f:containers": {'k:{"name":"main"}': container},
            "f:dnsPolicy": {},
            "f:enableServiceLinks": {},
            "f:restartPolicy": {},
            "f:schedulerName": {},
            "f:securityContext": {},
            "f:terminationGracePeriodSeconds": {},
        },
    }


def _owned_by_kubelet() -> dict[str, Any]:
    condition: dict[str, Any] = {
        ".": {},
        "f:lastProbeTime": {},
        "f:lastTransitionTime": {},
        "f:status": {},
        "f:type": {},
    }
    types = ("ContainersReady", "Initialized", "PodReadyToStartContainers", "Ready")
    return {
        "f:status": {
            "f:conditions": {f'k:{{"type":"{each}"}}': condition for each in types},
            "f:containerStatuses": {},
            "f:hostIP": {},
            "f:phase": {},
            "f:podIP": {},
            "f:startTime": {},
        }
    }


def _spec(app: str, requests: Mapping[str, str], spec: dict[str, Any], node: str) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10}
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    authority = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    waits = [
        {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for state in ("not-ready", "unreachable")
    ]
    return {
        "volumes": [
            {"name": "config", "configMap": {"name": f"{app}-config", "defaultMode": 420}},
            {"name": f"kube-api-access-{_TOKEN}", "projected": {"sources": [token, authority], "defaultMode": 420}},
        ],
        "containers": [
            {
                "name": "main",
                "image": f"registry.example/shop/{app}:v1.27.3",
                "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                "env": [{"name": f"SETTING_{n}", "value": f"some value of setting {n}"} for n in range(2)],
                "resources": {"limits": {"memory": requests["memory"]}, "requests": dict(requests)},
                "volumeMounts": [
                    {"name": "config", "mountPath": "/etc/app"},
                    {
                        "name": f"kube-api-access-{_TOKEN}",
                        "readOnly": True,
                        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                    },
                ],
                "livenessProbe": {**probe, "successThreshold": 1, "failureThreshold": 3},
                "readinessProbe": {**probe, "successThreshold": 1, "failureThreshold": 3},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "serviceAccount": "default",
        **({"nodeName": node} if node else {}),
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": waits,
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        **spec,
    }


def _running(app: str, requests: Mapping[str, str]) -> dict[str, Any]:
    since = "2026-01-15T08:30:02Z"
    types = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    return {
        "phase": "Running",
        "conditions": [
            {"type": each, "status": "True", "lastProbeTime": None, "lastTransitionTime": since} for each in types
        ],
        "hostIP": "192.168.17.4",
        "hostIPs": [{"ip": "192.168.17.4"}],
        "podIP": _IP,
        "podIPs": [{"ip": _IP}],
        "startTime": since,
        "containerStatuses": [
            {
                "name": "main",
                "state": {"running": {"startedAt": since}},
                "lastState": {},
                "ready": True,
                "restartCount": 0,
                "image": f"registry.example/shop/{app}:v1.27.3",
                "imageID": f"registry.example/shop/{app}@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15",
                "containerID": f"containerd://5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a2-{_TOKEN}",
                "started": True,
                "allocatedResources": dict(requests),
                "resources": {"limits": {"memory": requests["memory"]}, "requests": dict(requests)},
            }
        ],
        "qosClass": "Burstable",
    }


def _unschedulable() -> dict[str, Any]:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": "2026-01-15T08:30:00Z",
        "reason": "Unschedulable",
        "message": "0/5000 nodes are available: 5000 Insufficient cpu.",
    }
    return {"phase": "Pending", "conditions": [condition], "qosClass": "Burstable"}
