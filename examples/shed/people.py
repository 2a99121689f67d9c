"""The people of the shed: they carry machines in and out, and plug them into the cluster of ``$KUBECONFIG``."""

import sys
import time
from pathlib import Path

from nodewright.testing import Nodes
from nodewright_example_shed.inventory import Inventory
from nodewright_example_shed.provider import Rack


def look_after(inventory: Inventory, nodes: Nodes) -> None:
    """Make the machines in each rack as many as are wanted there, and a node of each."""
    with inventory.change() as racks:
        for name, rack in racks.items():
            machines, template = rack["machines"], Rack(inventory, name, racks).template()
            for machine in [machine for machine, state in machines.items() if state == "Deleting"]:
                nodes.leave(node_name(machine))
                del machines[machine]
            places = [f"shed://{name}/machine-{place}" for place in range(rack["places"])]
            free = [place for place in places if place not in machines]
            machines |= dict.fromkeys(free[: max(0, rack["wanted"] - len(machines))], "Running")
            for machine in machines:
                nodes.join(node_name(machine), machine, template)


def node_name(machine: str) -> str:
    """``shed://left/machine-0`` becomes the node ``left-machine-0``."""
    return machine.removeprefix("shed://").replace("/", "-")


if __name__ == "__main__":
    with Nodes() as nodes:
        while True:
            look_after(Inventory(Path(sys.argv[1])), nodes)
            time.sleep(1)
