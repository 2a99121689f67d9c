"""Capacity pools: what Google launches machines from, and what runs dry."""

from dataclasses import dataclass

#: Annotation of a template with the names of the pools that its group launches from, separated by commas.
POOLS_ANNOTATION = "gce.nodewright.dev/pools"


@dataclass(frozen=True, kw_only=True, order=True)
class Pool:
    """Capacity in one zone for machines of one type, bought on demand or as spot, or from one reservation."""

    zone: str
    machine_type: str = ""
    spot: bool = False
    reservation: str = ""

    def __str__(self) -> str:
        """The name as in `nodewright.api.NodeGroup.pools`."""
        if self.reservation:
            return f"{self.zone}/reservation:{self.reservation}"
        name = f"{self.zone}/{self.machine_type}"
        return f"{name}/spot" if self.spot else name
