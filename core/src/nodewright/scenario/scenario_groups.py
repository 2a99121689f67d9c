"""Node groups of a scenario: what a provider would say about them."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from nodewright.api.group import GroupFacts, GroupOptions
from nodewright.api.instance import ErrorClass, Instance, InstanceError, InstanceState
from nodewright.api.template import NodeTemplate
from nodewright.objects import Node, Pod
from nodewright.scenario.scenario_objects import (
    read_list,
    read_mapping,
    read_object,
    read_objects,
    refuse_unknown,
    require_mapping,
    wrong,
)
from nodewright.scenario.scenario_options import read_group_options

#: Stands for the cloud that a scenario's groups are in.
PROVIDER = "scenario"

_GROUP_KEYS = (
    "id",
    "minSize",
    "maxSize",
    "targetSize",
    "template",
    "templatePods",
    "options",
    "provider",
    "instances",
    "csiDrivers",
    "zones",
    "hourlyPrice",
    "atomic",
    "forceDelete",
    "error",
    "pools",
    # Written by earlier versions; nothing is decided by them.
    "exists",
    "autoprovisioned",
    # Read in `nodewright.scenario.scenario_clouds`.
    "gpu",
)
_Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_INSTANCE_KEYS = (
    "id",
    "state",
    "error",
    "zone",
    "instanceType",
    # Written by earlier versions; nothing is decided by it.
    "createdAt",
)
_ERROR_KEYS = ("errorClass", "code", "message", "pool")


def read_group(
    entry: Any, place: str, nodes: tuple[Node, ...], group_of: Mapping[str, str], defaults: GroupOptions
) -> GroupFacts:
    """Return the group that *entry* is; raises `ConfigurationError` that names *place* and what is wrong there."""
    require_mapping(entry, place)
    id_ = read_object(entry.get("id"), str, f"{place}.id")
    place = f"{place} ({id_})"
    refuse_unknown(entry, _GROUP_KEYS, f"{place}.")
    members = [node for node in nodes if group_of.get(node.name) == id_]
    template, price = entry.get("template"), entry.get("hourlyPrice")

    def switch(key: str) -> bool:
        return read_object(entry.get(key, False), bool, f"{place}.{key}")

    return GroupFacts(
        id=id_,
        provider=read_object(entry.get("provider", PROVIDER), str, f"{place}.provider"),
        min_size=read_object(entry.get("minSize", 0), int, f"{place}.minSize"),
        max_size=read_object(entry.get("maxSize"), int, f"{place}.maxSize"),
        target_size=read_object(entry.get("targetSize", len(members)), int, f"{place}.targetSize"),
        instances=_read_instances(entry, place, members),
        template=None if template is None else _read_template(template, entry, place),
        options=read_group_options(read_mapping(entry, "options", f"{place}."), defaults, id_),
        atomic=switch("atomic"),
        force_delete=switch("forceDelete"),
        hourly_price=None if price is None else read_object(price, float, f"{place}.hourlyPrice"),
        error=read_object(entry.get("error", ""), str, f"{place}.error"),
        pools=read_object(entry.get("pools", ()), tuple[str, ...], f"{place}.pools"),
    )


def _read_instances(entry: Mapping[str, Any], place: str, members: list[Node]) -> tuple[Instance, ...]:
    """Return the group's machines: those that are listed, else one for each of its nodes."""
    if entry.get("instances") is None:
        return tuple(Instance(id=node.spec.provider_id, state=InstanceState.RUNNING) for node in members)
    listed = read_list(entry, "instances")
    return tuple(_read_instance(each, f"{place}.instances[{index}]") for index, each in enumerate(listed))


def _read_instance(entry: Any, place: str) -> Instance:
    require_mapping(entry, place)
    refuse_unknown(entry, _INSTANCE_KEYS, f"{place}.")
    error = entry.get("error")
    return Instance(
        id=read_object(entry.get("id"), str, f"{place}.id"),
        state=read_object(entry.get("state", "Running"), InstanceState, f"{place}.state"),
        error=None if error is None else _read_error(error, f"{place}.error"),
        zone=read_object(entry.get("zone", ""), str, f"{place}.zone"),
        instance_type=read_object(entry.get("instanceType", ""), str, f"{place}.instanceType"),
    )


def _read_error(entry: Any, place: str) -> InstanceError:
    require_mapping(entry, place)
    refuse_unknown(entry, _ERROR_KEYS, f"{place}.")
    return InstanceError(
        error_class=read_object(entry.get("errorClass", "Other"), ErrorClass, f"{place}.errorClass"),
        code=read_object(entry.get("code"), str, f"{place}.code"),
        message=read_object(entry.get("message", ""), str, f"{place}.message"),
        pool=read_object(entry.get("pool", ""), str, f"{place}.pool"),
    )


def _read_template(template: Any, group: Mapping[str, Any], place: str) -> NodeTemplate:
    node = read_object(template, Node, f"{place}.template")
    pods = read_objects(group, "templatePods", Pod)
    try:
        capacity, allocatable = node.capacity, node.allocatable
    except ValueError as error:
        raise wrong(f"{place}.template", str(error)) from None
    for pod in pods:
        try:
            # A pod reads its quantities when it is first asked for them.
            _ = pod.requests
        except ValueError as error:
            raise wrong(f"{place}.templatePods ({pod.key})", str(error)) from None
    return NodeTemplate(
        labels=node.metadata.labels,
        annotations=node.metadata.annotations,
        taints=node.spec.taints,
        capacity=capacity,
        allocatable=allocatable,
        pods=pods,
        csi_drivers=read_object(group.get("csiDrivers", {}), dict[str, _Count], f"{place}.csiDrivers"),
        zones=read_object(group.get("zones", ()), tuple[str, ...], f"{place}.zones"),
        unschedulable=node.spec.unschedulable,
    )
