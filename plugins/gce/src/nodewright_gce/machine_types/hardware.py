"""What a node is made of, as far as it is paid for."""

from collections.abc import Iterable, Mapping

import msgspec

#: Annotation of a template that tells its price: the `Hardware` of every machine that its group may get, in JSON.
HARDWARE_ANNOTATION = "gce.nodewright.dev/hardware"


class Hardware(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A machine with its disks. Fields that cost nothing are left out of the annotation."""

    region: str
    machine_type: str
    spot: bool = False
    #: As ``machineTypes`` shows them: 2 for those that share a core.
    vcpus: int
    memory_mib: int
    #: How many of each type, attached or built in; such as ``nvidia-l4``.
    gpus: Mapping[str, int] = {}
    #: In all, attached or bundled.
    local_ssd_gib: int = 0
    #: Type of the boot disk, such as ``pd-balanced``; empty if the template does not say.
    boot_disk: str = ""
    boot_disk_gib: int = 0


def write(machines: Iterable[Hardware]) -> str:
    """Return *machines* as the value of `HARDWARE_ANNOTATION`."""
    return msgspec.json.encode(list(machines), order="deterministic").decode()


def read(annotation: str) -> tuple[Hardware, ...]:
    """Return the machines in a value of `HARDWARE_ANNOTATION`; raises `ValueError`."""
    return msgspec.json.decode(annotation, type=tuple[Hardware, ...]) if annotation else ()
