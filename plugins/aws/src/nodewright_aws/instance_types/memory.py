"""How much memory a booted system sees of what AWS sells."""

import math

from nodewright_aws.instance_types.info import InstanceTypeInfo

#: Linux keeps 64 bytes for each page of 4 KiB.
_PAGE_TABLE = 1 / 64
#: For devices that can't address all memory; reserved on machines that have more than these can address.
_BOUNCE_BUFFER_MIB = 64

#: What hypervisor, firmware and an idle kernel keep, by family: MiB, and further MiB for each GiB sold. Fitted from
#: above to what nodes of all sizes report: where machines of one type differ, as with m5 and c5, the worst counts.
_KEPT: dict[str, tuple[float, float]] = {
    family: kept
    for families, kept in {
        "t3a": (140, 9.5),
        "c5a c5ad g5 t3": (143, 12.2),
        "i4g r6g r6gd t4g x2gd": (141, 13.5),
        "c6i c6id c6in i4i m6i m6id m6idn m6in r6i r6id r6idn r6in trn1 trn1n": (141, 17.4),
        "c7i c7i-flex m7i m7i-flex r7i": (158, 17.4),
        "c6g c6gd c6gn c7g c7gd c7gn g5g hpc7g im4gn is4gen m7g m7gd r7g r7gd": (141, 19.8),
        "c6a inf2 m6a r6a": (143, 22.6),
        "c7a c8a m7a m8a r7a r8a": (160, 22.6),
        "c8g c8gd m6g m6gd m8g m8gd r8g r8gd": (141, 23.3),
        "a1": (139, 35.1),
        "g6": (146, 38.5),
        "g6e": (300, 13.2),
        "p4d": (260, 11.0),
        "r5a r5ad": (250, 9.5),
        "d3 d3en g4dn i3en m5dn m5n r5 r5b r5d r5dn r5n z1d": (253, 12.1),
        "m5a m5ad": (249, 17.5),
        "c5n m5 m5d m5zn": (253, 23.4),
        "c5 c5d": (253, 29.7),
        "x2iedn x2iezn": (240, 11.0),
        "x2idn": (892, 7.6),
        "u-3tb1 u-6tb1": (150, 4.2),
        "vt1": (1042, 26.9),
        "c3 c4": (119, 2.8),
        "i3 m4 r4 t2": (127, 2.0),
    }.items()
    for family in families.split()
}
#: For unknown families, by hypervisor: a little more than the worst of the known ones.
_KEPT_OF_OTHERS = {"xen": (200.0, 2.8), "nitro": (300.0, 40.0), "": (520.0, 7.0)}
#: Kernels of newer AMIs keep more than those on which the figures above were measured.
_NEWER_KERNEL_MIB = 6
_NEWER_KERNEL_MIB_PER_VCPU = 1.5
#: Share of all memory, for kernels that are still to come.
_MARGIN = 0.0003


def memory_seen(info: InstanceTypeInfo, *, overhead_percent: float | None = None) -> int:
    """Return the bytes of memory that a node of the type reports as its capacity; errs on the low side.

    *overhead_percent* is the part of what AWS sells that is missing; without it, the part is estimated.
    """
    if overhead_percent is not None:
        seen = info.memory_mib * (1 - overhead_percent / 100)
    else:
        seen = info.memory_mib - _kept_mib(info)
    return max(0, math.floor(seen * 1024)) * 1024


def _kept_mib(info: InstanceTypeInfo) -> float:
    kernel = _NEWER_KERNEL_MIB + _NEWER_KERNEL_MIB_PER_VCPU * info.vcpus
    others = _KEPT_OF_OTHERS.get(info.hypervisor, _KEPT_OF_OTHERS["nitro"])
    base, per_gib = others if info.bare_metal else _KEPT.get(info.family, others)
    if info.memory_mib < (2048 if info.arch == "arm64" else 4096):
        base -= _BOUNCE_BUFFER_MIB
    return base + kernel + info.memory_mib * (_PAGE_TABLE + per_gib / 1024 + _MARGIN)
