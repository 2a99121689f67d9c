"""Conditions in the status of objects."""

from datetime import datetime

from nodewright_fake.apiserver.store import Object, timestamp


def condition_of(item: Object, kind: str) -> Object | None:
    """Return the condition of type *kind*, if the object has it."""
    conditions = item.get("status", {}).get("conditions") or ()
    return next((condition for condition in conditions if condition["type"] == kind), None)


def with_condition(
    conditions: list[Object], now: datetime, kind: str, status: bool | str, reason: str = "", message: str = ""
) -> list[Object]:
    """Return *conditions* with one set; the time of its last transition stays as long as its status does."""
    wanted: Object = {"type": kind, "status": status if isinstance(status, str) else str(status)}
    if reason:
        wanted["reason"] = reason
    if message:
        wanted["message"] = message
    before = next((condition for condition in conditions if condition["type"] == kind), None)
    if before is None:
        return [*conditions, {**wanted, "lastTransitionTime": timestamp(now)}]
    same = before["status"] == wanted["status"]
    since = before.get("lastTransitionTime") if same else None
    kept: Object = {name: before[name] for name in ("lastProbeTime", "lastHeartbeatTime") if name in before}
    wanted = {**kept, **wanted, "lastTransitionTime": since or timestamp(now)}
    return [wanted if condition is before else condition for condition in conditions]
