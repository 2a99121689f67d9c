"""A whole random world."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st
from nodewright.api import PodSet
from nodewright.objects import (
    CSINode,
    Namespace,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)

from ..oracle import Oracle
from .dice import Dice, DrawnDice, SeededDice
from .mix import Mix
from .names import NAMESPACES
from .nodes import random_nodes
from .pods import pending_pods, random_kinds, running_pod
from .storage import random_storage


@dataclass(frozen=True, kw_only=True, repr=False)
class World:
    """Nodes, pods on them, sets of identical pods that wait for a node, and what these refer to."""

    nodes: tuple[Node, ...]
    running: tuple[Pod, ...]
    pending: tuple[tuple[Pod, ...], ...]
    claims: tuple[PersistentVolumeClaim, ...]
    volumes: tuple[PersistentVolume, ...]
    storage_classes: tuple[StorageClass, ...]
    csi_nodes: tuple[CSINode, ...]
    namespaces: tuple[Namespace, ...]

    @property
    def pod_sets(self) -> list[PodSet]:
        """The pending pods, by sets of identical ones."""
        return [PodSet(pod=pods[0], keys=tuple(pod.key for pod in pods)) for pods in self.pending]

    def oracle(self) -> Oracle:
        """A fresh oracle for this world."""
        return Oracle(
            self.nodes,
            self.running,
            claims=self.claims,
            volumes=self.volumes,
            storage_classes=self.storage_classes,
            csi_nodes=self.csi_nodes,
            namespaces=self.namespaces,
        )

    def __repr__(self) -> str:
        """One line of JSON per object, for a person who looks at a failure."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        pending = [pod for pods in self.pending for pod in pods]
        named = {
            "node": self.nodes,
            "running": self.running,
            "pending": pending,
            "claim": self.claims,
            "volume": self.volumes,
            "csi node": self.csi_nodes,
        }
        for kind, objects in named.items():
            for each in objects:
                yield f"{kind} {msgspec.json.encode(each).decode()}"


def random_world(seed: int) -> World:
    """The world that belongs to *seed*."""
    return _roll(SeededDice(seed))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Worlds that shrink."""
    return _roll(DrawnDice(draw))


def _roll(dice: Dice) -> World:
    mix = Mix.roll(dice)
    nodes = random_nodes(dice, mix)
    storage = random_storage(dice, mix, nodes)
    kinds = random_kinds(dice, mix, storage)
    crowded = nodes[: dice.number(1, len(nodes))]
    running = tuple(
        running_pod(dice, mix, dice.pick(kinds), f"running-{number}", dice.pick(crowded).name)
        for number in range(dice.number(0, 15))
    )
    pending = [
        pending_pods(dice, mix, kind, f"pending-{index}", dice.number(1, 12 // len(kinds)), storage)
        for index, kind in enumerate(kinds)
    ]
    return World(
        nodes=nodes,
        running=running,
        pending=tuple(pods for pods in pending if pods),
        claims=tuple(storage.claims),
        volumes=tuple(storage.volumes),
        storage_classes=storage.classes,
        csi_nodes=storage.csi_nodes,
        namespaces=tuple(
            Namespace(metadata=ObjectMeta(name=name, labels=labels)) for name, labels in NAMESPACES.items()
        ),
    )
