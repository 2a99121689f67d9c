"""What a kubelet writes into the status of its pods."""

from datetime import datetime

from nodewright_fake.apiserver.store import Object, timestamp
from nodewright_fake.controllers.conditions import with_condition


def running(pod: Object, now: datetime, *, host_address: str, pod_address: str) -> Object:
    """Return *pod* with all its containers running and ready."""
    conditions = pod.get("status", {}).get("conditions") or []
    for kind in ("PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"):
        conditions = with_condition(conditions, now, kind, True)
    address = host_address if pod["spec"].get("hostNetwork") else pod_address
    status = {
        **pod.get("status", {}),
        "phase": "Running",
        "conditions": conditions,
        "startTime": timestamp(now),
        "hostIP": host_address,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "containerStatuses": [
            {**_container(pod, container), "ready": True, "started": True, "state": {"running": _since(now)}}
            for container in pod["spec"].get("containers") or ()
        ],
    }
    return {**pod, "status": status}


def ended(pod: Object, now: datetime, exit_code: int) -> Object:
    """Return *pod* with all its containers ended with *exit_code*."""
    succeeded = exit_code == 0
    conditions = pod.get("status", {}).get("conditions") or []
    for kind in ("Ready", "ContainersReady"):
        conditions = with_condition(conditions, now, kind, False, "PodCompleted" if succeeded else "PodFailed")
    started = pod["status"].get("startTime") or timestamp(now)
    end = {
        "exitCode": exit_code,
        "reason": "Completed" if succeeded else "Error",
        "startedAt": started,
        "finishedAt": timestamp(now),
    }
    status = {
        **pod["status"],
        "phase": "Succeeded" if succeeded else "Failed",
        "conditions": conditions,
        "containerStatuses": [
            {**_container(pod, container), "ready": False, "started": False, "state": {"terminated": end}}
            for container in pod["spec"].get("containers") or ()
        ],
    }
    return {**pod, "status": status}


def silent(pod: Object, now: datetime) -> Object:
    """Return *pod* as the cluster sees it when its kubelet no longer reports."""
    status = pod.get("status") or {}
    conditions = with_condition(status.get("conditions") or [], now, "Ready", False)
    return {**pod, "status": {**status, "conditions": conditions}}


def ready_again(pod: Object, now: datetime) -> Object:
    """Return *pod* as its kubelet reports it when it reports again."""
    status = pod.get("status") or {}
    conditions = with_condition(status.get("conditions") or [], now, "Ready", True)
    return {**pod, "status": {**status, "conditions": conditions}}


def _container(pod: Object, container: Object) -> Object:
    name, image = container.get("name", ""), container.get("image", "")
    identity = f"fake://{pod['metadata']['uid']}/{name}"
    return {"name": name, "image": image, "imageID": image, "containerID": identity, "restartCount": 0, "lastState": {}}


def _since(now: datetime) -> Object:
    return {"startedAt": timestamp(now)}
