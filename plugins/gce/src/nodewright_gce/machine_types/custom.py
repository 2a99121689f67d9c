"""Custom machine types, whose names say everything about them."""

import re

from nodewright_gce.machine_types.info import MachineTypeInfo, architecture_of

_NAME = re.compile(r"(?:(?P<family>[a-z][a-z0-9]*)-)?custom-(?P<size>[a-z0-9]+)-(?P<mib>[0-9]+)(?P<extended>-ext)?")
_SHARED = frozenset({"micro", "small", "medium"})
_SHARED_VCPUS = 2
#: All amounts of memory are multiples of this.
_STEP_MIB = 256
#: Of e2: most vCPUs, and MiB for each of them.
_E2_VCPUS = 32
_E2_MIB = range(512, 8192 + 1)


def is_custom(name: str) -> bool:
    """Return whether *name* is meant as that of a custom type."""
    return name.startswith("custom-") or "-custom-" in name


def parse_custom(name: str) -> MachineTypeInfo:
    """Return the custom type *name*; raises `ValueError` if there can't be one."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(
            f"{name!r} is no custom machine type: write FAMILY-custom-VCPUS-MIB, or custom-VCPUS-MIB for n1, "
            "with -ext at its end for extended memory"
        )
    family, mib = match["family"] or "n1", int(match["mib"])
    vcpus, shared = _vcpus(name, family, match["size"])
    if mib == 0 or mib % _STEP_MIB:
        raise ValueError(f"{name!r} can't exist: memory comes in multiples of {_STEP_MIB} MiB")
    if family == "e2":
        _check_e2(name, vcpus, mib, shared=shared, extended=bool(match["extended"]))
    return MachineTypeInfo(
        name=name,
        vcpus=1000 * vcpus,
        memory_mib=mib,
        architecture=architecture_of(name),
        shared_core=shared,
    )


def _vcpus(name: str, family: str, size: str) -> tuple[int, bool]:
    """Return the vCPUs that *size* stands for, and whether they are shared."""
    if family == "e2" and size in _SHARED:
        return _SHARED_VCPUS, True
    if not size.isdigit() or not int(size):
        raise ValueError(f"{name!r} can't exist: {size!r} is no number of vCPUs")
    if int(size) > 1 and int(size) % 2:
        raise ValueError(f"{name!r} can't exist: there is 1 vCPU, or an even number of them")
    return int(size), False


def _check_e2(name: str, vcpus: int, mib: int, *, shared: bool, extended: bool) -> None:
    if extended:
        raise ValueError(f"{name!r} can't exist: e2 has no extended memory")
    if vcpus % 2 or vcpus > _E2_VCPUS:
        raise ValueError(f"{name!r} can't exist: e2 has an even number of vCPUs, at most {_E2_VCPUS}")
    if not shared and not _E2_MIB[0] * vcpus <= mib <= _E2_MIB[-1] * vcpus:
        raise ValueError(f"{name!r} can't exist: e2 has {_E2_MIB[0]} to {_E2_MIB[-1]} MiB for each vCPU")
