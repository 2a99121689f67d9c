"""Node groups: how their machines are made and what the nodes look like."""

import re
from datetime import timedelta
from typing import Annotated, Any, Self

from nodewright.api import GroupOptions, NodeTemplate, Resources, Taint, parse_resources
from pydantic import AfterValidator, Field, model_validator

from nodewright_fake.cloud.instance_type import Hardware
from nodewright_fake.duration import Duration, Span, SpanSetting
from nodewright_fake.host import region_of
from nodewright_fake.names import InstanceTypeName, ZoneName
from nodewright_fake.settings import Quantity, Settings

GROUP_LABEL = "fake.nodewright.dev/node-group"
CAPACITY_LABEL = "fake.nodewright.dev/capacity"
ACCELERATOR_LABEL = "fake.nodewright.dev/accelerator"
ZONE_LABEL = "topology.kubernetes.io/zone"

_TAINT = re.compile(r"(?P<key>[^=:\s]+)(?:=(?P<value>[^=:\s]*))?:(?P<effect>NoSchedule|PreferNoSchedule|NoExecute)")


def parse_taint(text: str) -> Taint:
    """Return a taint written as kubectl takes it: ``key=value:Effect`` or ``key:Effect``."""
    match = _TAINT.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a taint: write key=value:Effect or key:Effect with the effect NoSchedule, "
            "PreferNoSchedule or NoExecute"
        )
    return Taint(key=match["key"], value=match["value"] or "", effect=match["effect"])


def _check_taint(text: str) -> str:
    return str(parse_taint(text))


class OptionSettings(Settings):
    """Autoscaling options that a group sets for itself."""

    scale_down_utilization_threshold: float | None = Field(default=None, ge=0)
    scale_down_gpu_utilization_threshold: float | None = Field(default=None, ge=0)
    scale_down_unneeded_time: Duration | None = None
    scale_down_unready_time: Duration | None = None
    max_node_provision_time: Duration | None = None
    max_node_startup_time: Duration | None = None
    ignore_daemonsets_utilization: bool | None = None
    zero_or_max_node_scaling: bool | None = None
    allow_non_atomic_scale_up_to_max: bool | None = None

    def over(self, defaults: GroupOptions) -> GroupOptions:
        """Lay the options that are set over *defaults*."""
        given: dict[str, Any] = self.model_dump(exclude_none=True)
        for name, value in given.items():
            if name.endswith("_time"):
                given[name] = timedelta(seconds=value)
        return GroupOptions(**{**vars(defaults), **given})


class GroupSettings(Settings):
    """A set of like machines in one zone."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9.]{0,48}[a-z0-9])?$")
    zone: ZoneName
    instance_type: InstanceTypeName
    min: int = Field(default=0, ge=0)
    max: int = Field(ge=0)
    #: Machines that are there when the world begins; the minimum if not given.
    desired: int | None = Field(default=None, ge=0)
    spot: bool = False
    labels: dict[str, str] = Field(default={})
    taints: tuple[Annotated[str, AfterValidator(_check_taint)], ...] = ()
    #: Resources that the machines have beyond those of their type.
    resources: dict[str, Quantity] = Field(default={})
    #: From order to registration as a node.
    boot_time: SpanSetting = Span(shortest=40.0, longest=40.0)
    #: From registration to Ready.
    ready_time: SpanSetting = Span(shortest=10.0, longest=10.0)
    #: From the order to delete to the end of the machine.
    delete_time: SpanSetting = Span(shortest=20.0, longest=20.0)
    #: Whether the cloud can tell what a machine will look like before there is one.
    scale_from_zero: bool = True
    options: OptionSettings = OptionSettings()

    @model_validator(mode="after")
    def _sizes_in_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        if self.desired is not None and not self.min <= self.desired <= self.max:
            raise ValueError(f"desired {self.desired} is not between min {self.min} and max {self.max}")
        return self

    @property
    def initial_size(self) -> int:
        """Machines that the group is asked for when it is made."""
        return self.min if self.desired is None else self.desired

    @property
    def pool(self) -> str:
        """The capacity pool that the machines are taken from; groups may share it."""
        return pool_name(self.zone, self.instance_type, spot=self.spot)

    def template(self, hardware: Hardware) -> NodeTemplate:
        """What a new node of the group looks like; also what its machines turn out to be."""
        extra = parse_resources(self.resources)
        return NodeTemplate(
            labels=self._labels(hardware),
            taints=tuple(parse_taint(taint) for taint in self.taints),
            capacity=_sum(hardware.capacity, extra),
            allocatable=_sum(hardware.allocatable, extra),
        )

    def _labels(self, hardware: Hardware) -> dict[str, str]:
        accelerator = {ACCELERATOR_LABEL: hardware.gpu.type} if hardware.gpu else {}
        return {
            "kubernetes.io/arch": hardware.arch,
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": self.instance_type,
            "topology.kubernetes.io/region": region_of(self.zone),
            ZONE_LABEL: self.zone,
            CAPACITY_LABEL: "spot" if self.spot else "on-demand",
            GROUP_LABEL: self.name,
            **accelerator,
            **self.labels,
        }


def pool_name(zone: str, instance_type: str, *, spot: bool) -> str:
    """Return the name of a capacity pool."""
    return f"{zone}/{instance_type}/spot" if spot else f"{zone}/{instance_type}"


def _sum(amounts: Resources, more: Resources) -> Resources:
    return {resource: amounts.get(resource, 0) + more.get(resource, 0) for resource in (*amounts, *more)}
