"""The filters that look at one node only, in kube-scheduler's order, and the order in which nodes are liked."""

from nodewright_fake.controllers.scheduling.needs import Needs
from nodewright_fake.controllers.scheduling.node import NodeState
from nodewright_fake.controllers.taints import UNSCHEDULABLE, NodeTaint, is_covered

NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"

_CORDON = NodeTaint(UNSCHEDULABLE, "", "NoSchedule")

#: Smaller is better: soft taints not tolerated, how full the node would be (minus the free per cent), its name.
Rank = tuple[int, int, str]


def refusals(needs: Needs, node: NodeState) -> tuple[str, ...]:
    """Return why a pod with *needs* cannot go to *node*, in kube-scheduler's words; nothing if it can.

    The first filter that refuses speaks; several resources may be short at once.
    """
    if node.unschedulable and not is_covered(_CORDON, needs.tolerations):
        return ("node(s) were unschedulable",)
    if node.tainted_for(needs):
        return ("node(s) had untolerated taint(s)",)
    if not node.admits(needs):
        return (NOT_SELECTED,)
    if any(wanted.clashes(taken) for wanted in needs.ports for taken in node.ports):
        return ("node(s) didn't have free ports for the requested pod ports",)
    return _shortages(needs, node)


def _shortages(needs: Needs, node: NodeState) -> tuple[str, ...]:
    short = []
    if len(node.pods) + 1 > node.allocatable.get("pods", 0):
        short.append("Too many pods")
    for name, amount in needs.requests.items():
        if amount > 0 and amount > node.allocatable.get(name, 0) - node.used[name]:
            short.append(f"Insufficient {name}")
    return tuple(short)


def rank(needs: Needs, node: NodeState) -> Rank:
    """Return how much *node* is liked: no soft taint, then the emptier one, then the first by name."""
    soft = sum(taint.effect == "PreferNoSchedule" and not is_covered(taint, needs.tolerations) for taint in node.taints)
    free = 0
    for name, weight in needs.weight.items():
        if total := node.allocatable.get(name, 0):
            left = total - node.weight[name] - weight
            free += max(0, left) * 100 // total
    return soft, -free // 2, node.name
