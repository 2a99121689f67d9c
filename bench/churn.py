"""Churn: pods that come and go, and heartbeats of nodes, at a steady rate."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from threading import Event, Thread
from time import monotonic
from typing import Self

from nodewright_fake.apiserver.store import Object, Store, timestamp

from bench.served import space_of, template_of

_APPS = 20
#: So many pods are in the middle of their lives at any time.
_ALIVE = 700
#: Kubelets of well nodes write their status every five minutes.
_BEAT_SECONDS = 300.0


@dataclass(kw_only=True)
class _Life:
    """A pod, and the stage of its life."""

    name: str
    namespace: str
    model: Object
    node: str
    step: int = 0


class Churn:
    """Makes *rate* changes of pods per second in the ``with`` block, plus the nodes' heartbeats.

    Each pod is created, bound, set up, ready, asked to end, ended and gone: seven changes, as in real clusters.
    """

    def __init__(self, store: Store, nodes: Sequence[str], rate: float) -> None:
        #: How many changes of pods were made.
        self.changes = 0
        self._store = store
        self._rate = rate
        self._beats = len(nodes) / _BEAT_SECONDS
        self._nodes = cycle(nodes)
        self._beating = cycle(nodes)
        self._models = [template_of(app) for app in range(_APPS)]
        self._lives: deque[_Life] = deque()
        self._ended = Event()
        self._thread = Thread(target=self._run, name="churn", daemon=True)
        self._steps: tuple[Callable[[_Life], object], ...] = (
            self._create,
            self._bind,
            lambda life: self._change(life, _set_up),
            lambda life: self._change(life, _run(life.model)),
            lambda life: self._store.delete("pods", life.name, life.namespace),
            lambda life: self._change(life, _end),
            lambda life: self._store.delete("pods", life.name, life.namespace, grace_seconds=0),
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        began, beats = monotonic(), 0
        while not self._ended.wait(max(0.0, began + self.changes / self._rate - monotonic())):
            self._go_on()
            self.changes += 1
            if beats < (monotonic() - began) * self._beats:
                beats += 1
                self._beat(next(self._beating))

    def _go_on(self) -> None:
        life = self._lives.popleft() if len(self._lives) >= _ALIVE else self._born()
        self._steps[life.step](life)
        life.step += 1
        if life.step < len(self._steps):
            self._lives.append(life)

    def _born(self) -> _Life:
        app = self.changes % _APPS
        name = f"app-{app}-6d4cf56db6-c{self.changes:07}"
        return _Life(name=name, namespace=space_of(app), model=self._models[app], node=next(self._nodes))

    def _create(self, life: _Life) -> None:
        metadata = {**life.model["metadata"], "name": life.name, "namespace": life.namespace}
        spec = {key: value for key, value in life.model["spec"].items() if key != "nodeName"}
        requests = {"requests": {"cpu": "100m", "memory": "128Mi"}}
        spec["containers"] = [{**container, "resources": requests} for container in spec["containers"]]
        self._store.create("pods", {**life.model, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}})

    def _bind(self, life: _Life) -> None:
        def bound(draft: Object) -> None:
            draft["spec"]["nodeName"] = life.node
            draft["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]

        self._change(life, bound)

    def _change(self, life: _Life, change: Callable[[Object], None]) -> None:
        self._store.modify("pods", life.name, life.namespace, change)

    def _beat(self, node: str) -> None:
        def beat(draft: Object) -> None:
            now = timestamp(self._store.clock.now())
            for condition in draft["status"]["conditions"]:
                condition["lastHeartbeatTime"] = now

        self._store.modify("nodes", node, "", beat)


def _set_up(draft: Object) -> None:
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    draft["status"]["containerStatuses"] = [{"name": "main", "ready": False, "state": waiting}]


def _run(model: Object) -> Callable[[Object], None]:
    def run(draft: Object) -> None:
        draft["status"] = model["status"]

    return run


def _end(draft: Object) -> None:
    ended = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    draft["status"] = {**draft["status"], "containerStatuses": [{"name": "main", "ready": False, "state": ended}]}
