"""Node groups in a picture, and what is remembered of them."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from datetime import timedelta
from typing import Any

import msgspec

from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import Instance, InstanceError
from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.api.template import NodeTemplate, TemplateDifference
from nodewright.config.effective import default_options, group_options
from nodewright.config.model import Settings
from nodewright.config.model.base import camel_case
from nodewright.decision.memory import Backoff, KnownTemplate, Memory, Replacement
from nodewright.decision.templates.node_template import fingerprint
from nodewright.objects import Node, ObjectMeta, Pod, Resources, Taint, format_resource
from nodewright.objects.duration import format_duration
from nodewright.objects.node import NodeSpec
from nodewright.scenario.names import Names, Role
from nodewright.scenario.picture_objects import NODE, POD, TAINTS, sift
from nodewright.scenario.scenario_memory import AS_IT_IS
from nodewright.scenario.sieve import Scope

_UNREADABLE = "its provider could not be read"


def shown_group(facts: GroupFacts, settings: Settings, names: Names) -> GroupFacts:
    """Return *facts* as they are shown; where names are hidden, rules by name are part of its options."""
    options = group_options(settings, facts.id, facts.options)[0] if names.hides else facts.options
    return replace(
        facts,
        id=names.of(Role.GROUP, facts.id),
        instances=tuple(_instance(each, names) for each in facts.instances),
        template=None if facts.template is None else _template(facts.template, names),
        options=options,
        pools=tuple(map(names.pool, facts.pools)),
        error=_UNREADABLE if facts.error and names.hides else facts.error,
    )


def group_json(facts: GroupFacts, settings: Settings, gpu: GpuConfig | None) -> dict[str, Any]:
    """Return a group, as it is shown, with the *gpu* of its new nodes, as an entry of ``nodeGroups``."""
    entry: dict[str, Any] = {
        "id": facts.id,
        "provider": facts.provider,
        "minSize": facts.min_size,
        "maxSize": facts.max_size,
        "targetSize": facts.target_size,
        "instances": [_instance_json(each) for each in facts.instances],
    }
    if facts.template is not None:
        entry["template"] = _template_json(facts.template)
        entry["templatePods"] = msgspec.to_builtins(facts.template.pods)
        entry |= _filled({"csiDrivers": dict(facts.template.csi_drivers), "zones": list(facts.template.zones)})
    if facts.hourly_price is not None:
        entry["hourlyPrice"] = facts.hourly_price
    if not facts.exists:
        entry["exists"] = False
    return entry | _filled(
        {
            "autoprovisioned": facts.autoprovisioned,
            "atomic": facts.atomic,
            "forceDelete": facts.force_delete,
            "error": facts.error,
            "pools": list(facts.pools),
            "gpu": gpu_json(gpu) if gpu is not None else {},
            "options": _options_json(facts.options, default_options(settings)),
        }
    )


def gpu_json(gpu: GpuConfig) -> dict[str, Any]:
    """Return how GPUs are named, as an entry of ``gpus``."""
    return _filled({"label": gpu.label, "type": gpu.type, "resource": gpu.resource, "draDriver": gpu.dra_driver})


def limits_json(limits: ResourceLimits) -> dict[str, Any]:
    """Return the limits of a provider, as an entry of ``resourceLimits``."""
    return _filled({"minimum": _amounts(limits.minimum), "maximum": _amounts(limits.maximum)})


def shown_memory(memory: Memory, groups: Mapping[str, GroupFacts], names: Names) -> Memory:
    """Return *memory* as it is shown; *groups* are those of the world, by their ids."""

    def node(name: str) -> str:
        return names.of(Role.NODE, name)

    def group(name: str) -> str:
        return names.of(Role.GROUP, name)

    def pod(key: str) -> str:
        namespace, slash, name = key.partition("/")
        return f"{names.of(Role.NAMESPACE, namespace)}/{names.of(Role.POD, name)}" if slash else key

    def pool(key: str) -> str:
        provider, _, name = key.partition(":")
        return f"{provider}:{names.pool(name)}"

    def backoff(known: Backoff) -> Backoff:
        # What a cloud says has names in it.
        return replace(known, pool=names.pool(known.pool), message="" if names.hides else known.message)

    def replacement(known: Replacement) -> Replacement:
        return replace(
            known,
            nodes={node(name): names.of(Role.INSTANCE, machine) for name, machine in known.nodes.items()},
            group=group(known.group) if known.group else "",
            begun=tuple(map(node, known.begun)),
            owners=tuple(names.of(Role.UID, uid) for uid in known.owners),
        )

    return replace(
        memory,
        unneeded=replace(
            memory.unneeded,
            since={node(name): since for name, since in memory.unneeded.since.items()},
            unremovable_until={node(name): until for name, until in memory.unneeded.unremovable_until.items()},
            unexamined=tuple(map(node, memory.unneeded.unexamined)),
            hints={
                node(name): tuple((node(to), count) for to, count in wishes)
                for name, wishes in memory.unneeded.hints.items()
            },
        ),
        verdicts=replace(
            memory.verdicts,
            last={
                node(name): replace(standing, pod=pod(standing.pod)) for name, standing in memory.verdicts.last.items()
            },
        ),
        health=replace(
            memory.health,
            unregistered_since={
                names.of(Role.INSTANCE, key): since for key, since in memory.health.unregistered_since.items()
            },
            failed_since={names.of(Role.INSTANCE, key): since for key, since in memory.health.failed_since.items()},
            shortages={group(name): shortage for name, shortage in memory.health.shortages.items()},
            backoffs={group(name): backoff(known) for name, known in memory.health.backoffs.items()},
            pools={pool(key): backoff(known) for key, known in memory.health.pools.items()},
        ),
        orders=replace(
            memory.orders,
            requests={group(name): request for name, request in memory.orders.requests.items()},
            intentions=() if names.hides else memory.orders.intentions,
        ),
        leaving=replace(
            memory.leaving,
            removals={
                node(name): replace(
                    removal,
                    group=group(removal.group),
                    provider_id=names.of(Role.INSTANCE, removal.provider_id),
                    # What a cloud says has names in it; that it failed counts.
                    error="failed" if removal.error and names.hides else removal.error,
                    refusal="refused" if removal.refusal and names.hides else removal.refusal,
                )
                for name, removal in memory.leaving.removals.items()
            },
        ),
        cooldown=replace(memory.cooldown, groups={group(name): last for name, last in memory.cooldown.groups.items()}),
        consolidation=replace(
            memory.consolidation,
            replacements=tuple(replacement(each) for each in memory.consolidation.replacements),
            left_alone_until={node(name): until for name, until in memory.consolidation.left_alone_until.items()},
            examined=node(memory.consolidation.examined) if memory.consolidation.examined else "",
        ),
        status=replace(
            memory.status,
            conditions={group(name) if name else "": known for name, known in memory.status.conditions.items()},
        ),
        learnt=replace(
            memory.learnt,
            templates={
                group(name): _known(known, groups.get(name), names) for name, known in memory.learnt.templates.items()
            },
        ),
    )


def _instance(instance: Instance, names: Names) -> Instance:
    error = instance.error
    return replace(
        instance,
        id=names.of(Role.INSTANCE, instance.id),
        zone=names.of(Role.VALUE, instance.zone),
        instance_type=names.of(Role.VALUE, instance.instance_type),
        error=None if error is None else _error(error, names),
    )


def _error(error: InstanceError, names: Names) -> InstanceError:
    return replace(error, pool=names.pool(error.pool), message="" if names.hides else error.message)


def _instance_json(instance: Instance) -> dict[str, Any]:
    entry: dict[str, Any] = {"id": instance.id, "state": instance.state.value}
    if instance.error is not None:
        entry["error"] = _camel(asdict(instance.error))
    entry |= {"createdAt": instance.created_at, "zone": instance.zone, "instanceType": instance.instance_type}
    return _filled(entry)


def _template(template: NodeTemplate, names: Names) -> NodeTemplate:
    meta = ObjectMeta(labels=dict(template.labels), annotations=dict(template.annotations))
    node = sift(Node(metadata=meta, spec=NodeSpec(taints=template.taints)), NODE, names)
    return replace(
        template,
        labels=node["metadata"].get("labels", {}),
        annotations=node["metadata"].get("annotations", {}),
        taints=msgspec.convert(node.get("spec", {}).get("taints", ()), tuple[Taint, ...]),
        pods=tuple(_pod(pod, names) for pod in template.pods),
        zones=tuple(names.of(Role.VALUE, zone) for zone in template.zones),
        from_node=names.of(Role.NODE, template.from_node),
    )


def _template_json(template: NodeTemplate) -> dict[str, Any]:
    taints = [msgspec.to_builtins(taint) | {"effect": taint.effect} for taint in template.taints]
    return {
        "metadata": _filled({"labels": dict(template.labels), "annotations": dict(template.annotations)}),
        "spec": _filled({"unschedulable": template.unschedulable, "taints": taints}),
        "status": {"capacity": _amounts(template.capacity), "allocatable": _amounts(template.allocatable)},
    }


def _pod(pod: Pod, names: Names) -> Pod:
    return msgspec.convert(sift(pod, POD, names, namespace=pod.metadata.namespace, pod=pod.metadata.name), Pod)


def _known(known: KnownTemplate, group: GroupFacts | None, names: Names) -> KnownTemplate:
    same = group is not None and known.promised == fingerprint(group.template)
    return replace(
        known,
        # The fingerprint of what is shown is another: the template is not shown whole.
        promised=AS_IT_IS if same else known.promised,
        likeness=None if known.likeness is None else _template(known.likeness, names),
        differences=tuple(_difference(each, names) for each in known.differences),
    )


def _difference(difference: TemplateDifference, names: Names) -> TemplateDifference:
    key = difference.name.partition(":")[0]

    def said(value: int | str | None) -> int | str | None:
        if not isinstance(value, str):
            return value
        if difference.kind == "taint":
            (taint,) = TAINTS([{"key": key, "value": value}], Scope(names=names))
            return str(taint["value"])
        return names.label(key, value)

    return replace(
        difference,
        group=names.of(Role.GROUP, difference.group),
        promised=said(difference.promised),
        real=said(difference.real),
    )


def _options_json(options: GroupOptions, defaults: GroupOptions) -> dict[str, Any]:
    values = {each.name: getattr(options, each.name) for each in fields(GroupOptions)}
    return {
        camel_case(name): format_duration(value) if isinstance(value, timedelta) else value
        for name, value in values.items()
        if value != getattr(defaults, name)
    }


def _amounts(resources: Resources) -> dict[str, str]:
    return {name: format_resource(name, amount) for name, amount in resources.items()}


def _camel(entry: Mapping[str, Any]) -> dict[str, Any]:
    return _filled({camel_case(name): value for name, value in entry.items()})


def _filled(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value}
