"""What the kubelets of new nodes keep from pods."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from nodewright.api import PluginConfig, parse_quantity
from pydantic import AfterValidator, Field


class AmiFamily(StrEnum):
    """What machines boot. Windows is not among them."""

    AL2023 = "al2023"
    AL2 = "al2"
    BOTTLEROCKET = "bottlerocket"
    #: Anything else: nothing is reserved but what the settings say, and 110 pods fit, as a bare kubelet has it.
    CUSTOM = "custom"


def _quantity(text: str) -> str:
    if parse_quantity(text) < 0:
        raise ValueError(f"{text!r} is less than nothing: write an amount such as 200m or 1Gi")
    return text


def _quantity_or_percent(text: str) -> str:
    if not text.endswith("%"):
        return _quantity(text)
    try:
        percent = float(text[:-1])
    except ValueError:
        percent = -1
    if not 0 <= percent <= 100:
        raise ValueError(f"{text!r} is no threshold: write an amount such as 200Mi, or a percentage from 0% to 100%")
    return text


Quantity = Annotated[str, AfterValidator(_quantity)]
Threshold = Annotated[str, AfterValidator(_quantity_or_percent)]
Reservable = Literal["cpu", "memory", "ephemeral-storage"]


class KubeletSettings(PluginConfig, defer_build=True):
    """How the kubelets of new nodes are set up, as far as it changes what pods may use.

    What is not named here is as the AMI has it.
    """

    ami_family: AmiFamily = AmiFamily.AL2023
    #: ``eni``: as many as the machine's network interfaces have addresses; ``managed``: the same, and never more than
    #: EKS allows in managed node groups; ``prefix``: with a prefix in place of each address; or a number.
    #: ``auto`` is ``eni``, and 110 for custom AMIs.
    max_pods: Literal["auto", "eni", "managed", "prefix"] | Annotated[int, Field(ge=1)] = "auto"
    #: Network interfaces that are not for pods, as ``RESERVED_ENIS`` in other tools.
    reserved_enis: int = Field(default=0, ge=0)
    #: Pods have subnets of their own, so that the first interface is not for them.
    custom_networking: bool = False
    kube_reserved: Mapping[Reservable, Quantity] = Field(default_factory=dict)
    system_reserved: Mapping[Reservable, Quantity] = Field(default_factory=dict)
    eviction_hard: Mapping[Literal["memory.available", "nodefs.available"], Threshold] = Field(default_factory=dict)
    #: Percent of the memory sold that the booted system does not see; if not said, it is estimated by type and size.
    memory_overhead: float | None = Field(default=None, ge=0, lt=100)
    #: The machine's own NVMe disks, as one, hold what pods write (``localStorage: {strategy: RAID0}`` of nodeadm).
    local_disks_as_storage: bool = False
