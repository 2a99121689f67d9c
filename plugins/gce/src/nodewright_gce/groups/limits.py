"""How small and how large groups may be."""

from dataclasses import dataclass

from nodewright_gce.migs.managed_group import ManagedGroup


@dataclass(frozen=True, kw_only=True)
class SizeLimits:
    """The limits of a group."""

    min_size: int
    #: None if nobody has set one.
    max_size: int | None
    #: What does not fit together, in a sentence.
    conflict: str = ""


def limits_of(group: ManagedGroup, told: tuple[int | None, int | None]) -> SizeLimits:
    """Return the limits that the user wrote, else those that the metadata of the group's template has *told*."""
    least, most = told
    if group.min_size is not None:
        least = group.min_size
    if group.max_size is not None:
        most = group.max_size
    conflict = ""
    if most is not None and (least or 0) > most:
        conflict = f"its minimum of {least} is above its maximum of {most}, which counts: correct one of them"
        least = most
    elif group.max_size is not None and told[1] not in (None, group.max_size):
        conflict = (
            f"the metadata of its template says that its maximum is {told[1]}, and the configuration {group.max_size}, "
            "which counts: take one of them away"
        )
    elif group.min_size is not None and told[0] not in (None, group.min_size):
        conflict = (
            f"the metadata of its template says that its minimum is {told[0]}, and the configuration {group.min_size}, "
            "which counts: take one of them away"
        )
    return SizeLimits(min_size=least or 0, max_size=most, conflict=conflict)
