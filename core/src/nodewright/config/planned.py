"""Settings that are read and checked, but do nothing yet in this version."""

#: Path of a setting or of a whole section, without indices of lists, and what is to come.
#: Whoever builds it deletes its line.
PLANNED = {
    "loop.gracefulDegradation": "graceful degradation",
    "loop.pendingPodsTimeout": "graceful degradation",
    "scaleUp.asyncGroupCreation": "creation of node groups",
    "scaleUp.proactive": "proactive scale-up",
    "scheduling": "the scheduler's own configuration",
    "provisioningRequests": "ProvisioningRequest objects",
    "capacityBuffers": "CapacityBuffer objects",
}


def planned(path: tuple[str, ...]) -> str | None:
    """Return what is still to come before the setting at *path* does anything, None if it is in effect."""
    prefixes = (".".join(path[:length]) for length in range(len(path), 0, -1))
    return next((PLANNED[prefix] for prefix in prefixes if prefix in PLANNED), None)
