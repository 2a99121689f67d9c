"""The history of a world: nodes, pods, waiting times and costs, followed change by change."""

from collections import Counter
from contextlib import suppress
from datetime import datetime

import msgspec
from nodewright.api import Node, Pod

from nodewright_fake.apiserver.store import Change
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.journal import Entry
from nodewright_fake.demo.log import LineKind, Log
from nodewright_fake.demo.roster import Roster
from nodewright_fake.world import World

_node = msgspec.json.Decoder(Node)
_pod = msgspec.json.Decoder(Pod)


class History:
    """Follows a world from before its start until `close`.

    *roster*, *waits* and *peak_nodes* change under the store's lock: hold it to read them.
    """

    def __init__(self, world: World, log: Log) -> None:
        self.roster = Roster()
        self.waits = Waits()
        self.rates = Rates(world.cloud)
        #: The most nodes that were ready at the same time.
        self.peak_nodes = 0
        #: What went wrong in the cloud.
        self.troubles: Counter[str] = Counter()
        self._world = world
        self._log = log
        self._told = 0
        self._unsubscribe = world.store.subscribe(self._observe)

    def close(self) -> None:
        """Follow the world no longer; what was seen stays."""
        self._unsubscribe()

    def update(self) -> None:
        """Take in what the world does not announce: cloud and story. Call it on one thread, often."""
        for entry in self.rates.update():
            match entry.event:
                case "failed":
                    self.troubles[f"machines that could not be had: {entry.detail}"] += 1
                case "notice":
                    self._log.tell(
                        LineKind.TROUBLE, f"the cloud wants {entry.machine} back: {entry.detail}", at=entry.at
                    )
                case "reclaimed":
                    self.troubles["machines taken back by the cloud"] += 1
                    self._log.tell(LineKind.TROUBLE, f"the cloud took {entry.machine} back", at=entry.at)
        notes = self._world.notes[self._told :]
        self._told += len(notes)
        for note in notes:
            self._log.tell(LineKind.STORY, note.text, at=note.at)

    def _observe(self, change: Change) -> None:
        # No scheduler and no autoscaler can use a malformed object: it is as if it were not there.
        with suppress(msgspec.MsgspecError, ValueError):
            if change.resource == "nodes":
                self._see_node(_node.decode(change.object.encoded), gone=change.type == "DELETED")
            elif change.resource == "pods":
                self._see_pod(_pod.decode(change.object.encoded), gone=change.type == "DELETED")

    def _see_node(self, node: Node, *, gone: bool) -> None:
        before = self.roster.nodes.get(node.name)
        was_ready = before is not None and before.ready
        if gone:
            self.roster.drop_node(node.name)
            self._log.tell(LineKind.NODE, f"{node.name} is gone")
            return
        self.roster.put_node(node)
        if node.ready != was_ready:
            self._log.tell(
                LineKind.NODE, f"{node.name} is ready" if node.ready else f"{node.name} is not ready any more"
            )
        self.peak_nodes = max(self.peak_nodes, self.roster.ready)

    def _see_pod(self, pod: Pod, *, gone: bool) -> None:
        if gone:
            self.roster.drop_pod(pod.key)
            self.waits.forget(pod.key)
        else:
            self.roster.put_pod(pod)
            self.waits.see(pod, self._world.clock.now())


class Rates:
    """What the running machines of a cloud cost in an hour, from its journal: now, and at the peak."""

    def __init__(self, cloud: Cloud) -> None:
        #: As of the last `update`.
        self.current = 0.0
        self.peak = 0.0
        self._cloud = cloud
        self._prices: dict[str, float] = {}
        self._running: set[str] = set()
        self._read = 0

    def update(self) -> tuple[Entry, ...]:
        """Read what happened since the last call, and return it."""
        with self._cloud.lock:
            self._prices.update((machine.name, machine.hourly_price) for machine in self._cloud.fleet.all())
            self._read, entries = self._cloud.history_since(self._read)
        for entry in entries:
            if entry.event == "running":
                self._running.add(entry.machine)
            elif entry.event == "gone":
                self._running.discard(entry.machine)
            self.current = sum(self._prices.get(machine, 0.0) for machine in self._running)
            self.peak = max(self.peak, self.current)
        return entries


class Waits:
    """How long pods waited for a node. Pods of DaemonSets are left out: they come with their node."""

    def __init__(self) -> None:
        #: When each pod that has no node was first seen, by key.
        self.pending: dict[str, datetime] = {}
        #: How long the others had to wait, in seconds; without those that found a node at once.
        self.over: list[float] = []
        #: Pods that found a node at once.
        self.at_once = 0
        self._waited: set[str] = set()
        self._seen: set[str] = set()

    def see(self, pod: Pod, now: datetime) -> None:
        """Note a new pod, or a new state of one."""
        if pod.is_daemon:
            return
        if pod.key not in self._seen:
            self._seen.add(pod.key)
            self.pending[pod.key] = now
        if pod.marked_unschedulable:
            self._waited.add(pod.key)
        if pod.spec.node_name or pod.finished:
            self._end(pod.key, now)

    def forget(self, key: str) -> None:
        """Note that a pod is gone. If it never had a node, it is not counted."""
        self.pending.pop(key, None)
        self._waited.discard(key)
        self._seen.discard(key)

    def _end(self, key: str, now: datetime) -> None:
        since = self.pending.pop(key, None)
        if since is None:
            return
        if key in self._waited:
            self.over.append((now - since).total_seconds())
        else:
            self.at_once += 1
