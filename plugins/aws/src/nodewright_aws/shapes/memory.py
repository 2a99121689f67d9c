"""How much of the memory that AWS sells a booted system sees."""

import math

from nodewright_aws.shapes.shape import Shape

#: Linux describes each page of 4 KiB in 64 bytes that nobody else gets.
_PAGE_TABLE = 1 / 64
#: For devices that can't reach all of memory; set aside by machines that have more than such devices reach.
_BOUNCE_BUFFER_MIB = 64

#: What hypervisor, firmware and an idle kernel keep, by family: MiB, and MiB more for each GiB sold. Fitted to what
#: nodes of all sizes report, from above: where machines of one type differ, as those of m5 and c5 do, the worst counts.
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
#: Of families that nobody has told about: as much as the worst of those that are known, and a little more.
_KEPT_OF_OTHERS = {"xen": (200.0, 2.8), "nitro": (300.0, 40.0), "": (520.0, 7.0)}
#: The kernels of newer AMIs keep more than those that the figures above were taken with.
_NEWER_KERNEL_MIB = 6
_NEWER_KERNEL_MIB_PER_VCPU = 1.5
#: Of all memory, for kernels that nobody has seen yet.
_MARGIN = 0.0003


def memory_seen(shape: Shape, *, overhead_percent: float | None = None) -> int:
    """Return the bytes of memory that a node on a machine of *shape* reports as its capacity; rather less than more.

    With *overhead_percent*, so much of what AWS sells is missing; else it is estimated.
    """
    if overhead_percent is not None:
        seen = shape.memory_mib * (1 - overhead_percent / 100)
    else:
        seen = shape.memory_mib - _kept_mib(shape)
    return max(0, math.floor(seen * 1024)) * 1024


def _kept_mib(shape: Shape) -> float:
    kernel = _NEWER_KERNEL_MIB + _NEWER_KERNEL_MIB_PER_VCPU * shape.vcpus
    others = _KEPT_OF_OTHERS.get(shape.hypervisor, _KEPT_OF_OTHERS["nitro"])
    base, per_gib = others if shape.bare_metal else _KEPT.get(shape.family, others)
    if shape.memory_mib < (2048 if shape.arch == "arm64" else 4096):
        base -= _BOUNCE_BUFFER_MIB
    return base + kernel + shape.memory_mib * (_PAGE_TABLE + per_gib / 1024 + _MARGIN)
