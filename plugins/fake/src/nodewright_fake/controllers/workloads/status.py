"""Statuses and portions, as all controllers of workloads write and read them."""

from nodewright_fake.apiserver.store import Object


def observed(found: Object, **counts: int) -> Object:
    """Return the status of *found* with *counts*, which stand for the generation that was just looked at."""
    status = {**(found.get("status") or {}), **counts}
    if "generation" in found["metadata"]:
        status["observedGeneration"] = found["metadata"]["generation"]
    return status


def portion(value: int | str, whole: int, *, round_up: bool) -> int:
    """Return *value* as a number, or as a percentage of *whole*; raises `ValueError` for anything else."""
    if isinstance(value, int):
        return value
    if not value.endswith("%") or not value[:-1].isdigit():
        raise ValueError(f"{value!r} is neither a number nor a percentage such as 25%")
    hundredths = int(value[:-1]) * whole
    return -(-hundredths // 100) if round_up else hundredths // 100
