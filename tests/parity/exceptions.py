"""Where we differ from Cluster Autoscaler, and why: on purpose as in docs/differences.md, or not yet the same."""

_LOOP_GOES_ON = "there the loop ends when orders that timed out were taken back"
_FIRST_FIT = "first fit finds room for one pod more"
_HEALTH = "the health of groups is not told yet"

#: Reason by vector, iteration and field. For a field with ``*`` all fields of the iteration may differ.
EXCEPTIONS: dict[tuple[str, int, str], str] = {
    ("scaleup-basic/7", 0, "consideredNodeGroups"): _FIRST_FIT,
    ("scaleup-basic/7", 0, "scaleUpResult"): _FIRST_FIT,
    ("scaleup-constraints/19", 0, "filteredOutSchedulable"): _FIRST_FIT,
    ("scaleup-constraints/19", 0, "unschedulableToHelp"): _FIRST_FIT,
    ("upcoming/1", 1, "*"): _LOOP_GOES_ON,
    ("upcoming/8", 1, "*"): _LOOP_GOES_ON,
    ("upcoming/10", 1, "podsRemainUnschedulable"): _HEALTH,
    ("upcoming/17", 1, "*"): _LOOP_GOES_ON,
}


def excuse(vector: str, iteration: int, field: str) -> str:
    """Return why this field may differ, nothing if it must not."""
    return EXCEPTIONS.get((vector, iteration, field)) or EXCEPTIONS.get((vector, iteration, "*"), "")
