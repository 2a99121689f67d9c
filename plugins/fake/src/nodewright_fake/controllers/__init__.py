"""The actors of the embedded cluster: scheduler, kubelets and the controllers of workloads, nodes and budgets.

Each looks only at what changed since it looked last, so that the cost follows the changes and not the cluster's size.
"""

from dataclasses import dataclass
from typing import Protocol

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.budgets import Budgets
from nodewright_fake.controllers.events import EventExpiry
from nodewright_fake.controllers.garbage import GarbageCollector, Namespaces, OrphanedPods
from nodewright_fake.controllers.nodes.adoption import NodeAdoption
from nodewright_fake.controllers.nodes.eviction import TaintEviction
from nodewright_fake.controllers.nodes.kubelets import Kubelets
from nodewright_fake.controllers.nodes.lifecycle import MONITOR_PERIOD, NodeLifecycle
from nodewright_fake.controllers.pods import PodIndex
from nodewright_fake.controllers.scheduling.scheduler import Scheduler
from nodewright_fake.controllers.workloads.daemonsets import DaemonSets
from nodewright_fake.controllers.workloads.deployments import Deployments
from nodewright_fake.controllers.workloads.jobs import Jobs
from nodewright_fake.controllers.workloads.replicasets import ReplicaSets, ReplicationControllers
from nodewright_fake.controllers.workloads.statefulsets import StatefulSets

__all__ = ["Controller", "Controllers", "Kubelets", "Scheduler", "build_controllers"]

#: What the controllers act on; what the store holds of these when they are built counts as new to them.
_RESOURCES = (
    "namespaces",
    "nodes",
    "priorityclasses.scheduling.k8s.io",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "replicationcontrollers",
    "pods",
    "poddisruptionbudgets.policy",
    "events",
)


class Controller(Protocol):
    """One actor. Both methods are quick; `reconcile` runs on the world's thread only."""

    def observe(self, change: Change) -> None:
        """Note what to look at. Called with the store locked: must not write."""
        ...

    def reconcile(self) -> bool:
        """Do what is due; return whether anything was written. Called until no controller writes any more."""
        ...


@dataclass(frozen=True, kw_only=True)
class Controllers:
    """All actors of one cluster, in the order in which they are to reconcile."""

    all: tuple[Controller, ...]
    kubelets: Kubelets


def build_controllers(
    store: Store, agenda: Agenda, *, adopt: bool = False, node_monitor_period: float = MONITOR_PERIOD
) -> Controllers:
    """Return the actors of a cluster, subscribed to *store*. With *adopt*, they run nodes that others make, too.

    NoExecute taints of nodes follow their state every *node_monitor_period* seconds, or at once if it is 0.
    """
    pods = PodIndex()
    kubelets = Kubelets(store, agenda, pods)
    controllers: tuple[Controller, ...] = (
        Namespaces(store),
        GarbageCollector(store),
        *((NodeAdoption(store, kubelets),) if adopt else ()),
        NodeLifecycle(store, agenda, node_monitor_period),
        OrphanedPods(store, agenda, pods),
        TaintEviction(store, agenda, pods),
        Deployments(store, pods),
        ReplicaSets(store, pods),
        ReplicationControllers(store, pods),
        StatefulSets(store, pods),
        DaemonSets(store),
        Jobs(store, agenda, pods),
        Scheduler(store),
        kubelets,
        Budgets(store, agenda, pods),
        EventExpiry(store, agenda),
    )
    observers = (pods.observe, *(controller.observe for controller in controllers))
    with store.lock:
        for observe in observers:
            store.subscribe(observe)
        for resource in _RESOURCES:
            for item in store.list(resource):
                version = int(item["metadata"]["resourceVersion"])
                known = Change(version=version, type="ADDED", resource=resource, object=item, before=None)
                for observe in observers:
                    observe(known)
    return Controllers(all=controllers, kubelets=kubelets)
