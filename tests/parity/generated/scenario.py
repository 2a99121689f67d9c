"""A whole generated scenario."""

from datetime import UTC, datetime, timedelta
from typing import Any

from .dice import Dice, stamp
from .groups import random_fleet
from .pods import random_workloads
from .settings import random_settings
from .storage import random_storage
from .theme import random_theme

_DAY = datetime(2030, 1, 1, tzinfo=UTC)
_PRIORITIES = ("10:\n- spot\n20:\n- ^gpu-[01]$\n- base-1\n", "5:\n- .*\n", "7: []\n", "not: [what, it, should, be]\n")
_NAMESPACES = {"default": {}, "team-a": {"tier": "apps"}, "team-b": {"tier": "apps"}, "kube-system": {}}
#: Flags of Cluster Autoscaler, which lie over the settings.
_OPTIONS: tuple[dict[str, Any], ...] = (
    {"maxNodesTotal": 12, "coresTotal": [4, 90]},
    {"expander": "least-waste,most-pods", "salvoScaleUp": True},
    {"scaleDownUnneededTime": "1m", "maxScaleDownParallelism": 3},
    {"enforceNodeGroupMinSize": True, "scaleDownUnreadyEnabled": False},
)


def generated(seed: int) -> dict[str, Any]:
    """Return the scenario that belongs to *seed*: plain JSON, the same at any time and anywhere."""
    dice = Dice(f"generated/{seed}")
    theme = random_theme(dice)
    now = _DAY + timedelta(hours=dice.number(6, 18), minutes=dice.number(0, 59), seconds=dice.number(0, 59))
    fleet = random_fleet(dice, theme, now)
    storage = random_storage(dice, theme, fleet)
    workloads = random_workloads(dice, theme, fleet, storage, now)
    document: dict[str, Any] = {
        "now": stamp(now),
        "comment": theme.name,
        "settings": random_settings(dice, theme),
        "nodeGroups": fleet.groups,
        "nodeToGroup": fleet.group_of,
        "nodes": fleet.nodes,
        "scaleUpRequests": fleet.requests,
        "gpus": fleet.gpus,
        "namespaces": [{"metadata": {"name": name, "labels": labels}} for name, labels in _NAMESPACES.items()],
        "pods": workloads.pods,
        **workloads.lists,
        **storage.lists,
    }
    if dice.chance(15):
        document["options"] = dice.pick(_OPTIONS)
    if dice.chance(60):
        document["priorityConfig"] = dice.pick(_PRIORITIES)
    if dice.chance(theme.prices):
        document["pricing"] = {"one": _pricing(document["pods"], "USD"), "other": _pricing(document["pods"], "EUR")}
    if dice.chance(20):
        document["resourceLimits"] = {"one": _resource_limits(dice)}
    if dice.chance(30):
        document["balancingIgnoredLabels"] = {"other": ["rack", "gen"]}
    if dice.chance(30):
        document["capacityQuotas"] = [_quota(dice)]
    return document


def _pricing(pods: list[dict[str, Any]], currency: str) -> dict[str, Any]:
    """Return prices for every pod by its requests: dearer the more it asks for."""
    listed: dict[tuple[tuple[str, str], ...], float] = {(): 0.01, (("cpu", "500m"), ("memory", "500Mi")): 0.05}
    for pod in pods:
        requests = pod["spec"]["containers"][0]["resources"]["requests"]
        if "initContainers" not in pod["spec"]:
            listed[tuple(sorted(requests.items()))] = round(0.02 * (1 + len(listed)), 4)
    return {
        "currency": currency,
        "pods": [{"requests": dict(requests), "hourlyPrice": price} for requests, price in listed.items()],
    }


def _resource_limits(dice: Dice) -> dict[str, dict[str, str]]:
    limits: dict[str, dict[str, str]] = {"maximum": {"cpu": str(dice.number(16, 60)), "tesla": "4"}}
    if dice.chance(50):
        limits["minimum"] = {"cpu": "8"}
    return limits


def _quota(dice: Dice) -> dict[str, Any]:
    resources = {"nodes": str(dice.number(2, 8)), "cpu": str(dice.number(16, 60))}
    spec: dict[str, Any] = {"limits": {"resources": resources}}
    if dice.chance(60):
        spec["selector"] = {"matchLabels": {"disk": "ssd"}}
    return {"metadata": {"name": "few"}, "spec": spec}
