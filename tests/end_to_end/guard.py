"""A guard: looks on in a life and writes down what an autoscaler must never do."""

from collections import Counter
from random import Random

import msgspec
from nodewright.api import Plugin, Reason, hookimpl
from nodewright.objects import Node, Pod
from nodewright.objects.node import TO_BE_DELETED
from nodewright.objects.pod import SAFE_TO_EVICT
from nodewright_fake.apiserver.document import encode
from nodewright_fake.apiserver.selectors import selects

from tests.end_to_end.chaos import BUDGETS
from tests.oracle import Oracle

#: So many sequences are tried before pods are said to fit nowhere.
_SEQUENCES = 60
_GRACE_HEADROOM = 30
#: In loops; orders whose answers are late are under way for longer than most faults last.
_PATIENCE = 80


class Guard(Plugin):
    """Holds each decision against the world as it is before anything of it is done, and requests as they come.

    Places are looked for in one of *every* so many decisions that drain: in large clusters that takes long.
    """

    def __init__(self, every=1):
        super().__init__(self.Config())
        self._every = every
        self._drains = 0
        #: What must never happen and did.
        self.wrongs = []
        #: How often there was something to look at.
        self.seen = Counter()
        self._asked = []
        #: What was read of each object, and the version that it was read of.
        self._read = {}
        #: For how many loops nodes were marked that nobody removes.
        self._forgotten = {}

    def watch(self, life):
        """Begin to look on."""
        self._life, self._world = life, life.world
        self._world.api_server.faults.insert(0, self._on_request)
        life.checks.append(self._after_loop)

    @hookimpl
    def on_decision(self, decision):
        """Look at what was decided, on the loop's thread."""
        nodes = {node.name: node for node in self._all("nodes", Node)}
        pods = self._all("pods", Pod)
        self._check_deletions(decision, pods)
        self._check_evictions(decision, nodes, pods)
        if decision.drain:
            self._check_drains(decision, nodes, pods)

    def _after_loop(self):
        """Look at what was done in a loop, before the world goes on."""
        self._check_marks()
        asked, self._asked = self._asked, []
        for key, spent in asked:
            namespace, _, name = key.partition("/")
            pod = self._world.store.find("pods", name, namespace)
            went = pod is None or "deletionTimestamp" in pod["metadata"]
            self.seen["evicted"] += went
            self.seen["held back by a budget"] += bool(spent) and not went
            if went and spent:
                self._wrong(f"{key} was evicted against the budget {spent}")

    def _check_marks(self):
        """No node stays marked that nobody is about to remove, for longer than faults can last."""
        going = {machine.name for machine in self._world.cloud.fleet.all() if machine.going}
        marked = {node.name for node in self._all("nodes", Node) if node.taint(TO_BE_DELETED)}
        forgotten = marked - going - self._life.autoscaler.memory.leaving.removals.keys()
        self._forgotten = {name: self._forgotten.get(name, 0) + 1 for name in forgotten}
        for name, loops in self._forgotten.items():
            if loops == _PATIENCE:
                self._wrong(f"{name} is marked for nothing")

    def _on_request(self, request):
        """Called by the API server on threads of its own, before a request is answered; the world itself sends none."""
        target = request.target
        if target is None or target.plural != "pods":
            return
        if request.verb in ("delete", "deletecollection"):
            self._wrong(f"pod {target.name} was deleted past its budgets")
        if target.subresource == "eviction":
            pod = self._world.store.find("pods", target.name, target.namespace)
            if pod is not None and "deletionTimestamp" not in pod["metadata"]:
                self._asked.append((f"{target.namespace}/{target.name}", self._spent_budget(pod)))

    def _spent_budget(self, pod):
        """The budget that holds a pod back now, empty if none does; a pod that does not serve is nobody's business."""
        conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", ())}
        if pod["status"]["phase"] != "Running" or conditions.get("Ready") != "True":
            return ""
        for budget in self._world.store.list(BUDGETS, pod["metadata"]["namespace"]):
            covers = selects(budget["spec"]["selector"], pod["metadata"].get("labels", {}))
            if covers and budget["status"]["disruptionsAllowed"] < 1:
                return budget["metadata"]["name"]
        return ""

    def _check_deletions(self, decision, pods):
        fleet = {machine.id: machine for machine in self._world.cloud.fleet.all()}
        ids = [each for delete in decision.delete for each in delete.instances]
        self.seen["deleted"] += len(ids)
        group_of = {group.settings.name: group for group in self._world.cloud.groups}
        leaving = Counter(delete.group for delete in decision.delete for _ in delete.instances)
        left = {name: group.desired - leaving[name] for name, group in group_of.items()}
        for each, times in Counter(ids).items():
            machine = fleet.get(each)
            if times > 1 or machine is None or machine.going:
                self._wrong(f"{each} is deleted twice")
                continue
            for delete in decision.delete:
                if each in delete.instances and machine.group.name != delete.group:
                    self._wrong(f"{each} is deleted from {delete.group}, but belongs to {machine.group.name}")
            fewest = group_of[machine.group.name].settings.min
            if not any(delete.force for delete in decision.delete) and left[machine.group.name] < fewest:
                self._wrong(f"{each} is deleted, so that {machine.group.name} falls below {fewest}")
            for pod in pods:
                if machine.registered and pod.spec.node_name == machine.name and self._runs(pod, decision.at):
                    self._wrong(f"{machine.name} is deleted while {pod.key} is on it")

    def _check_evictions(self, decision, nodes, pods):
        by_key = {pod.key: pod for pod in pods}
        for evict in decision.evict:
            node = nodes.get(evict.node)
            if node is None or not node.taint(TO_BE_DELETED):
                self._wrong(f"pods are evicted from {evict.node}, which is not marked")
            for key in evict.pods:
                pod = by_key.get(key)
                if pod is not None and (why := _must_stay(pod, on_completion=True)):
                    self._wrong(f"{key} is evicted, which {why}")

    def _check_drains(self, decision, nodes, pods):
        self.seen["drained"] += len(decision.drain)
        beginning = {drain.node for drain in decision.drain}
        restored = {restore.node for restore in decision.restore}
        leaving = {name for name, node in nodes.items() if node.taint(TO_BE_DELETED) and name not in restored}
        if wrong := beginning - nodes.keys():
            self._wrong(f"{wrong} are drained, which are no nodes")
        for pod in pods:
            if pod.spec.node_name not in beginning or pod.finished or _overdue(pod, decision.at):
                continue
            if why := _must_stay(pod):
                self._wrong(f"{pod.spec.node_name} is drained, but has {pod.key}, which {why}")
        self._check_whole_groups(beginning, leaving | beginning)
        self._drains += 1
        if self._drains % self._every == 0:
            self._check_places(decision, nodes, pods, beginning, leaving | beginning)

    def _check_whole_groups(self, beginning, leaving):
        for group in self._world.cloud.groups:
            if not group.settings.options.zero_or_max_node_scaling:
                continue
            machines = [each for each in self._world.cloud.instances(group.settings.name) if not each.going]
            staying = {each.name for each in machines if each.registered} - leaving
            if staying and beginning & {each.name for each in machines}:
                self._wrong(f"{group.settings.name} is torn apart: {sorted(staying)} stay")

    def _check_places(self, decision, nodes, pods, beginning, leaving):
        """Each pod that has to move finds a place by the oracle, all of them together.

        But for those of nodes that were leaving before, if they had none before more nodes leave: nodes are ordered
        for them.
        """
        going = {machine.name for machine in self._world.cloud.fleet.all() if machine.going}
        staying = [node for name, node in nodes.items() if name not in leaving | going]
        returning = [pod for pod in pods if pod.spec.node_name in leaving - beginning and _moves(pod)]
        if not decision.grow and not self._awaited(nodes):
            # On nodes that are there, that is.
            fitting = {key for key, verdict in decision.pods.items() if verdict.reason is Reason.FITS}
            returning += [pod for pod in pods if pod.key in fitting and not pod.spec.node_name]
            self.seen["pending"] += sum(not pod.spec.node_name for pod in returning)
        before = Oracle([*staying, *(nodes[name] for name in beginning)], pods)
        lost = _homeless(before, returning)
        movers = [pod for pod in returning if pod not in lost]
        movers += [pod for pod in pods if pod.spec.node_name in beginning and _moves(pod)]
        self.seen["moved"] += len(movers)
        self.seen["lost"] += len(lost)
        for pod in _homeless(Oracle(staying, pods), movers):
            self._wrong(f"without {sorted(leaving)} there is no place for {pod.key}")

    def _awaited(self, nodes):
        """Whether machines are not ready nodes yet."""
        machines = self._world.cloud.fleet.all()
        ready = sum(each.name in nodes and _is_ready(nodes[each.name]) for each in machines)
        return sum(group.desired for group in self._world.cloud.groups) > ready

    def _runs(self, pod, now):
        """Whether the pod must not lose its machine."""
        return _moves(pod, ending=True) and not _overdue(pod, now)

    def _wrong(self, what):
        self.wrongs.append(f"{self._world.clock.now():%H:%M:%S} {what}")

    def _all(self, resource, kind):
        before = self._read.get(resource, {})
        now = {}
        for document in self._world.store.list(resource):
            metadata = document["metadata"]
            key = metadata["uid"], metadata["resourceVersion"]
            now[key] = before.get(key) or msgspec.json.decode(encode(document), type=kind)
        self._read[resource] = now
        return list(now.values())


def _is_ready(node):
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions)


def _moves(pod, *, ending=False):
    """Whether the pod needs another node when its node goes; those that are *ending* have others in their place."""
    at_work = not (pod.is_daemon or pod.is_mirror or pod.finished)
    return at_work and (ending or pod.metadata.deletion_timestamp is None)


def _overdue(pod, now):
    """Whether the pod should have ended long ago; its kubelet does not do it."""
    deleted = pod.metadata.deletion_timestamp
    return deleted is not None and (now - deleted).total_seconds() > pod.grace_seconds + _GRACE_HEADROOM


def _must_stay(pod, *, on_completion=False):
    """Why a pod must not be evicted, empty if it may; one that may end by itself may be waited for instead."""
    marked = pod.metadata.annotations.get(SAFE_TO_EVICT, "")
    if marked == "false" or (marked == "on-completion" and on_completion):
        return f"says {SAFE_TO_EVICT}: {marked}"
    if pod.is_daemon or marked in ("true", "on-completion") or pod.metadata.deletion_timestamp is not None:
        return ""
    if pod.metadata.controller is None:
        return "nobody would make anew"
    on_disk = [each.name for each in pod.spec.volumes if each.host_path or each.empty_dir is not None]
    return f"has local data in {on_disk[0]}" if on_disk else ""


def _homeless(oracle, pods):
    """The pods that find no place in the best of many sequences."""
    chance = Random(0)
    least = list(pods)
    for number in range(_SEQUENCES):
        fullest = sorted(oracle.names, key=lambda name: oracle.free(name, "cpu"))
        sequence = sorted(pods, key=lambda pod: -pod.requests.get("cpu", 0))
        if number:
            chance.shuffle(fullest)
            if number % 2:
                chance.shuffle(sequence)
        trial = oracle.copy()
        homeless = [pod for pod in sequence if not _place(trial, _unbound(pod), fullest)]
        if len(homeless) < len(least):
            least = homeless
        if not least:
            break
    return least


def _place(oracle, pod, names):
    name = next((name for name in names if oracle.refusal(pod, name) is None), None)
    if name is not None:
        oracle.bind(pod, name)
    return name is not None


def _unbound(pod):
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))
