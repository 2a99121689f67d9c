"""What ``kubectl get pods`` says of a pod: how it is, in a word."""

from datetime import datetime
from typing import Any

from nodewright_fake.apiserver.ages import since
from nodewright_fake.apiserver.document import Object, dig


def pod_ready(pod: Object) -> str:
    """Return how many of the pod's containers are ready: ``1/2``."""
    statuses = [*_statuses(pod, "containerStatuses"), *(one for one in _sidecar_statuses(pod) if one.get("started"))]
    total = len(dig(pod, "spec.containers") or ()) + len(_sidecars(pod))
    return f"{sum(1 for one in statuses if one.get('ready'))}/{total}"


def pod_status(pod: Object) -> str:
    """Return the word for the pod's state: its phase, or what its containers tell more precisely."""
    phase: str = dig(pod, "status.reason") or dig(pod, "status.phase") or "Unknown"
    scheduled: Object = next((one for one in dig(pod, "status.conditions") or () if one["type"] == "PodScheduled"), {})
    if scheduled.get("reason") == "SchedulingGated":
        phase = "SchedulingGated"
    word = _initialising(pod) or _running(pod) or phase
    if pod["metadata"].get("deletionTimestamp"):
        if dig(pod, "status.reason") == "NodeLost":
            return "Unknown"
        return word if phase in ("Succeeded", "Failed") else "Terminating"
    return word


def pod_restarts(pod: Object, now: datetime) -> str:
    """Return how often the pod's containers were restarted, and when last."""
    statuses = [*_statuses(pod, "initContainerStatuses"), *_statuses(pod, "containerStatuses")]
    restarts = sum(one.get("restartCount", 0) for one in statuses)
    last = max((dig(one, "lastState.terminated.finishedAt") or "" for one in statuses), default="")
    return f"{restarts} ({since(last, now)} ago)" if restarts and last else str(restarts)


def readiness_gates(pod: Object) -> str:
    """Return how many of the pod's readiness gates hold."""
    gates = [gate["conditionType"] for gate in dig(pod, "spec.readinessGates") or ()]
    held = {one["type"] for one in dig(pod, "status.conditions") or () if one["status"] == "True"}
    return f"{sum(1 for gate in gates if gate in held)}/{len(gates)}" if gates else "<none>"


def _statuses(pod: Object, key: str) -> list[dict[str, Any]]:
    return (pod.get("status") or {}).get(key) or []


def _sidecars(pod: Object) -> set[str]:
    inits = dig(pod, "spec.initContainers") or ()
    return {container["name"] for container in inits if container.get("restartPolicy") == "Always"}


def _sidecar_statuses(pod: Object) -> list[dict[str, Any]]:
    sidecars = _sidecars(pod)
    return [one for one in _statuses(pod, "initContainerStatuses") if one["name"] in sidecars]


def _initialising(pod: Object) -> str:
    """Return the state of the first init container that is not through, or nothing if all are."""
    sidecars = _sidecars(pod)
    total = len(dig(pod, "spec.initContainers") or ())
    for index, status in enumerate(_statuses(pod, "initContainerStatuses")):
        state = status.get("state") or {}
        ended = state.get("terminated")
        if (ended and ended.get("exitCode") == 0) or (status["name"] in sidecars and status.get("started")):
            continue
        if ended:
            return f"Init:{_ending(ended)}"
        waiting = dig(state, "waiting.reason")
        return f"Init:{waiting}" if waiting and waiting != "PodInitializing" else f"Init:{index}/{total}"
    return ""


def _running(pod: Object) -> str:
    """Return why a container does not run, or nothing if there is nothing to tell."""
    word, someone_runs = "", False
    for status in reversed(_statuses(pod, "containerStatuses")):
        state = status.get("state") or {}
        if dig(state, "waiting.reason"):
            word = state["waiting"]["reason"]
        elif state.get("terminated"):
            word = _ending(state["terminated"])
        elif state.get("running") is not None and status.get("ready"):
            someone_runs = True
    if word == "Completed" and someone_runs:
        return "Running"
    return word


def _ending(terminated: dict[str, Any]) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"
