"""The kubelets of all machines: they register nodes, start, end and complete pods."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.nodes import pod_status, registration
from nodewright_fake.controllers.pods import Key, PodIndex, is_finished, is_leaving, key_of, node_of, phase_of
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.host import READY_SECONDS, Host

#: Annotations of pods: how long they run before they end by themselves, with which exit code, and how long they
#: take to stop when they are deleted.
RUN_SECONDS = "fake.nodewright.dev/run-seconds"
EXIT_CODE = "fake.nodewright.dev/exit-code"
STOP_SECONDS = "fake.nodewright.dev/stop-seconds"

START_SECONDS = 1.0
DEFAULT_STOP_SECONDS = 1.0


@dataclass
class _Run:
    """A pod's stay on its node: when what is due."""

    uid: str
    moments: dict[str, datetime] = field(default_factory=dict)


class Kubelets(Reconciler[Key]):
    """Runs the pods that are bound to the nodes of booted machines. All methods belong to the world's thread."""

    def __init__(self, store: Store, agenda: Agenda, pods: PodIndex) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._pods = pods
        #: Addresses of the nodes whose kubelet runs.
        self._alive: dict[str, str] = {}
        self._runs: dict[Key, _Run] = {}
        self._node_numbers = count(1)
        self._pod_numbers = count(1)

    def boot(self, machine: Host) -> Object:
        """Register the machine's node; it becomes ready ``machine.ready_after`` seconds later. Returns the node."""
        address = _address(10, next(self._node_numbers))
        now = self.store.clock.now()
        with self.store.lock:
            node = self.store.create("nodes", registration.register(machine, address, now))
            self._alive[machine.name] = address
            self._touch_pods_on(machine.name)
        if machine.ready_after is not None:
            uid = node["metadata"]["uid"]
            self._agenda.after(machine.ready_after, lambda: self._become_ready(machine.name, uid))
        return node

    def shut_down(self, node_name: str) -> None:
        """Take the machine away: its node is deleted, as a cloud controller does, and its pods with it.

        Nothing happens if there is no such node.
        """
        with self.store.lock:
            self._alive.pop(node_name, None)
            if self.store.find("nodes", node_name) is not None:
                self.store.delete("nodes", node_name)

    def adopt(self, node: Object) -> None:
        """Run the pods of a *node* that someone else made. It becomes ready some seconds later, if it is not yet."""
        name, now = node["metadata"]["name"], self.store.clock.now()
        with self.store.lock:
            known = registration.complete(node, _address(10, next(self._node_numbers)), now)
            self._alive[name] = registration.address_of(known)
            self.store.update("nodes", known)
            self._touch_pods_on(name)
        uid = node["metadata"]["uid"]
        self._agenda.after(READY_SECONDS, lambda: self._become_ready(name, uid))

    def abandon(self, node_name: str) -> None:
        """Let the kubelet of an adopted node end."""
        self._alive.pop(node_name, None)

    def stop_reporting(self, node_name: str) -> None:
        """Cut the kubelet off: its node's conditions become Unknown and it acts no more. Raises `StatusError` 404."""
        now = self.store.clock.now()
        with self.store.lock:
            node = self.store.get("nodes", node_name)
            self._alive.pop(node_name, None)
            conditions = registration.unknown(node["status"]["conditions"], now)
            self.store.update("nodes", registration.with_conditions(node, conditions))
            for pod in self._pods.on_node(node_name):
                if not is_finished(pod):
                    self.store.update("pods", pod_status.silent(pod, now))

    def resume_reporting(self, node_name: str) -> None:
        """Let the kubelet act again: its node is ready and its pods serve. Raises `StatusError` 404."""
        now = self.store.clock.now()
        with self.store.lock:
            node = self.store.get("nodes", node_name)
            self._alive[node_name] = registration.address_of(node)
            self._become_ready(node_name, node["metadata"]["uid"])
            for pod in self._pods.on_node(node_name):
                if phase_of(pod) == "Running":
                    self.store.update("pods", pod_status.ready_again(pod, now))
            self._touch_pods_on(node_name)

    def observe(self, change: Change) -> None:
        """Note a pod that is on a node."""
        if change.resource == "pods" and node_of(change.object):
            self._touched.add(key_of(change.object))

    def sync(self, key: Key) -> None:
        """Do what is due for a pod, and see to it that what comes next is looked at in time."""
        pod = self.store.find("pods", key[1], key[0])
        if pod is None:
            self._runs.pop(key, None)
            return
        if node_of(pod) not in self._alive or is_finished(pod):
            return
        run = self._runs.get(key)
        if run is None or run.uid != pod["metadata"]["uid"]:
            run = self._runs[key] = _Run(pod["metadata"]["uid"])
        now = self.store.clock.now()
        if is_leaving(pod):
            grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
            seconds = min(float(grace), _seconds(pod, STOP_SECONDS, DEFAULT_STOP_SECONDS))
            if self._is_due(key, run, f"stop within {grace}", seconds):
                self.store.delete("pods", key[1], key[0], grace_seconds=0)
        elif phase_of(pod) == "Pending":
            if self._is_due(key, run, "start", START_SECONDS):
                address = _address(100, next(self._pod_numbers))
                host = self._alive[node_of(pod)]
                self.store.update("pods", pod_status.running(pod, now, host_address=host, pod_address=address))
        elif (ends := _seconds(pod, RUN_SECONDS, -1)) >= 0 and self._is_due(key, run, "end", ends):
            self.store.update("pods", pod_status.ended(pod, now, int(_seconds(pod, EXIT_CODE, 0))))

    def _is_due(self, key: Key, run: _Run, what: str, seconds: float) -> bool:
        now = self.store.clock.now()
        moment = run.moments.get(what)
        if moment is None:
            moment = run.moments[what] = now + timedelta(seconds=seconds)
            if moment > now:
                self._agenda.at(moment, lambda: self.touch(key))
        return moment <= now

    def _become_ready(self, name: str, uid: str) -> None:
        with self.store.lock:
            node = self.store.find("nodes", name)
            if name in self._alive and node is not None and node["metadata"]["uid"] == uid:
                conditions = registration.ready(node["status"]["conditions"], self.store.clock.now())
                self.store.update("nodes", registration.with_conditions(node, conditions))

    def _touch_pods_on(self, node_name: str) -> None:
        for pod in self._pods.on_node(node_name):
            self.touch(key_of(pod))


def _seconds(pod: Object, annotation: str, default: float) -> float:
    text = (pod["metadata"].get("annotations") or {}).get(annotation)
    try:
        return default if text is None else float(text)
    except ValueError:
        raise ValueError(f"annotation {annotation} is {text!r}: write a number") from None


def _address(network: int, number: int) -> str:
    return f"10.{network + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


_log = logging.getLogger(__name__)


class KubeletHosts:
    """Lets kubelets follow the cloud. What the API server refuses, such as a node that is gone, is only logged."""

    def __init__(self, kubelets: Kubelets) -> None:
        self._kubelets = kubelets

    def boot(self, machine: Host) -> None:
        """Register the machine's node."""
        self._try(machine.name, lambda: self._kubelets.boot(machine))

    def shut_down(self, node_name: str) -> None:
        """Take the machine away, and its node with it."""
        self._try(node_name, lambda: self._kubelets.shut_down(node_name))

    def stop_reporting(self, node_name: str) -> None:
        """Stop the machine's kubelet from reporting."""
        self._try(node_name, lambda: self._kubelets.stop_reporting(node_name))

    def resume_reporting(self, node_name: str) -> None:
        """Let the machine's kubelet report again."""
        self._try(node_name, lambda: self._kubelets.resume_reporting(node_name))

    @staticmethod
    def _try(node_name: str, action: Callable[[], object]) -> None:
        try:
            action()
        except StatusError as error:
            _log.warning("machine %s: %s", node_name, error)
