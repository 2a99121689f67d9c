"""Where we differ from Cluster Autoscaler, and why: on purpose as in docs/differences.md, or not yet the same."""

_FIRST_FIT = "first fit finds room for one pod more"
_PLACED_ELSEWHERE = "a pod that waits is counted on another node"
_PACKED_OTHERWISE = "of runs that end with 10 and with 12 nodes to spare, ours has 11"
_PACKED_BETTER = "a group whose nodes are packed better wins, with more pods"
_MOST_PODS = "of equally good options, the one that helps more pods is taken"
_HALTED = "there, what was found in an earlier loop is told again in one that looks at no node"

#: Reason by vector, iteration and field. For a field with ``*`` all fields of the iteration may differ.
EXCEPTIONS: dict[tuple[str, int, str], str] = {
    ("scaleup-basic/7", 0, "consideredNodeGroups"): _FIRST_FIT,
    ("scaleup-basic/7", 0, "scaleUpResult"): _FIRST_FIT,
    ("scaleup-constraints/3", 0, "scaleUp"): _PACKED_BETTER,
    ("scaleup-constraints/7", 0, "scaleUp"): _PACKED_BETTER,
    ("scaleup-constraints/19", 0, "filteredOutSchedulable"): _FIRST_FIT,
    ("scaleup-constraints/19", 0, "unschedulableToHelp"): _FIRST_FIT,
    ("mixed-large/5", 1, "unneededNodes"): _PACKED_OTHERWISE,
    ("scaledown-basic/2", 0, "unneededNodes"): _PLACED_ELSEWHERE,
    ("scaledown-basic/2", 0, "unremovableNodes"): _PLACED_ELSEWHERE,
    ("scaledown-basic/2", 1, "unneededNodes"): _PLACED_ELSEWHERE,
    ("scaledown-basic/2", 1, "removableNow"): _PLACED_ELSEWHERE,
    ("scaleup-basic/7", 0, "scaleDownResult"): _FIRST_FIT,
    ("upcoming/1", 1, "unremovableNodes"): _HALTED,
    ("upcoming/9", 0, "scaleUp"): _MOST_PODS,
    ("upcoming/17", 1, "unremovableNodes"): _HALTED,
}


def excuse(vector: str, iteration: int, field: str) -> str:
    """Return why this field may differ, nothing if it must not."""
    return EXCEPTIONS.get((vector, iteration, field)) or EXCEPTIONS.get((vector, iteration, "*"), "")
