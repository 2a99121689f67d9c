"""Random settings of a scenario, as in YAML."""

from typing import Any

from .dice import Dice
from .theme import Theme

_EXPANDERS: tuple[list[Any], ...] = (
    ["least-waste"],
    ["random"],
    ["most-pods", "least-nodes"],
    ["least-nodes", "random"],
    ["price"],
    ["priority", "least-waste"],
    [{"priority": {"priorities": {"10": ["^spot"], "20": ["base-[01]$"]}}}, "price"],
    # A search that ends by the clock might end differently: so small ones get more time than they can use.
    [{"least-cost": {"timeLimit": 60}}],
    [{"least-cost": {"timeLimit": 60, "currency": "EUR"}}, "least-waste"],
)
_BUDGETS: tuple[list[dict[str, Any]], ...] = (
    [{"nodes": 1}],
    [{"nodes": "50%", "groups": ["spot-*", "base-*"]}],
    [{"nodes": 0, "reasons": ["underused"]}, {"nodes": 2, "reasons": ["empty", "unready"]}],
    [{"nodes": 0, "schedule": {"from": "0 9-17 * * *", "for": "30m", "timeZone": "Europe/Berlin"}}],
    [{"nodes": 0, "reasons": ["consolidation"], "groups": ["gpu-*"]}],
    [{"nodes": 1, "schedule": {"from": "*/20 * * * *", "for": "15m"}}, {"nodes": 0, "groups": ["nobody"]}],
)
_RULES: tuple[tuple[str, ...], ...] = (
    ("mirror", "daemon-set", "terminal", "disruption-budget"),
    ("disruption-budget", "local-storage", "mirror", "daemon-set", "not-replicated", "do-not-disrupt"),
)
_FEWER_STEPS = ["filter-expendable", "filter-schedulable"]
_OTHER_STEPS = ["clear-tpu-requests", "filter-daemonset-pods", "filter-expendable", "filter-schedulable"]


def random_settings(dice: Dice, theme: Theme) -> dict[str, Any]:
    """Return settings of all kinds that decisions read; most are as they are by default."""
    settings: dict[str, Any] = {"scaleUp": _scale_up(dice), "scaleDown": _scale_down(dice, theme)}
    if dice.chance(30):
        settings["seed"] = dice.number(1, 9)
    if dice.chance(25):
        settings["limits"] = _limits(dice)
    if dice.chance(20) or theme.name == "sick":
        settings["health"] = _health(dice)
    if dice.chance(30):
        settings["templates"] = _templates(dice)
    if dice.chance(15):
        settings["processors"] = {"pendingPods": dice.pick((_FEWER_STEPS, _OTHER_STEPS, []))}
    if dice.chance(20):
        settings["groups"] = [_group_rule(dice, match) for match in dice.some(("spot-*", "base-?", "*-2", "gpu-*"), 2)]
    return settings


def _scale_up(dice: Dice) -> dict[str, Any]:
    section: dict[str, Any] = {"expanders": dice.pick(_EXPANDERS)}
    choices: tuple[tuple[int, str, Any], ...] = (
        (30, "optionsPerLoop", dice.number(1, 2)),
        (50, "balanceSimilarGroups", True),
        (20, "maxNodesPerScaleUp", dice.pick((1, 2, 5))),
        (8, "fromZero", False),
        (8, "newPodDelay", dice.pick(("20s", "5m"))),
        (20, "expendablePriorityCutoff", dice.pick((0, 5))),
        (25, "enforceMinSize", True),
        (20, "forceDaemonsets", True),
        (25, "explainSkippedGroups", True),
        (8, "bypassedSchedulers", ["own-scheduler"]),
        (8, "allowedSchedulers", ["own-scheduler", "default-scheduler"]),
    )
    section |= {name: value for percent, name, value in choices if dice.chance(percent)}
    if dice.chance(20):
        section["balancing"] = dice.pick(
            (
                {"ignoreLabels": ["rack"]},
                {"labels": ["pool"]},
                {"memoryDifferenceRatio": 0.2, "maxFreeDifferenceRatio": 0.3, "maxAllocatableDifferenceRatio": 0.3},
            )
        )
    return section


def _scale_down(dice: Dice, theme: Theme) -> dict[str, Any]:
    choices: tuple[tuple[int, str, Any], ...] = (
        (5, "enabled", False),
        (60, "unneededTime", dice.pick(("0s", "1m", "5m"))),
        (20, "unreadyTime", dice.pick(("1m", "10m"))),
        (15, "unreadyEnabled", False),
        (50, "utilizationThreshold", dice.pick((0.0, 0.3, 0.7, 0.9))),
        (20, "gpuUtilizationThreshold", dice.pick((0.1, 0.9))),
        (20, "ignoreDaemonsetsUtilization", True),
        (15, "ignoreMirrorPodsUtilization", True),
        (60, "delayAfterAdd", dice.pick(("0s", "0s", "1m"))),
        (15, "delayAfterDelete", dice.pick(("10s", "5m"))),
        (30, "delayAfterFailure", dice.pick(("0s", "1m"))),
        (20, "delayPerGroup", True),
        (30, "unremovableRecheck", dice.pick(("0s", "1m"))),
        (25, "maxParallelism", dice.number(1, 4)),
        (60, "maxDrainParallelism", dice.number(2, 5)),
        (20, "maxPodEvictionTime", dice.pick(("10s", "30s"))),
        (20, "deletionDelayTimeout", "20s"),
        (20, "deletionBatchInterval", dice.pick(("10s", "1m"))),
        (25, "delayAfterTaint", dice.pick(("0s", "30s"))),
        (15, "dynamicDelayAfterTaint", True),
        (15, "cordon", False),
        (20, "evictDaemonsets", False),
        (20, "evictDaemonsetsFromEmptyNodes", True),
        (20, "skipSystemPods", False),
        (15, "systemPodsBlockFor", "1m"),
        (30, "skipLocalStorage", False),
        (40, "skipCustomControllerPods", False),
        (20, "minReplicas", dice.number(1, 3)),
        (20, "softTaints", {"maxCount": dice.pick((0, 1, 3))}),
        (30, "candidateTtl", "30m"),
        (10, "drainRules", list(dice.pick(_RULES))),
    )
    section: dict[str, Any] = {name: value for percent, name, value in choices if dice.chance(percent)}
    if dice.chance(15):
        section["drainPriorities"] = [
            {"priority": 0, "maxGracefulTermination": "1m"},
            {"priority": 50, "maxGracefulTermination": "10s"},
        ]
    else:
        section["maxGracefulTermination"] = dice.pick(("10m", "20s"))
    if dice.chance(30):
        section["disruption"] = _disruption(dice)
    if dice.chance(theme.consolidation):
        section["enabled"] = True
        section["consolidation"] = _consolidation(dice)
    return section


def _disruption(dice: Dice) -> dict[str, Any]:
    section: dict[str, Any] = {"budgets": dice.pick(_BUDGETS)} if dice.chance(70) else {}
    if dice.chance(30):
        section["minSaving"] = dice.pick((0.15, 1.0))
    if dice.chance(30):
        section["maxEvictionsPerHour"] = dice.number(1, 12)
    return section


def _consolidation(dice: Dice) -> dict[str, Any]:
    return {
        "enabled": True,
        "threshold": dice.pick((0.0, 0.1, 0.5)),
        "minSavingPercentage": dice.pick((0, 10)),
        "after": dice.pick(("10s", "5m", "1h")),
        "maxUnderway": dice.number(1, 2),
        "maxNodes": dice.number(1, 5),
        "searchTime": "1h",
        "recheck": dice.pick(("10s", "5m")),
        "reserve": dice.pick(("0s", "10m", "1h")),
    }


def _limits(dice: Dice) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if dice.chance(50):
        limits["nodes"] = {"max": dice.number(6, 30)}
    if dice.chance(40):
        limits["cpu"] = {"min": dice.pick((0, 8, 24)), "max": dice.number(24, 120)}
    if dice.chance(30):
        limits["memory"] = {"min": dice.pick(("0", "16Gi")), "max": dice.pick(("128Gi", "400Gi"))}
    if dice.chance(30):
        limits["gpus"] = [{"type": "tesla", "min": dice.pick((0, 2)), "max": dice.number(2, 8)}]
    if dice.chance(40):
        limits["capacityQuotas"] = True
    return limits


def _health(dice: Dice) -> dict[str, Any]:
    return {
        "okTotalUnreadyCount": dice.pick((0, 1, 3)),
        "maxTotalUnreadyPercentage": dice.pick((5, 45, 100)),
        "maxNodeProvisionTime": dice.pick(("1m", "10m", "15m")),
        "maxNodeStartupTime": dice.pick(("1m", "15m")),
        "backoff": {
            "initial": dice.pick(("1m", "5m")),
            "max": dice.pick(("5m", "30m")),
            "resetAfter": dice.pick(("2m", "3h")),
        },
        "forceDeleteUnregistered": dice.chance(50),
        "forceDeleteFailed": dice.chance(50),
    }


def _templates(dice: Dice) -> dict[str, Any]:
    return {
        "cacheTime": dice.pick(("10s", "10m", "1000h")),
        "fromUnschedulable": dice.chance(50),
        "startupTaints": ["agent-not-ready"],
        "startupTaintPrefixes": ["starting.example.com/"],
        "statusTaints": ["maintenance"],
    }


def _group_rule(dice: Dice, match: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"match": match}
    if dice.chance(70):
        rule["scaleDown"] = {"unneededTime": dice.pick(("0s", "2m")), "utilizationThreshold": dice.pick((0.2, 0.8))}
    if dice.chance(40):
        rule["maxNodeProvisionTime"] = dice.pick(("2m", "20m"))
    if dice.chance(20):
        rule["zeroOrMax"] = True
    return rule
