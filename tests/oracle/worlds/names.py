"""The few names that all worlds are made of: few, so that selectors and labels often meet."""

from nodewright.objects import Requirement
from nodewright.objects.node import HOSTNAME, ZONE

REGION = "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
RACK = "rack"
NODE_THAT_HAS_GONE = "node-that-has-gone"
ZONES = ("zone-a", "zone-b", "zone-c")
RACKS = ("1", "2")
TOPOLOGY_KEYS = (ZONE, HOSTNAME, RACK)
NAMESPACES = {"default": {}, "team-a": {"team": "a", "tier": "apps"}, "team-b": {"team": "b", "tier": "apps"}}
APPS = ("web", "db", "cache")
VERSIONS = ("0", "1")
DRIVER = "disk.example.com"
#: A label that controllers give each of their pods; it matters as much as any other where a selector looks at it.
POD_INDEX = "apps.kubernetes.io/pod-index"
FPGA = "example.com/fpga"

#: Lines over pod labels, some of which select pods that don't have the label.
POD_LINES = (
    Requirement(key="app", operator="In", values=("web", "db")),
    Requirement(key="app", operator="NotIn", values=("web",)),
    Requirement(key="version", operator="Exists"),
    Requirement(key="version", operator="DoesNotExist"),
    Requirement(key=POD_INDEX, operator="In", values=("0",)),
)
#: Lines over node labels.
NODE_LINES = (
    Requirement(key=ZONE, operator="In", values=ZONES[:2]),
    Requirement(key=ZONE, operator="NotIn", values=ZONES[:1]),
    Requirement(key=RACK, operator="Exists"),
    Requirement(key="disk", operator="DoesNotExist"),
    Requirement(key="disk", operator="In", values=("ssd",)),
    Requirement(key="gen", operator="Gt", values=("1",)),
    Requirement(key="gen", operator="Lt", values=("3",)),
    Requirement(key=HOSTNAME, operator="In", values=("node-0", "node-1")),
    Requirement(key=HOSTNAME, operator="NotIn", values=("node-0", "node-1")),
    Requirement(key=HOSTNAME, operator="Exists"),
    Requirement(key=HOSTNAME, operator="DoesNotExist"),
)
