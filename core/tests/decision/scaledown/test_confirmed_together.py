"""Chosen nodes go only if they can go by themselves."""

from nodewright.api import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.search import Confirmation
from nodewright.scheduling import ClusterSimulation
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_world


class Scene:
    """Nodes w0, w1 and s with a pod each, and others with room for one more pod as large as those of w0 and s."""

    def __init__(self, *rooms):
        group = a_group("a", size=3 + len(rooms))
        nodes = [a_node(name, cpu="2") for name in ("w0", "w1", "s", *rooms)]
        large = {"w1": "2"}
        pods = [a_pod(name, node=name, cpu=large.get(name, "1")) for name in ("w0", "w1", "s", *rooms)]
        self.cluster = a_world(groups=[group], nodes={"a": nodes}, pods=pods).cluster
        self.entries = {
            name: Removable(
                node=self.cluster.nodes[name],
                group=group,
                move=tuple(self.cluster.pods_on(name)),
                verdict=Verdict(reason=Reason.EMPTY),
            )
            for name in ("w0", "w1", "s")
        }

    def confirm(self, *blocks):
        """The pods that are in the way of each of *blocks*, and None where there is none."""
        homeless, chosen = [], []
        with Confirmation(ClusterSimulation(self.cluster), list(self.entries.values())) as confirm:
            for block in blocks:
                entries = [self.entries[name] for name in block]
                verdict = confirm(entries, tuple(chosen))
                homeless.append(None if verdict is None else verdict.pod)
                chosen += [] if verdict is not None else entries
        return homeless


def test_nodes_that_go_together_take_no_room_if_one_of_them_can_not_go() -> None:
    assert Scene("d").confirm(["w0", "w1"], ["s"]) == ["default/w1", None]


def test_those_confirmed_before_keep_their_room_then() -> None:
    assert Scene("d", "e").confirm(["s"], ["w0", "w1"], ["w0"], ["w1"]) == [None, "default/w1", None, "default/w1"]


def test_afterwards_the_cluster_is_as_before() -> None:
    scene = Scene("d")
    free = scene.cluster.table.free.copy()
    scene.confirm(["w0", "w1"], ["s"])
    assert (scene.cluster.table.free == free).all()
