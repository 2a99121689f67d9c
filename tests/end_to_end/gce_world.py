"""Google Cloud under the embedded cluster: machines that run become nodes, and nodes go with their machines."""

import json
from dataclasses import dataclass, field

from nodewright.api import Taint
from nodewright_fake.host import Host

from tests.end_to_end.conftest import Life

PREFIX = "prod-"
ZONES = ("europe-west1-b", "europe-west1-c", "europe-west1-d")

_KI = 1024
#: Seconds between two looks at the machines.
_PACE = 2
#: Seconds until a machine runs, and until one that was given up is gone.
BOOTS, STOPS = 40, 30

CONFIG = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers:
  - gce: {gce}
{settings}
"""


def _node(cpu, capacity, allocatable, **devices):
    """What a node of GKE reports of a machine: capacity, allocatable."""
    disk = {"pods": 110, "ephemeral-storage": 98831908 * _KI, "attachable-volumes-gce-pd": 127, **devices}
    return (
        {"cpu": 1000 * -(-cpu // 1000), "memory": capacity * _KI, **disk},
        {"cpu": cpu, "memory": allocatable * _KI, **disk, "ephemeral-storage": 47060071478},
    )


#: Figures of real machines, but for the first, which follows from them.
NODES = {
    "e2-standard-2": _node(1930, 8152743, 6187687),
    "n1-standard-4": _node(3920, 15399244, 12699980),
    "n2-standard-8": _node(7910, 32944200, 29149256),
    "a2-highgpu-1g": _node(11875, 87519172, 80000000, **{"nvidia.com/gpu": 1}),
}


@dataclass
class Looks:
    """What the machines of a group bring to their nodes."""

    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()

    def kube_env(self, machine_type):
        """The variables of a node pool of GKE."""
        capacity, allocatable = NODES[machine_type]
        cpu, memory = (capacity[each] - allocatable[each] for each in ("cpu", "memory"))
        variables = {
            "os": "linux",
            "os_distribution": "cos",
            # The kubelet takes 100 MiB more, below which it evicts pods.
            "kube_reserved": f"cpu={cpu}m,memory={memory // _KI - 100 * 1024}Ki",
            "node_labels": ",".join(f"{key}={value}" for key, value in self.labels.items()),
            "node_taints": ",".join(f"{each.key}={each.value}:{each.effect}" for each in self.taints),
        }
        told = ";".join(f"{key}={value}" for key, value in variables.items() if value)
        return {"KUBERNETES_MASTER": "false", "AUTOSCALER_ENV_VARS": told}


class GceLife(Life):
    """A cluster whose machines come from Google Cloud, and an autoscaler in it."""

    def __init__(self, world, double, gce, *arguments):
        self.double = double
        #: Further settings of the provider.
        self.gce = gce
        self.looks = {}
        #: Names of nodes by the ids of their machines, which outlast no repair, unlike their names.
        self.registered = {}
        double.boots(BOOTS, stops=STOPS)
        world.agenda.after(_PACE, self._look)
        super().__init__(world, *arguments)

    def configuration(self, settings):
        """The text of the configuration."""
        rule = {"namePrefix": PREFIX, "min": 0, "max": 10}
        gce = self.double.config(zones=ZONES, discover=[rule], **self.gce)
        return CONFIG.format(gce=json.dumps(gce), settings=settings)

    def make_mig(self, name, *, labels=None, taints=(), machine_type="e2-standard-2", **fields):
        """Make a group that the autoscaler finds if its name begins so; its template tells of labels and taints."""
        looks = self.looks[name] = Looks(labels=labels or {}, taints=tuple(taints))
        return self.double.make_mig(name, machine_type=machine_type, kube_env=looks.kube_env(machine_type), **fields)

    def sizes(self):
        """Wanted machines by group, without those of size 0."""
        migs = {name: self.double.mig(name).target for name in self.looks if self._is_there(name)}
        return {name: size for name, size in migs.items() if size}

    def check_limits(self):
        """No group is asked for more than its maximum, and nobody has tried."""
        assert all(0 <= size <= 10 for size in self.sizes().values())
        assert not any("its maximum is" in line for line in self.diary.against_limits)

    def run_out(self, pool, **fields):
        """Let Google have no machines of a pool."""
        self.double.run_out(pool, **fields)

    def orders(self, *verbs):
        """All changes of groups that were asked for, or those of some kinds: kind and body, oldest first."""
        verbs = verbs or ("create_instances", "delete_instances", "resize")
        requests = [each for each in self.double.requests if each.call.resource.endswith("instance_group_managers")]
        return [(each.call.verb, json.loads(each.body or "{}")) for each in requests if each.call.verb in verbs]

    @property
    def created(self):
        """Names of all machines that were ever ordered, as often as they were."""
        return [instance["name"] for _, body in self.orders("create_instances") for instance in body["instances"]]

    @property
    def deleted(self):
        """Names of all machines whose deletion was ever asked for, as often as it was."""
        return [url.rpartition("/")[2] for _, body in self.orders("delete_instances") for url in body["instances"]]

    def _is_there(self, name):
        try:
            self.double.mig(name)
        except KeyError:
            return False
        return True

    def _look(self):
        """Do what kubelets and the cloud controller do."""
        running = {machine.id: machine for machine in self.double.machines() if machine.status == "RUNNING"}
        for number in self.registered.keys() - running.keys():
            self.world.controllers.kubelets.shut_down(self.registered.pop(number))
        for number, machine in running.items():
            if number not in self.registered and machine.group:
                self.registered[number] = machine.name
                self.world.controllers.kubelets.boot(self._kubelet(machine))
        self.world.agenda.after(_PACE, self._look)

    def _kubelet(self, machine):
        capacity, allocatable = NODES[machine.pool.machine_type]
        looks = self.looks[machine.group]
        return Host(
            id=machine.provider_id,
            name=machine.name,
            group=machine.group,
            zone=machine.pool.zone,
            instance_type=machine.pool.machine_type,
            labels={"topology.gke.io/zone": machine.pool.zone, **looks.labels},
            taints=looks.taints,
            capacity=capacity,
            allocatable=allocatable,
        )
