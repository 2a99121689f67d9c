"""Checks of settings that are valid one by one but not together."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from nodewright.config.model import GroupRule, Settings
from nodewright.config.paths import Path, all_settings, dotted, planned
from nodewright.config.plugins import slot_of
from nodewright.config.reference import Reference
from nodewright.config.tree import Tree
from nodewright.config.validation import Mistake
from nodewright.objects.duration import format_duration
from nodewright.objects.quantity import format_resource


def contradictions(settings: Settings, tree: Tree) -> Iterator[Mistake]:
    """Yield mistakes that make the configuration unusable. Cluster Autoscaler exits at the start for most of them."""
    yield from _ranges(settings)
    yield from _orders(settings)
    yield from _lists(settings)
    yield from _exclusions(settings, tree)
    if settings.memory.store == "file" and not settings.memory.path:
        yield Mistake(path=("memory", "path"), message="memory.store is file: name the file")
    yield from _shared_names(settings)


def _shared_names(settings: Settings) -> Iterator[Mistake]:
    memory, status = settings.memory, settings.status
    if memory.store == "configMap" and status.write and status.name in (memory.name, f"{memory.name}-set-aside"):
        yield Mistake(
            path=("memory", "name"),
            message=f"the status ConfigMap is {status.name}, too, and is deleted at the end: use another name",
            others=(("status", "name"),),
        )


def oddities(settings: Settings) -> Iterator[Mistake]:
    """Yield warnings: settings that are allowed but most likely not intended, and settings that have no effect yet."""
    for setting in all_settings():
        if setting.of(settings) != setting.field.default:
            yield from _idle(setting.path, setting.path)
    for index, rule in enumerate(settings.groups):
        for setting in all_settings(GroupRule):
            if setting.of(rule) is not None:
                yield from _idle(("groups", *setting.path), ("groups", index, *setting.path))
    yield from _health(settings)
    yield from _thresholds(settings)
    yield from _rules(settings)


def _idle(name: tuple[str, ...], path: Path) -> Iterator[Mistake]:
    coming = planned(name)
    if coming:
        yield Mistake(path=path, message=f"accepted, but not in effect in this version: {coming}")


def _health(settings: Settings) -> Iterator[Mistake]:
    loop = settings.loop
    if loop.scan_interval >= loop.max_inactivity:
        yield Mistake(
            path=("loop", "scanInterval"),
            message="the health check fails between two loops: one must begin within maxInactivity",
            others=(("loop", "maxInactivity"),),
        )


def _thresholds(settings: Settings) -> Iterator[Mistake]:
    down = settings.scale_down
    thresholds = {
        "utilizationThreshold": down.utilization_threshold,
        "gpuUtilizationThreshold": down.gpu_utilization_threshold,
    }
    for key, threshold in thresholds.items():
        if threshold > 1:
            yield Mistake(path=("scaleDown", key), message="above 1, even full nodes can be unneeded")


def _rules(settings: Settings) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    for index, rule in enumerate(settings.groups):
        hiding = next((at for pattern, at in seen.items() if pattern in ("*", rule.match)), None)
        if hiding is not None:
            yield Mistake(path=("groups", index), message=f"this rule never applies: groups[{hiding}] matches first")
        seen.setdefault(rule.match, index)
        if rule.allow_non_atomic_scale_up_to_max and not rule.zero_or_max:
            path: Path = ("groups", index, "allowNonAtomicScaleUpToMax")
            yield Mistake(path=path, message="has no effect without zeroOrMax: true")


def _ranges(settings: Settings) -> Iterator[Mistake]:
    limits = settings.limits
    ranges: list[tuple[Path, str, int, int]] = [
        (("limits", "cpu"), "cpu", limits.cpu.min, limits.cpu.max),
        (("limits", "memory"), "memory", limits.memory.min, limits.memory.max),
        *((("limits", "gpus", index), gpu.type, gpu.min, gpu.max) for index, gpu in enumerate(limits.gpus)),
    ]
    for path, resource, low, high in ranges:
        if low > high:
            least, most = format_resource(resource, low), format_resource(resource, high)
            yield Mistake(
                path=(*path, "min"),
                message=f"the minimum {least} is above the maximum {most}",
                others=((*path, "max"),),
            )


def _orders(settings: Settings) -> Iterator[Mistake]:
    backoff, lease = settings.health.backoff, settings.leader_election
    requests = settings.provisioning_requests
    yield from _not_above(("health", "backoff"), "initial", backoff.initial, "max", backoff.max)
    yield from _not_above(
        ("provisioningRequests",), "initialBackoff", requests.initial_backoff, "maxBackoff", requests.max_backoff
    )
    # As in Cluster Autoscaler, where the random wait takes up to 1.2 retry periods.
    if lease.renew_deadline >= lease.lease_duration:
        yield _order("leaderElection", "renewDeadline", lease.renew_deadline, "leaseDuration", lease.lease_duration)
    if lease.retry_period * 1.2 >= lease.renew_deadline:
        yield _order("leaderElection", "retryPeriod", lease.retry_period, "renewDeadline", lease.renew_deadline)


def _not_above(section: Path, low: str, lower: timedelta, high: str, higher: timedelta) -> Iterator[Mistake]:
    if lower > higher:
        yield Mistake(
            path=(*section, low),
            message=f"{format_duration(lower)} is above {high}, {format_duration(higher)}",
            others=((*section, high),),
        )


def _order(section: str, low: str, lower: timedelta, high: str, higher: timedelta) -> Mistake:
    factor = "1.2 times " if low == "retryPeriod" else ""
    message = f"{factor}{format_duration(lower)} must be shorter than {high}, {format_duration(higher)}"
    return Mistake(path=(section, low), message=message, others=((section, high),))


def _lists(settings: Settings) -> Iterator[Mistake]:
    for setting in all_settings():
        references: Any = setting.of(settings)
        # Several accounts or regions of one cloud are several providers of one name.
        if slot_of(setting) is None or isinstance(references, Reference) or setting.path == ("providers",):
            continue
        # With other settings it is another one.
        for index, reference in enumerate(references):
            if reference in references[:index]:
                yield Mistake(path=(*setting.path, index), message=_twice(reference.name))
    expanders = [reference.name for reference in settings.scale_up.expanders]
    if not expanders:
        yield Mistake(path=("scaleUp", "expanders"), message="name at least one expander, such as least-waste")
    if "random" in expanders[:-1]:
        after = expanders.index("random") + 1
        yield Mistake(
            path=("scaleUp", "expanders", after),
            message=f"{expanders[after]} is never asked: random comes first and leaves one option. Put random last",
        )
    names = [group.name for group in settings.node_groups]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Mistake(path=("nodeGroups", index), message=_twice(name))


def _twice(name: str) -> str:
    return f"{name} is listed twice"


def _exclusions(settings: Settings, tree: Tree) -> Iterator[Mistake]:
    up = settings.scale_up
    if up.balancing.labels and up.balancing.ignore_labels:
        yield Mistake(
            path=("scaleUp", "balancing", "labels"),
            message="can't be combined with ignoreLabels: with labels, no other label is compared",
            others=(("scaleUp", "balancing", "ignoreLabels"),),
        )
    foreign = [name for name in up.bypassed_schedulers if name not in up.allowed_schedulers]
    if up.allowed_schedulers and foreign:
        yield Mistake(
            path=("scaleUp", "bypassedSchedulers"),
            message=f"{', '.join(foreign)} must also be among allowedSchedulers",
            others=(("scaleUp", "allowedSchedulers"),),
        )
    grace: Path = ("scaleDown", "maxGracefulTermination")
    if settings.scale_down.drain_priorities and tree.get(grace) is not None:
        yield Mistake(
            path=("scaleDown", "drainPriorities"),
            message=f"can't be combined with {dotted(grace)}: set that time for the lowest priority instead",
        )
