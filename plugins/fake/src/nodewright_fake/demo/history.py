"""What happened in a world, kept up with as it happens."""

from collections import Counter
from contextlib import suppress

import msgspec
from nodewright.api import Node, Pod

from nodewright_fake.apiserver.store import Change
from nodewright_fake.demo.log import Kind, Log
from nodewright_fake.demo.rates import Rates
from nodewright_fake.demo.roster import Roster
from nodewright_fake.demo.waits import Waits
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
                    self._log.tell(Kind.TROUBLE, f"the cloud wants {entry.machine} back: {entry.detail}", at=entry.at)
                case "reclaimed":
                    self.troubles["machines taken back by the cloud"] += 1
                    self._log.tell(Kind.TROUBLE, f"the cloud took {entry.machine} back", at=entry.at)
        notes = self._world.notes[self._told :]
        self._told += len(notes)
        for note in notes:
            self._log.tell(Kind.STORY, note.text, at=note.at)

    def _observe(self, change: Change) -> None:
        # What somebody else's client has malformed is none of a demo's business.
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
            self._log.tell(Kind.NODE, f"{node.name} is gone")
            return
        self.roster.put_node(node)
        if node.ready != was_ready:
            self._log.tell(Kind.NODE, f"{node.name} is ready" if node.ready else f"{node.name} is not ready any more")
        self.peak_nodes = max(self.peak_nodes, self.roster.ready)

    def _see_pod(self, pod: Pod, *, gone: bool) -> None:
        if gone:
            self.roster.drop_pod(pod.key)
            self.waits.forget(pod.key)
        elif pod.requests:
            self.roster.put_pod(pod)
            self.waits.see(pod, self._world.clock.now())
