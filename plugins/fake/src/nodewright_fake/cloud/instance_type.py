"""Instance types: the machines that the cloud offers."""

from typing import Self

from nodewright.api import Resources, parse_resources
from pydantic import Field, model_validator

from nodewright_fake.settings import Quantity, Settings

GPU_RESOURCE = "nvidia.com/gpu"


class Gpu(Settings):
    """The accelerators in a machine."""

    #: The model, as in the label ``fake.nodewright.dev/accelerator``.
    type: str = Field(min_length=1)
    count: int = Field(default=1, ge=1)


class Hardware(Settings):
    """What a machine has."""

    cpu: Quantity
    memory: Quantity
    pods: int = Field(default=110, ge=1)
    ephemeral_storage: Quantity = "100Gi"
    gpu: Gpu | None = None
    #: Extended resources by name.
    resources: dict[str, Quantity] = Field(default={})
    #: What kubelet and system keep for themselves, by resource.
    reserved: dict[str, Quantity] = Field(default={})
    arch: str = "amd64"

    @model_validator(mode="after")
    def _reserve_leaves_something(self) -> Self:
        for resource, amount in self.allocatable.items():
            if amount < 0:
                raise ValueError(f"more {resource} is reserved than the machine has")
        return self

    @property
    def capacity(self) -> Resources:
        """What the machine has."""
        gpus = {GPU_RESOURCE: self.gpu.count} if self.gpu else {}
        sizes = {"cpu": self.cpu, "memory": self.memory, "ephemeral-storage": self.ephemeral_storage}
        return parse_resources({**sizes, "pods": self.pods, **gpus, **self.resources})

    @property
    def allocatable(self) -> Resources:
        """What is left of it for pods."""
        reserved = parse_resources(self.reserved)
        return {resource: amount - reserved.get(resource, 0) for resource, amount in self.capacity.items()}

    @property
    def vcpus(self) -> int:
        """Whole processors, as quotas count them."""
        return self.capacity["cpu"] // 1000


class InstanceType(Hardware):
    """A machine that can be ordered."""

    #: For an hour.
    price: float = Field(ge=0)
    spot_price: float | None = Field(default=None, ge=0)

    def hourly_price(self, *, spot: bool) -> float:
        """The price of an hour; spot machines of a type without a spot price cost as much as others."""
        return self.spot_price if spot and self.spot_price is not None else self.price
