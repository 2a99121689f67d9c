"""The status of PodDisruptionBudgets: how many pods may be disrupted now."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Object, Store, read_timestamp
from nodewright_fake.controllers.conditions import with_condition
from nodewright_fake.controllers.pods import Key, Owner, PodIndex, controller_of, is_leaving, is_ready, key_of
from nodewright_fake.controllers.reconciler import MALFORMED, Reconciler
from nodewright_fake.controllers.selectors import Selector, labels_of, read_selector, selects
from nodewright_fake.controllers.workloads.status import observed, portion

RESOURCE = "poddisruptionbudgets.policy"
#: How long an eviction that was granted counts when no deletion is seen.
GRANTED = timedelta(minutes=2)
#: The resources with a number of replicas, by the kind that pods and ReplicaSets name as their controller.
_SCALED = {
    "Deployment": "deployments.apps",
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
    "ReplicationController": "replicationcontrollers",
}


@dataclass
class _Members:
    """The pods that a budget covers."""

    selector: Selector | None
    pods: dict[Key, None] = field(default_factory=dict)


class Budgets(Reconciler[Key]):
    """Counts the pods that are healthy and that should be, whenever a covered pod or its controller changes."""

    def __init__(self, store: Store, agenda: Agenda, pods: PodIndex) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._pods = pods
        self._members: defaultdict[str, dict[str, _Members]] = defaultdict(dict)
        self._awaited: set[tuple[str, str, str]] = set()

    def observe(self, change: Change) -> None:
        """Note the budgets that a change concerns."""
        namespace, name = key_of(change.object)
        if change.resource == RESOURCE:
            self._observe_budget(change)
        elif change.resource == "pods":
            for budget, members in self._members.get(namespace, {}).items():
                covered = (namespace, name) in members.pods
                covers = change.type != "DELETED" and selects(members.selector, labels_of(change.object))
                if covers:
                    members.pods[namespace, name] = None
                elif covered:
                    del members.pods[namespace, name]
                if covers or covered:
                    self._touched.add((namespace, budget))
        elif change.resource in _SCALED.values() and (
            change.before is None or _replicas(change.before) != _replicas(change.object)
        ):
            for budget in self._members.get(namespace, ()):
                self._touched.add((namespace, budget))

    def _observe_budget(self, change: Change) -> None:
        namespace, name = key_of(change.object)
        self._touched.add((namespace, name))
        if change.type == "DELETED":
            self._members[namespace].pop(name, None)
            return
        selector = _selector(change.object)
        known = self._members[namespace].get(name)
        if known is None or known.selector != selector:
            pods = [pod for pod in self._pods.in_namespace(namespace) if selects(selector, labels_of(pod))]
            self._members[namespace][name] = _Members(selector, dict.fromkeys(map(key_of, pods)))

    def sync(self, key: Key) -> None:
        """Write the status of a budget."""
        found = self.store.find(RESOURCE, key[1], key[0])
        members = self._members.get(key[0], {}).get(key[1])
        if found is None or members is None:
            return
        pods = [self.store.get("pods", name, namespace) for namespace, name in members.pods]
        disrupted = self._still_disrupted(found, pods)
        now = self.store.clock.now()
        try:
            expected, needed = self._demand(found, pods)
        except ValueError as error:
            status = observed(found, disruptionsAllowed=0)
            why, message, allowed = "SyncFailed", str(error), 0
        else:
            healthy = sum(
                is_ready(pod) and not is_leaving(pod) and pod["metadata"]["name"] not in disrupted for pod in pods
            )
            allowed = max(0, healthy - needed) if expected > 0 else 0
            status = observed(
                found, expectedPods=expected, currentHealthy=healthy, desiredHealthy=needed, disruptionsAllowed=allowed
            )
            why, message = ("SufficientPods" if allowed else "InsufficientPods"), ""
        status["disruptedPods"] = disrupted
        conditions = status.get("conditions") or []
        status["conditions"] = with_condition(conditions, now, "DisruptionAllowed", allowed > 0, why, message)
        self.store.update(RESOURCE, {**found, "status": status})

    def _demand(self, found: Object, pods: Collection[Object]) -> tuple[int, int]:
        """Return how many pods there should be, and how many of them have to be healthy."""
        spec = found["spec"]
        if (most := spec.get("maxUnavailable")) is not None:
            expected = self._expected(pods)
            return expected, max(0, expected - portion(most, expected, round_up=True))
        least = spec.get("minAvailable", 1)
        if isinstance(least, int):
            return len(pods), least
        expected = self._expected(pods)
        return expected, portion(least, expected, round_up=True)

    def _expected(self, pods: Collection[Object]) -> int:
        """Return how many pods the controllers of *pods* should have; pods without a controller do not count."""
        seen: set[str] = set()
        scales: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is None or owner.uid in seen:
                continue
            seen.add(owner.uid)
            holder = self._holder(owner, key_of(pod)[0])
            if holder is None:
                raise ValueError(f"{owner.kind} {owner.name} of pod {key_of(pod)[1]} has no number of replicas")
            above = controller_of(holder)
            top = self._holder(above, key_of(pod)[0]) if above is not None else None
            counted = top or holder
            scales[counted["metadata"]["uid"]] = _scale(counted)
        return sum(scales.values())

    def _holder(self, owner: Owner, namespace: str) -> Object | None:
        resource = _SCALED.get(owner.kind)
        found = self.store.find(resource, owner.name, namespace) if resource else None
        return found if found is not None and found["metadata"]["uid"] == owner.uid else None

    def _still_disrupted(self, found: Object, pods: Collection[Object]) -> Object:
        """Return the granted evictions whose pods are still to be deleted, without those that took too long."""
        granted: Object = (found.get("status") or {}).get("disruptedPods") or {}
        waiting = {pod["metadata"]["name"] for pod in pods if not is_leaving(pod)}
        now = self.store.clock.now()
        kept = {}
        for name, since in granted.items():
            until = read_timestamp(since) + GRANTED
            if name in waiting and now < until:
                kept[name] = since
                if (found["metadata"]["uid"], name, since) not in self._awaited:
                    self._awaited.add((found["metadata"]["uid"], name, since))
                    self._agenda.at(until, lambda: self.touch(key_of(found)))
        return kept


def _selector(budget: Object) -> Selector | None:
    try:
        return read_selector((budget.get("spec") or {}).get("selector"))
    except MALFORMED:
        return None


def _replicas(item: Object) -> Any:
    return (item.get("spec") or {}).get("replicas", 1)


def _scale(item: Object) -> int:
    return int(_replicas(item))
