"""How the world of a scenario goes on after a decision: what it orders comes, fails or is late, and time passes.

All of it is plain JSON, and chance that goes by the scenario's name: equal decisions have equal consequences, different
ones may have others. Constraints of pods are nobody's business here: a picture may be odd, and is decided about as any.
"""

from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.parity.generated.dice import Dice, stamp
from tests.parity.generated.groups import DELETION_CANDIDATE, TO_BE_DELETED, node_like, random_error

#: As a decision or a scenario that was read from JSON.
Json = dict[str, Any]

_PAUSES = (10, 10, 10, 30, 60, 150, 330, 660, 960, 1860)
_UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
_NEVER_MOVED = ("DaemonSet", "Node")
_SUFFIXES = {"m": 0.001, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "k": 1e3, "M": 1e6, "G": 1e9}


class Life:
    """A scenario that goes on."""

    def __init__(self, name: str, document: Json) -> None:
        #: The scenario as it is now.
        self.document = deepcopy(document)
        self.now = _time(document["now"])
        #: The size that each group was to get by a call that is not answered yet.
        self.held: dict[str, int] = {}
        #: Whether all is seen for the first time, as the process was restarted.
        self.reborn = False
        #: Whether its end came before it heard what became of its last decision.
        self.killed = False
        #: How many seconds it took at most until a mark was seen, if any was set.
        self.taint_latency: float | None = None
        self._dice = Dice(f"life of {name}")
        self._number = 0
        self._outcomes: list[Json] = []
        self._late: list[Json] = []
        self._spell_out()

    def carry_out(self, decision: Json) -> list[Json]:
        """Do what *decision* says, as far as it succeeds, and return the outcomes; calls that hang have none."""
        outcomes: list[Json] = []
        for action, act in (
            ("restore", self._restore),
            ("shrink", self._shrink),
            ("grow", self._grow),
            ("delete", self._delete),
            ("drain", self._drain),
            ("evict", self._evict),
        ):
            for each in decision[action]:
                outcomes += act(each)
        for each in decision["soft_untaint"]:
            self._untaint(each["node"], DELETION_CANDIDATE)
        for each in decision["soft_taint"]:
            if self._dice.chance(80):
                self._untaint(each["node"], DELETION_CANDIDATE)
                self._taint(each["node"], DELETION_CANDIDATE, _time(each["since"]), "PreferNoSchedule")
        self._outcomes += outcomes
        return outcomes

    def forget_growth(self) -> None:
        """Tell nobody later how growth went: a decision on what else to grow was told."""
        self._outcomes = [each for each in self._outcomes if each["action"] != "grow"]

    def hear(self) -> list[Json]:
        """Return, once, the outcomes of the last decision and of calls of those before that have ended since."""
        heard, self._outcomes = self._outcomes, []
        return heard

    def go_on(self, decision: Json) -> None:
        """Let time pass after *decision*: machines come, pods find places, and something else happens."""
        self.reborn = self._dice.chance(40 if self.held else 8)
        self.killed = self._dice.chance(70)
        self.now += self._pause(decision)
        self.document["now"] = self.now.isoformat()
        self._outcomes += self._late
        self._late, self.held = [], {}
        for group in self.document["nodeGroups"]:
            self._age(group)
        for pod in [pod for pod in self._pods if "deletionTimestamp" in pod["metadata"]]:
            if self.now > _time(pod["metadata"]["deletionTimestamp"]) and self._dice.chance(85):
                self._remove_pod(pod)
        self._schedule(decision["pods"])
        for _ in range(self._dice.pick((0, 1, 1, 2))):
            self._happen()

    # what actions do

    def _restore(self, restore: Json) -> Iterator[Json]:
        if self._dice.chance(10):
            yield self._outcome("restore", restore["node"], error="conflict", temporary=True)
            return
        self._untaint(restore["node"], TO_BE_DELETED)
        node = self._node(restore["node"])
        if node is not None:
            node["spec"]["unschedulable"] = False
        yield self._outcome("restore", restore["node"])

    def _shrink(self, shrink: Json) -> Iterator[Json]:
        if self._dice.chance(15):
            yield self._outcome("shrink", shrink["group"], error="would need a deletion")
            return
        self._group(shrink["group"])["targetSize"] -= shrink["count"]
        yield self._outcome("shrink", shrink["group"])

    def _grow(self, grow: Json) -> Iterator[Json]:
        name, count = grow["group"], grow["count"]
        fate = self._dice.number(1, 100)
        if fate <= 72:
            self._enlarge(name, count)
            yield self._outcome("grow", name)
        elif fate <= 86:
            cause = self._cause() if self._dice.chance(70) else None
            yield self._outcome("grow", name, error="refused", cause=cause)
        elif fate <= 93:
            if self._dice.chance(50):
                self._enlarge(name, count)
            yield self._outcome("grow", name, error="no answer", temporary=True)
        elif fate <= 97:
            # The call hangs; the next loop hears of its end.
            taken = self._dice.chance(60)
            if taken:
                self._enlarge(name, count)
            self.held[name] = grow["from_size"] + count
            self._late.append(self._outcome("grow", name, error="" if taken else "refused in the end"))

    def _delete(self, delete: Json) -> Iterator[Json]:
        target = delete["nodes"][0] if delete["nodes"] else delete["group"]
        if self._dice.chance(12):
            temporary = self._dice.chance(50)
            yield self._outcome("delete-instances", target, error="throttled", temporary=temporary)
            return
        group, going = self._group(delete["group"]), set(delete["instances"])
        group["targetSize"] = max(0, group["targetSize"] - len(going))
        for instance in list(group["instances"]):
            if instance["id"] not in going:
                continue
            if self._dice.chance(50):
                self._remove_instance(group, instance)
            else:
                instance["state"] = "Deleting"
                instance.pop("error", None)
        if self._dice.chance(97):
            yield self._outcome("delete-instances", target)

    def _drain(self, drain: Json) -> Iterator[Json]:
        if self._dice.chance(8):
            yield self._outcome("drain", drain["node"], error="conflict", temporary=True)
            return
        node = self._node(drain["node"])
        if node is not None and self._dice.chance(95):
            node["spec"]["unschedulable"] = True
            self._taint(drain["node"], TO_BE_DELETED, self.now, "NoSchedule")
            self.taint_latency = max(self.taint_latency or 0, self._dice.pick((0.1, 2, 20)))
        yield self._outcome("drain", drain["node"])

    def _evict(self, evict: Json) -> Iterator[Json]:
        for key, grace in evict["pods"].items():
            pod = next((pod for pod in self._pods if _key(pod) == key), None)
            if pod is None:
                continue
            if self._dice.chance(15):
                yield self._outcome("evict", key, error="disruption budget", temporary=True)
                continue
            if self._dice.chance(60):
                self._remove_pod(pod)
            else:
                pod["metadata"]["deletionTimestamp"] = stamp(self.now + timedelta(seconds=grace))
            if self._owner(pod).get("kind", "") not in ("", *_NEVER_MOVED) and self._dice.chance(80):
                self._add_waiting(pod)
            yield self._outcome("evict", key)

    # what time does

    def _pause(self, decision: Json) -> timedelta:
        if self.reborn and self._dice.chance(50):
            return timedelta(seconds=self._dice.pick((3, 8)))
        if decision["again"] and self._dice.chance(55):
            return max(_time(decision["again"]) - self.now, timedelta(seconds=1))
        if decision["evict"] or decision["drain"]:
            return timedelta(seconds=self._dice.pick((5, 10, 10, 40)))
        return timedelta(seconds=self._dice.pick(_PAUSES))

    def _age(self, group: Json) -> None:
        """Bring the machines of *group* a step further."""
        registered = {node["spec"]["providerID"] for node in self._nodes}
        for instance in list(group["instances"]):
            if instance["state"] == "Deleting":
                if self._dice.chance(60):
                    self._remove_instance(group, instance)
            elif "error" in instance or instance["id"] in registered:
                continue
            elif self._dice.chance(8):
                instance |= {"state": "Creating", "error": random_error(self._dice)}
            elif self._dice.chance(55):
                instance["state"] = "Running"
                self._register(group, instance)
        for node in self._nodes:
            condition = node["status"]["conditions"][0] if node["status"].get("conditions") else {}
            if condition.get("status") == "False" and self._dice.chance(50):
                condition |= {"status": "True", "lastTransitionTime": stamp(self.now)}

    def _register(self, group: Json, instance: Json) -> None:
        """Let a node appear for a machine, like the group's others."""
        siblings = [node for node in self._nodes if self.document["nodeToGroup"].get(_name(node)) == group["id"]]
        model = group.get("template") or (siblings[0] if siblings else None)
        if model is None:
            return
        bare = {
            "metadata": {"labels": dict(model["metadata"].get("labels") or {})},
            "spec": {},
            "status": {key: deepcopy(model["status"].get(key) or {}) for key in ("capacity", "allocatable")},
        }
        if group.get("template", {}).get("spec", {}).get("taints"):
            bare["spec"]["taints"] = deepcopy(group["template"]["spec"]["taints"])
        name = instance["id"].rpartition("/")[2]
        node = node_like(bare, name, self.now, self.now if self._dice.chance(65) else None)
        node["spec"]["providerID"] = instance["id"]
        node["spec"].setdefault("taints", [])
        self._nodes.append(node)
        self.document["nodeToGroup"][name] = group["id"]
        gpu = group.get("gpu")
        if gpu:
            self.document.setdefault("gpus", {})[name] = dict(gpu)

    def _schedule(self, verdicts: Json) -> None:
        """Put pods that wait onto nodes with room for them, those first that are said to fit."""
        waiting = [pod for pod in self._pods if not pod["spec"].get("nodeName") and _is_unschedulable(pod)]
        waiting.sort(key=lambda pod: verdicts.get(_key(pod), {}).get("reason") != "Fits")
        free = {_name(node): _amounts(node["status"].get("allocatable")) for node in self._nodes if _takes_pods(node)}
        for pod in self._pods:
            host = pod["spec"].get("nodeName")
            if host in free and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
                _subtract(free[host], _requests(pod))
        for pod in waiting:
            if not self._dice.chance(60):
                continue
            wanted = _requests(pod)
            fitting = [name for name, room in free.items() if all(room.get(key, 0) >= wanted[key] for key in wanted)]
            if fitting:
                host = self._dice.pick(fitting)
                _subtract(free[host], wanted)
                pod["spec"]["nodeName"] = host
                pod["status"] = {"phase": "Running"}

    def _happen(self) -> None:
        """Let one thing happen that nobody ordered."""
        event = self._dice.pick(
            (
                self._new_pods,
                self._new_pods,
                self._end_pods,
                self._end_pods,
                self._fall_ill,
                self._annotate,
                self._trouble_cloud,
                self._spend_budgets,
                self._vanish,
                self._change_template,
                self._resize,
                self._crowd,
                self._crowd,
            )
        )
        event()

    def _new_pods(self) -> None:
        models = [pod for pod in self._pods if self._owner(pod).get("kind") not in _NEVER_MOVED]
        for _ in range(self._dice.pick((1, 3, 8))):
            if models:
                self._add_waiting(self._dice.pick(models))

    def _end_pods(self) -> None:
        share = self._dice.pick((10, 50, 100))
        for pod in [pod for pod in self._pods if pod["spec"].get("nodeName")]:
            if self._dice.chance(share) and self._owner(pod).get("kind") not in _NEVER_MOVED:
                self._remove_pod(pod)

    def _fall_ill(self) -> None:
        share = self._dice.pick((20, 60))
        for node in self._nodes:
            if self._dice.chance(share):
                status = "Unknown" if self._dice.chance(50) else "False"
                conditions = [each for each in node["status"].get("conditions") or () if each["type"] != "Ready"]
                ready = {"type": "Ready", "status": status, "lastTransitionTime": stamp(self.now)}
                node["status"]["conditions"] = [ready, *conditions]

    def _annotate(self) -> None:
        if self._nodes:
            key, value = self._dice.pick(
                (
                    ("cluster-autoscaler.kubernetes.io/scale-down-disabled", "true"),
                    ("nodewright.dev/do-not-disrupt", "5m"),
                    ("delay-deletion.cluster-autoscaler.kubernetes.io/backup", "yes"),
                )
            )
            self._dice.pick(self._nodes)["metadata"].setdefault("annotations", {})[key] = value

    def _trouble_cloud(self) -> None:
        if not self.document["nodeGroups"]:
            return
        group = self._dice.pick(self.document["nodeGroups"])
        if group.pop("error", None) is None:
            group["error"] = "it can't be read"

    def _spend_budgets(self) -> None:
        for budget in self.document.get("pdbs") or ():
            budget["status"] = {"disruptionsAllowed": self._dice.pick((0, 1, 3))}

    def _vanish(self) -> None:
        """Take a node away, or a machine from under its node."""
        if self._nodes:
            node = self._dice.pick(self._nodes)
            for group in self.document["nodeGroups"]:
                for instance in list(group["instances"]):
                    if instance["id"] != node["spec"]["providerID"] or self._dice.chance(40):
                        continue
                    if self._dice.chance(50):
                        self._remove_instance(group, instance)
                    else:
                        instance["state"] = "Deleting"
                    return
            self._remove_node(node)

    def _resize(self) -> None:
        """Let somebody else change how large a group is, or may be."""
        if self.document["nodeGroups"]:
            group = self._dice.pick(self.document["nodeGroups"])
            key = self._dice.pick(("minSize", "maxSize", "targetSize"))
            group[key] = max(group["minSize"] if key != "minSize" else 0, group[key] + self._dice.pick((-1, 1, 2)))

    def _crowd(self) -> None:
        """Let a pod come to a node that is on its way out, if there is one."""
        marked = [node for node in self._nodes if any(each["key"] == TO_BE_DELETED for each in node["spec"]["taints"])]
        models = [pod for pod in self._pods if self._owner(pod).get("kind") not in _NEVER_MOVED]
        if marked and models:
            self._add_waiting(self._dice.pick(models))
            self._pods[-1]["spec"]["nodeName"] = _name(self._dice.pick(marked))
            self._pods[-1]["status"] = {"phase": "Running"}

    def _change_template(self) -> None:
        groups = [group for group in self.document["nodeGroups"] if group.get("template")]
        if groups:
            self._dice.pick(groups)["template"]["metadata"].setdefault("labels", {})["release"] = stamp(self.now)

    # the picture

    def _spell_out(self) -> None:
        """Write into the picture what is understood where nothing stands: ids of machines, and which there are."""
        for key in ("nodeGroups", "nodes", "pods"):
            self.document[key] = self.document.get(key) or []
        members: dict[str, list[str]] = {}
        group_of = self.document["nodeToGroup"] = self.document.get("nodeToGroup") or {}
        for node in self._nodes:
            node["spec"] = node.get("spec") or {}
            node["spec"]["taints"] = node["spec"].get("taints") or []
            machine = node["spec"]["providerID"] = node["spec"].get("providerID") or f"cloud://{_name(node)}"
            members.setdefault(group_of.get(_name(node), ""), []).append(machine)
        for group in self.document["nodeGroups"]:
            machines = members.get(group["id"], [])
            group.setdefault("targetSize", len(machines))
            if group.get("instances") is None:
                group["instances"] = [{"id": machine, "state": "Running"} for machine in machines]
        for key in ("iterations", "advance", "comment"):
            self.document.pop(key, None)

    @property
    def _nodes(self) -> list[Json]:
        nodes: list[Json] = self.document["nodes"]
        return nodes

    @property
    def _pods(self) -> list[Json]:
        pods: list[Json] = self.document["pods"]
        return pods

    def _node(self, name: str) -> Json | None:
        return next((node for node in self._nodes if _name(node) == name), None)

    def _group(self, name: str) -> Json:
        return next(group for group in self.document["nodeGroups"] if group["id"] == name)

    def _owner(self, pod: Json) -> Json:
        owners: list[Json] = pod["metadata"].get("ownerReferences") or []
        return next((owner for owner in owners if owner.get("controller")), {})

    def _cause(self) -> Json:
        error = random_error(self._dice)
        return {"error_class": error.pop("errorClass"), **error}

    def _outcome(
        self, action: str, target: str, *, error: str = "", cause: Json | None = None, temporary: bool = False
    ) -> Json:
        return {
            "at": self.now.isoformat(),
            "action": action,
            "target": target,
            "ok": not error,
            "error": error,
            "cause": cause,
            "temporary": temporary,
        }

    def _enlarge(self, name: str, count: int) -> None:
        group = self._group(name)
        group["targetSize"] += count
        for _ in range(count):
            if self._dice.chance(85):
                machine = {"id": f"cloud://{name}-x{self._next()}", "state": "Creating", "createdAt": stamp(self.now)}
                group["instances"].append(machine)

    def _remove_instance(self, group: Json, instance: Json) -> None:
        group["instances"].remove(instance)
        for node in list(self._nodes):
            if node["spec"]["providerID"] == instance["id"] and self._dice.chance(85):
                self._remove_node(node)

    def _remove_node(self, node: Json) -> None:
        name = _name(node)
        self._nodes.remove(node)
        for key in ("nodeToGroup", "gpus"):
            (self.document.get(key) or {}).pop(name, None)
        self.document["pods"] = [pod for pod in self._pods if pod["spec"].get("nodeName") != name]

    def _remove_pod(self, pod: Json) -> None:
        self.document["pods"] = [each for each in self._pods if each is not pod]

    def _add_waiting(self, model: Json) -> None:
        """Add a pod like *model* that waits for a node."""
        pod = deepcopy(model)
        name = f"{model['metadata']['name'].partition('-again')[0]}-again{self._next()}"
        pod["metadata"] |= {"name": name, "uid": f"uid-{name}", "creationTimestamp": stamp(self.now)}
        pod["metadata"].pop("deletionTimestamp", None)
        pod["spec"].pop("nodeName", None)
        pod["status"] = {"phase": "Pending", "conditions": [dict(_UNSCHEDULABLE)]}
        self._pods.append(pod)

    def _taint(self, name: str, key: str, time: datetime, effect: str) -> None:
        node = self._node(name)
        if node is not None and not any(taint["key"] == key for taint in node["spec"]["taints"]):
            node["spec"]["taints"].append({"key": key, "value": str(int(time.timestamp())), "effect": effect})

    def _untaint(self, name: str, key: str) -> None:
        node = self._node(name)
        if node is not None:
            node["spec"]["taints"] = [taint for taint in node["spec"]["taints"] if taint["key"] != key]

    def _next(self) -> int:
        self._number += 1
        return self._number


def _name(thing: Json) -> str:
    name: str = thing["metadata"]["name"]
    return name


def _key(pod: Json) -> str:
    return f"{pod['metadata'].get('namespace', '')}/{_name(pod)}"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _is_unschedulable(pod: Json) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable" for each in conditions)


def _takes_pods(node: Json) -> bool:
    conditions = node["status"].get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    taints = any(taint["effect"] != "PreferNoSchedule" for taint in node["spec"]["taints"])
    return ready and not taints and not node["spec"].get("unschedulable")


def _requests(pod: Json) -> dict[str, float]:
    wanted: dict[str, float] = {"pods": 1}
    for container in pod["spec"].get("containers") or ():
        for key, amount in _amounts((container.get("resources") or {}).get("requests")).items():
            wanted[key] = wanted.get(key, 0) + amount
    return wanted


def _amounts(quantities: Json | None) -> dict[str, float]:
    return {key: _amount(str(quantity)) for key, quantity in (quantities or {}).items()}


def _amount(text: str) -> float:
    suffix = next((each for each in _SUFFIXES if text.endswith(each)), "")
    return float(text.removesuffix(suffix)) * _SUFFIXES.get(suffix, 1)


def _subtract(room: dict[str, float], wanted: dict[str, float]) -> None:
    for key, amount in wanted.items():
        room[key] = room.get(key, 0) - amount
