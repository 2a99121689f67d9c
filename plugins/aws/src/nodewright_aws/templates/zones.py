"""The zone of the next machine of a group."""

from collections import Counter
from collections.abc import Collection

from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.templates.settings import ZoneChoice

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
#: The zone by another name, which nothing here tells.
ZONE_ID = "topology.k8s.aws/zone-id"
#: Labels that tell the zone, whoever sets them.
ZONE_LABELS = (ZONE, "failure-domain.beta.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone")


def place(zone: str, region: str) -> dict[str, str]:
    """Return the labels of a node in *zone*, if it is known, and *region*."""
    return {REGION: region} | ({ZONE: zone, "topology.ebs.csi.aws.com/zone": zone} if zone else {})


def next_zone(group: GroupReading, choice: ZoneChoice, possible: Collection[str]) -> str:
    """Return the zone in which the next machine of *group* is expected; empty if a node that is there is to tell.

    AWS launches where the fewest machines are, and elsewhere if it can't have any there, as in zones that are not
    *possible*.
    """
    if choice is ZoneChoice.FIRST:
        return ""
    machines = Counter(
        instance.zone for instance in group.instances if instance.lifecycle_state.startswith(("Pending", "InService"))
    )
    return min(possible or group.zones, key=lambda zone: (machines[zone], zone), default="")
