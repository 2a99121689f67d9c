"""A Google Cloud in one process, with all its faults."""

from nodewright_gce.testing.double import GceDouble
from nodewright_gce.testing.group import Group, Machine
from nodewright_gce.testing.messages import RefusalError
from nodewright_gce.testing.supply import Shortage
from nodewright_gce.testing.troubles import Trouble

__all__ = ["GceDouble", "Group", "Machine", "RefusalError", "Shortage", "Trouble"]
