"""Queues: made-up worlds whose nodes are full, and pods of many sizes and rules that wait for new ones, by seed."""

from dataclasses import dataclass

from msgspec.structs import replace
from nodewright.api import GroupFacts, Node, Pod
from nodewright.decision.world import World
from nodewright.objects import LabelSelector
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.objects.pod import ContainerPort
from nodewright.testing.builders import GPU, a_group, a_node, a_pod, a_template
from nodewright.testing.worlds import a_world

from tests.parity.generated.dice import Dice

_ZONES = ("zone-a", "zone-b", "zone-c")
_DISK = "example.com/disk"
#: What a pod takes of a node, in percent.
_SIZES = (1, 3, 5, 8, 12, 20, 25, 26, 33, 34, 40, 50, 51, 60, 67, 75, 90, 100)
_RULES = (
    *("none",) * 8,
    *("apart", "apart from another", "together", "together in a zone", "beside another"),
    *("spread over nodes", "spread over zones", "spread over both", "port", "disk", "gpu"),
)


@dataclass(frozen=True, kw_only=True)
class _Size:
    """What a node has."""

    cpu: int
    memory: int
    pods: int


def queue(seed: int) -> World:
    """Return the world of a seed."""
    dice = Dice(f"queue {seed}")
    size = _Size(
        cpu=1000 * dice.pick((2, 4, 8, 16)), memory=1024 * dice.pick((8, 16, 32, 64)), pods=dice.pick((110, 110, 12))
    )
    groups = [_group(dice, number, size) for number in range(dice.number(1, 3))]
    nodes = {group.id: [_node(group, number) for number in range(group.target_size)] for group in groups}
    kinds = [_kind(dice, number, size) for number in range(dice.number(1, 6))]
    running = [_running(dice, node, kinds) for group in groups for node in nodes[group.id]]
    waiting = [_named(kind, f"{kind.metadata.name}-{number}") for kind in kinds for number in range(_count(dice))]
    return a_world(groups=groups, nodes=nodes, pods=[*running, *waiting])


def _group(dice: Dice, number: int, size: _Size) -> GroupFacts:
    factor = dice.pick((1, 1, 2))
    target = dice.pick((0, 0, 1, 2))
    return a_group(
        f"group-{number}",
        size=target,
        max_size=target + dice.pick((2, 5, 50, 50, 50)),
        template=a_template(
            cpu=f"{factor * size.cpu}m",
            memory=f"{factor * size.memory}Mi",
            pods=size.pods,
            gpus=dice.pick((0, 4)),
            resources={_DISK: str(dice.pick((2, 7)))},
            zone=dice.pick(_ZONES),
        ),
    )


def _node(group: GroupFacts, number: int) -> Node:
    template = group.template
    assert template is not None
    name = f"{group.id}-{number}"
    node = a_node(name, labels={**template.labels, HOSTNAME: name}, provider_id=f"fake://{name}")
    amounts = {each: f"{amount}m" if each == "cpu" else amount for each, amount in template.allocatable.items()}
    return replace(node, status=replace(node.status, capacity=amounts, allocatable=amounts))


def _kind(dice: Dice, number: int, size: _Size) -> Pod:
    percent = dice.pick(_SIZES)
    other = dice.pick((percent, percent, dice.pick(_SIZES)))
    name = f"app-{number}"
    pod = a_pod(
        name,
        cpu=f"{size.cpu * percent // 100}m",
        memory=f"{size.memory * other // 100}Mi",
        labels={"app": name},
        owner=f"ReplicaSet/{name}",
    )
    return _ruled(dice, pod, dice.pick(_RULES), f"app-{dice.number(0, 5)}")


def _ruled(dice: Dice, pod: Pod, rule: str, another: str) -> Pod:
    own = pod.metadata.name
    spec, (main,) = pod.spec, pod.spec.containers
    skew, least = dice.pick((1, 1, 2, 5)), dice.pick((None, None, 2))
    requests = dict(main.resources.requests)
    match rule:
        case "apart" | "apart from another":
            near = PodAffinity(required=(_term(own if rule == "apart" else another, HOSTNAME),))
            spec = replace(spec, affinity=Affinity(pod_anti_affinity=near))
        case "together" | "together in a zone" | "beside another":
            term = _term(another if rule == "beside another" else own, ZONE if "zone" in rule else HOSTNAME)
            spec = replace(spec, affinity=Affinity(pod_affinity=PodAffinity(required=(term,))))
        case "spread over nodes" | "spread over zones" | "spread over both":
            keys = {"nodes": (HOSTNAME,), "zones": (ZONE,), "both": (ZONE, HOSTNAME)}[rule.rpartition(" ")[2]]
            rules = tuple(
                TopologySpreadConstraint(topology_key=key, max_skew=skew, min_domains=least, label_selector=_of(own))
                for key in keys
            )
            spec = replace(spec, topology_spread_constraints=rules)
        case "port":
            main = replace(main, ports=(ContainerPort(host_port=dice.pick((80, 443))),))
        case "disk" | "gpu":
            requests[_DISK if rule == "disk" else GPU] = dice.pick((1, 2))
    main = replace(main, resources=replace(main.resources, requests=requests))
    return replace(pod, spec=replace(spec, containers=(main,)))


def _term(app: str, key: str) -> PodAffinityTerm:
    return PodAffinityTerm(topology_key=key, label_selector=_of(app))


def _of(app: str) -> LabelSelector:
    return LabelSelector(match_labels={"app": app})


def _running(dice: Dice, node: Node, kinds: list[Pod]) -> Pod:
    """Return a pod that takes all cpu of *node*, so that nothing waits for a place there."""
    app = dice.pick(kinds).metadata.name
    cpu = f"{node.allocatable['cpu']}m"
    return a_pod(f"running-{node.name}", cpu=cpu, labels={"app": app}, owner=f"ReplicaSet/{app}", node=node.name)


def _count(dice: Dice) -> int:
    return dice.pick((1, 2, 3, 5, 8, 13, 21))


def _named(pod: Pod, name: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=f"uid-of-{name}"))
