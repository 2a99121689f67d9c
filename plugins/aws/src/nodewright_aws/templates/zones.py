"""The zone of the next machine of a group."""

from collections import Counter
from collections.abc import Collection

from nodewright_aws.groups.lifecycle import is_counted
from nodewright_aws.groups.reading import GroupReading

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
#: The zone by another name, which nothing here tells.
ZONE_ID = "topology.k8s.aws/zone-id"
#: Labels of templates that tell the zone.
ZONE_LABELS = frozenset({ZONE, "topology.ebs.csi.aws.com/zone"})


def place(zone: str, region: str) -> dict[str, str]:
    """Return the labels of a node in *zone*, if it is known, and *region*."""
    return {REGION: region} | ({ZONE: zone, "topology.ebs.csi.aws.com/zone": zone} if zone else {})


def next_zone(group: GroupReading, possible: Collection[str]) -> str:
    """Return the one of the zones that are *possible* (at least one) in which the next machine of *group* is expected.

    AWS launches where the fewest machines are, and elsewhere if it can't have any there.
    """
    machines = Counter(instance.zone for instance in group.instances if is_counted(instance))
    return min(possible, key=lambda zone: (machines[zone], zone))
