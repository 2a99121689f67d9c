"""Random nodes."""

from nodewright.objects import Node, NodeSpec, NodeStatus, ObjectMeta, Taint
from nodewright.objects.node import HOSTNAME, ZONE

from .dice import Dice
from .mix import Mix
from .names import FPGA, OLD_ZONE, RACK, RACKS, REGION, ZONES

_TAINTS = (
    Taint(key="dedicated", value="web", effect="NoSchedule"),
    Taint(key="dedicated", value="db", effect="NoExecute"),
    Taint(key="spot", effect="NoSchedule"),
    Taint(key="spot", effect="PreferNoSchedule"),
)
_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def random_nodes(dice: Dice, mix: Mix) -> tuple[Node, ...]:
    """Two to eight nodes in up to three zones; what they have is often the same."""
    zones = ZONES[: dice.number(1, len(ZONES))]
    return tuple(_node(dice, mix, f"node-{number}", zones) for number in range(dice.number(2, 8)))


def _node(dice: Dice, mix: Mix, name: str, zones: tuple[str, ...]) -> Node:
    cordoned = dice.chance(mix.taints // 4)
    taints = dice.some(_TAINTS, 2) if dice.chance(mix.taints // 2) else ()
    if cordoned and dice.chance(50):
        taints = (*taints, _CORDON)
    resources = _resources(dice, mix)
    return Node(
        metadata=ObjectMeta(name=name, uid=f"uid-{name}", labels=_labels(dice, mix, name, zones)),
        spec=NodeSpec(unschedulable=cordoned, taints=taints),
        status=NodeStatus(capacity=resources, allocatable=resources),
    )


def _labels(dice: Dice, mix: Mix, name: str, zones: tuple[str, ...]) -> dict[str, str]:
    labels = {HOSTNAME: name, ZONE: dice.pick(zones), RACK: dice.pick(RACKS)}
    if dice.chance(30):
        labels |= {"disk": dice.pick(("ssd", "hdd")), "gen": dice.pick(("2", "1", "3", "x"))}
    if dice.chance(mix.oddities // 3):
        labels[dice.pick((REGION, OLD_ZONE))] = dice.pick(zones)
    if dice.chance(mix.oddities // 2):
        for key in dice.some((RACK, ZONE, HOSTNAME), 2):
            del labels[key]
    return labels


def _resources(dice: Dice, mix: Mix) -> dict[str, str | int | float]:
    resources: dict[str, str | int | float] = {"cpu": "8", "memory": "16Gi", "pods": 110}
    if dice.chance(mix.scarcity):
        resources |= {
            "cpu": dice.pick(("4", "2", "1500m")),
            "memory": dice.pick(("8Gi", "3Gi")),
            "pods": dice.pick((110, 4, 2)),
        }
    if dice.chance(50):
        resources |= {FPGA: dice.number(0, 2), "ephemeral-storage": dice.pick(("10Gi", "2Gi"))}
    return resources
