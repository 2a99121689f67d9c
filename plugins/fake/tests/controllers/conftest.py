"""A cluster without HTTP: store, agenda and controllers, driven by hand."""

from datetime import timedelta
from itertools import count

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Object, Store
from nodewright_fake.controllers import build_controllers
from nodewright_fake.host import Host

GIB = 1024**3


class Cluster:
    """Store and controllers on a stepped clock, with builders for what tests put into it."""

    def __init__(self, **options: float) -> None:
        self.clock = SteppedClock()
        self.store = Store(self.clock)
        self.agenda = Agenda(self.clock)
        self.controllers = build_controllers(self.store, self.agenda, **options)
        self.kubelets = self.controllers.kubelets
        self._numbers = count(1)

    def settle(self) -> None:
        """Let everybody act until nobody has anything to do at this moment."""
        for _ in range(1000):
            due = self.agenda.run_due()
            wrote = [controller.reconcile() for controller in self.controllers.all]
            if not due and not any(wrote):
                return
        pytest.fail("the controllers never come to rest")

    def advance(self, seconds: float) -> None:
        """Let time pass, and everything happen at its moment."""
        end = self.clock.now() + timedelta(seconds=seconds)
        self.settle()
        while (moment := self.agenda.next_moment) is not None and moment <= end:
            self.clock.advance(max(0.0, (moment - self.clock.now()).total_seconds()))
            self.settle()
        self.clock.advance((end - self.clock.now()).total_seconds())
        self.settle()

    def machine(self, name: str = "", **fields: object) -> Host:
        """A machine with 4 cores, 16 GiB and room for 110 pods, ready at once."""
        name = name or f"node-{next(self._numbers)}"
        defaults = {
            "id": f"fake://eu-a/{name}",
            "name": name,
            "group": "workers",
            "zone": "eu-a",
            "instance_type": "m4",
            "capacity": {"cpu": 4000, "memory": 16 * GIB, "pods": 110},
            "ready_after": 0,
        }
        return Host(**{**defaults, **fields})

    def boot(self, name: str = "", **fields: object) -> str:
        """Boot such a machine; returns the name of its node."""
        node = self.kubelets.boot(self.machine(name, **fields))
        self.settle()
        return node["metadata"]["name"]

    def pod(
        self, name: str = "", *, namespace: str = "default", spec: Object | None = None, **fields: object
    ) -> Object:
        """Create a pod; keyword arguments are labels, annotations, cpu, memory and owner."""
        requests = {key: fields[key] for key in ("cpu", "memory") if key in fields}
        metadata = {
            "name": name or f"pod-{next(self._numbers)}",
            "namespace": namespace,
            "labels": fields.get("labels", {}),
            "annotations": fields.get("annotations", {}),
        }
        container = {"name": "main", "image": "app", "resources": {"requests": requests}}
        return self.store.create(
            "pods",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": metadata,
                "spec": {"containers": [container], **(spec or {})},
                "status": {"phase": "Pending"},
            },
        )

    def workload(self, kind: str, name: str = "web", *, template: Object | None = None, **spec: object) -> Object:
        """Create a workload of the apps or batch group, whose pods are labelled ``app: <name>``."""
        group, resource = ("batch", "jobs.batch") if kind == "Job" else ("apps", f"{kind.lower()}s.apps")
        labels = {"app": name}
        pod = {"containers": [{"name": "main", "image": "app"}], **(template or {})}
        annotations = pod.pop("annotations", {})
        return self.store.create(
            resource,
            {
                "apiVersion": f"{group}/v1",
                "kind": kind,
                "metadata": {"name": name, "namespace": "default"},
                "spec": {
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": pod},
                    **spec,
                },
            },
        )

    def pods(self, app: str = "") -> list[Object]:
        """All pods that are not on their way out, or those labelled ``app: <app>``."""
        found = [pod for pod in self.store.list("pods") if "deletionTimestamp" not in pod["metadata"]]
        return [pod for pod in found if not app or (pod["metadata"].get("labels") or {}).get("app") == app]

    def get_pod(self, name: str) -> Object:
        """The pod of that name in the default namespace."""
        return self.store.get("pods", name, "default")

    def node_of(self, name: str) -> str:
        """Where a pod of the default namespace runs."""
        return self.get_pod(name)["spec"].get("nodeName", "")

    def condition(self, resource: str, name: str, kind: str, namespace: str = "default") -> Object:
        """A condition of an object."""
        found = self.store.get(resource, name, namespace)
        return next(entry for entry in found["status"]["conditions"] if entry["type"] == kind)

    def why(self, name: str) -> str:
        """Why a pod of the default namespace waits."""
        condition = self.condition("pods", name, "PodScheduled")
        assert condition["status"] == "False"
        return condition["message"]

    def edit(self, resource: str, name: str, namespace: str = "default", **spec: object) -> None:
        """Change fields of an object's spec."""
        self.store.modify(resource, name, namespace, lambda item: item["spec"].update(spec))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()
