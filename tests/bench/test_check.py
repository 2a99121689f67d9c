"""The check of benchmarks finds what a placement breaks, and who was forgotten."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.check import Ledger
from bench.shapes import Shape


def ledger_of(kind, placed, *, nodes=3, apps=2):
    """The ledger of a world without running pods, in which pending pods went to the nodes of these numbers."""
    shape = Shape(nodes=nodes, groups=3, pending=6, kind=kind, apps=apps, running_per_node=0)
    pods = {pod.key: pod for pod in shape.pending_pods()}
    ledger = Ledger([shape.node(number) for number in range(nodes)], [])
    chosen = {f"default/pending-{pod:06}": f"node-{node:05}" for pod, node in placed.items()}
    ledger.place(pods, chosen)
    return list(ledger.broken()), list(ledger.placeable(pod for key, pod in pods.items() if key not in chosen))


def test_a_right_placement_is_accepted() -> None:
    assert ledger_of("anti", {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2}) == ([], [])


def test_a_pod_that_could_have_been_placed_is_told() -> None:
    assert ledger_of("plain", {0: 0})[1][0] == "default/pending-000001 would fit on node-00000"


@pytest.mark.parametrize(
    ("kind", "placed", "message"),
    [
        ("anti", {0: 1, 2: 1}, "default/pending-000000 has a neighbour on node-00001 that it must not have"),
        ("affinity", {0: 1}, "default/pending-000000 has no neighbour on node-00001 that it must have"),
        ("spread", {0: 1, 2: 1}, "default/pending-000000 makes the spread uneven on node-00001"),
    ],
)
def test_a_broken_rule_is_told(kind, placed, message) -> None:
    assert ledger_of(kind, placed)[0][0] == message


def test_an_overdrawn_node_is_told() -> None:
    shape = Shape(nodes=1, groups=1, pending=60)
    pods = {pod.key: pod for pod in shape.pending_pods()}
    ledger = Ledger([shape.node(0)], [])
    ledger.place(pods, dict.fromkeys(pods, "node-00000"))
    assert "node-00000 has too little cpu" in ledger.broken()
