"""Node groups of a scenario: what their providers say about them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw
from msgspec.structs import replace as struct_replace

from nodewright.api.group import GroupFacts, GroupOptions, Pause
from nodewright.api.instance import ErrorClass, Instance, InstanceError, InstanceState
from nodewright.api.provider import GpuConfig
from nodewright.api.template import NodeTemplate
from nodewright.cluster.annotations import PodAnnotations
from nodewright.config.effective import default_options, group_options
from nodewright.config.model import Settings
from nodewright.decision.world import World
from nodewright.objects import Node, Pod
from nodewright.scenario.clouds import FAULT, GPU
from nodewright.scenario.fields import (
    Codec,
    Entry,
    Field,
    Form,
    ListOf,
    MapOf,
    Plain,
    a_mapping,
    amounts_json,
    name_of,
    write_fields,
    wrong,
)
from nodewright.scenario.names import Names, Role
from nodewright.scenario.objects import TEMPLATE
from nodewright.scenario.settings import read_group_options, write_group_options
from nodewright.scenario.sieve import Scope

#: Stands for the cloud that a scenario's groups are in.
PROVIDER = "scenario"

_Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_POOL = Plain(str, show=lambda value, names: names.pool(value))
#: What a cloud says has names in it.
_MESSAGE = Plain(str, show=lambda value, names: "" if names.hides else value)

_QUOTAS = Plain(dict[str, _Count], show=lambda value, names: {names.pool(name): each for name, each in value.items()})

_ERROR = Codec(
    InstanceError,
    Field("error_class", ErrorClass, ErrorClass.OTHER, always=True),
    Field("code", str),
    Field("message", _MESSAGE, ""),
    Field("pool", _POOL, ""),
)
_INSTANCE = Codec(
    Instance,
    Field("id", name_of(Role.INSTANCE)),
    Field("state", InstanceState, InstanceState.RUNNING, always=True),
    Field("error", _ERROR, None),
    Field("zone", name_of(Role.VALUE), ""),
    Field("instance_type", name_of(Role.VALUE), ""),
    Field("incarnation", name_of(Role.UID), ""),
    Field("ends_at", datetime, None),
    past=("createdAt",),
)
_PAUSE = Codec(
    Pause,
    Field("why", Plain(str, show=lambda value, names: "paused" if names.hides else value)),
    Field("shrinks", bool, False),
)
#: A template is a `Node`. What a Node can't say stands beside it.
_TEMPLATE = Field("template", Form(), None)
_TEMPLATE_PODS = Field("pods", ListOf(Plain(Pod)), (), key="templatePods", always=True)
_BESIDE_TEMPLATE = (
    _TEMPLATE_PODS,
    Field("csi_drivers", Plain(dict[str, _Count]), {}),
    Field("zones", Plain(tuple[str, ...]), ()),
)
_GPU = Field("gpu", GPU, None)
#: Options that differ from those of all groups.
_OPTIONS = Field("options", MapOf(Form()), {})
_ID = Field("id", name_of(Role.GROUP))
_GROUP = Codec(
    GroupFacts,
    _ID,
    Field("provider", str, PROVIDER, always=True),
    Field("min_size", int, 0, always=True),
    Field("max_size", int),
    Field("target_size", int),
    Field("instances", ListOf(_INSTANCE), always=True),
    Field("hourly_price", float, None),
    Field("atomic", bool, False),
    Field("force_delete", bool, False),
    Field("error", FAULT, ""),
    Field("pools", Plain(tuple[str, ...], show=lambda value, names: [names.pool(pool) for pool in value]), ()),
    Field("quotas", _QUOTAS, {}),
    Field("available", _Count, None),
    Field("errors", ListOf(_ERROR), ()),
    Field("pause", _PAUSE, None),
    besides=(_TEMPLATE, *_BESIDE_TEMPLATE, _GPU, _OPTIONS),
    past=("exists", "autoprovisioned"),
)
_GROUPS = Field("groups", ListOf(Form()), (), key="nodeGroups")
#: Group id by node name.
GROUP_OF = Field("group_of", MapOf(name_of(Role.GROUP), Role.NODE), {}, key="nodeToGroup")
KEYS = (_GROUPS.key, GROUP_OF.key)


def read_groups(
    document: Mapping[str, Any], nodes: Sequence[Node], group_of: Mapping[str, str], defaults: GroupOptions
) -> tuple[tuple[GroupFacts, ...], dict[str, GpuConfig]]:
    """Return the groups, and by the id of each that has some the GPUs of its new nodes.

    *nodes* are those of the scenario. *defaults* hold for what a group's own options do not say.
    """
    groups, gpus = [], {}
    for index, entry in enumerate(_GROUPS.read(document)):
        place = f"{_GROUPS.key}[{index}]"
        id_ = _ID.read(a_mapping(entry, place), place)
        place = f"{place} ({id_})"
        members = [node for node in nodes if group_of.get(node.name) == id_]
        machines = tuple(Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in members)
        facts = _GROUP.read_fields(entry, place, target_size=len(members), instances=machines)
        template, options = _TEMPLATE.read(entry, place), _OPTIONS.read(entry, place)
        groups.append(
            GroupFacts(
                **facts,
                template=None if template is None else _read_template(template, entry, place),
                options=read_group_options(options, defaults, id_),
            )
        )
        if (gpu := _GPU.read(entry, place)) is not None:
            gpus[id_] = gpu
    return tuple(groups), gpus


def write_groups(world: World, settings: Settings, names: Names) -> Entry:
    """Return the groups of *world*, written one by one."""
    return _GROUPS.key, (Raw(msgspec.json.encode(_group_json(facts, world, settings, names))) for facts in world.groups)


def with_provider_id(node: Node) -> Node:
    """Return *node* with the machine that it is: one that does not say gets an id made of its name."""
    if node.spec.provider_id:
        return node
    return struct_replace(node, spec=struct_replace(node.spec, provider_id=f"{PROVIDER}://{node.name}"))


def _group_json(facts: GroupFacts, world: World, settings: Settings, names: Names) -> dict[str, Any]:
    # Where names are hidden, rules for groups by name are part of their options.
    options = group_options(settings, facts.id, facts.options)[0] if names.hides else facts.options
    return {
        **_GROUP.write(facts, names),
        **(
            {}
            if facts.template is None
            else _template_json(facts.template, world.cluster.pod_classes.annotations, names)
        ),
        **_GPU.write(world.group_gpus.get(facts.id), names),
        **_OPTIONS.write(write_group_options(options, default_options(settings)), names),
    }


def _read_template(template: Any, group: Mapping[str, Any], place: str) -> NodeTemplate:
    place_of_node = f"{place}.{_TEMPLATE.key}"
    node = Plain(Node).read(template, place_of_node)
    beside = {field.name: field.read(group, place) for field in _BESIDE_TEMPLATE}
    try:
        capacity, allocatable = node.capacity, node.allocatable
    except ValueError as error:
        raise wrong(place_of_node, str(error)) from None
    for pod in beside[_TEMPLATE_PODS.name]:
        try:
            # A pod reads its quantities when it is first asked for them.
            _ = pod.requests
        except ValueError as error:
            raise wrong(f"{place}.{_TEMPLATE_PODS.key} ({pod.key})", str(error)) from None
    return NodeTemplate(
        labels=node.metadata.labels,
        annotations=node.metadata.annotations,
        taints=node.spec.taints,
        capacity=capacity,
        allocatable=allocatable,
        unschedulable=node.spec.unschedulable,
        **beside,
    )


def _template_json(template: NodeTemplate, annotations: PodAnnotations, names: Names) -> dict[str, Any]:
    shown = TEMPLATE(msgspec.to_builtins(template), Scope(names=names, annotations=annotations))
    node = {
        "metadata": _filled(shown, "labels", "annotations"),
        "spec": _filled(shown, "unschedulable", "taints"),
        "status": {"capacity": amounts_json(template.capacity), "allocatable": amounts_json(template.allocatable)},
    }
    return {_TEMPLATE.key: node, **write_fields(_BESIDE_TEMPLATE, shown, names)}


def _filled(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: entry[key] for key in keys if entry.get(key)}
