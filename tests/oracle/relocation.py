"""Whether nodes are taken out rightly: beside the core, a plain implementation does the same on the oracle."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from random import Random

from msgspec import structs
from nodewright.cluster import Cluster, PodRow
from nodewright.cluster.pod_class import unbound
from nodewright.objects import Pod
from nodewright.objects.affinity import Affinity
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.placement import is_plain
from nodewright.scheduling.relocation import Hints, Relocation

from .agreement import judgements, verdicts
from .filters.node_ports import host_ports
from .lives import new_cluster
from .oracle import Oracle
from .worlds import World, random_world


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A node to be taken out: who has to move, and where they wish to go."""

    node: str
    movers: tuple[str, ...]
    wished: Hints = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A world, and what is taken out of it in this order."""

    world: World
    #: Whether pending pods are placed first, so that some nodes have guests.
    crowded: bool
    removals: tuple[Removal, ...]
    #: Whether the columns are told after each step, or only when a pod comes for which that matters.
    told: bool


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of taking a node out."""

    homeless: str | None
    #: Who went where.
    homes: dict[str, str] = field(default_factory=dict)


def random_case(seed: int) -> Case:
    """The case that belongs to *seed*. A node that could not go is tried again at the end."""
    random = Random(seed)
    world = random_world(seed)
    if random.random() < 0.7:
        world = replace(world, running=tuple(_plain(pod) if random.random() < 0.7 else pod for pod in world.running))
    names = [node.name for node in world.nodes]
    leaving = random.sample(names, random.randint(1, len(names)))
    again = random.sample(leaving, random.randint(0, len(leaving)))
    return Case(
        world=world,
        crowded=random.random() < 0.5,
        removals=tuple(_removal(random, world, name) for name in (*leaving, *again)),
        told=random.random() < 0.5,
    )


class PlainRelocation:
    """Takes nodes out as the core should, one pod, one node and one rule at a time."""

    def __init__(self, oracle: Oracle, preference: Sequence[str], choosy: Set[str]) -> None:
        #: The world without the nodes that are out.
        self.oracle = oracle
        #: Those who come first.
        self.choosy = choosy
        self._beginning = oracle.copy()
        self._preference = preference
        #: Pods that came to each node, in their order.
        self._guests: dict[str, list[Pod]] = {}

    def remove(self, node: str, tenants: Sequence[Pod], wished: Hints) -> Outcome:
        """Take *node* out if its *tenants* and guests find places elsewhere."""
        before = self.oracle.copy()
        guests = self._guests.get(node, [])
        self.oracle.vacate(node)
        homes: dict[str, str] = {}
        arrivals: list[tuple[Pod, str]] = []
        wishes = [name for name, count in wished for _ in range(count)]
        for pods in self._in_order([*tenants, *guests]):
            own = [] if pods[0].key in self.choosy else wishes[: len(pods)]
            del wishes[: len(own)]
            waiting = iter(pods)
            for first in (*own, None):
                # Those whose wish can't be met wait for the wishes of the others.
                for pod in waiting:
                    home = self._home(pod, node, first)
                    if home is None and first is None:
                        self.oracle = before
                        # Of pods that are alike, the first by name is told.
                        return Outcome(homeless=min(pod.key for pod in pods))
                    if home is None:
                        waiting = chain([pod], waiting)
                        break
                    self.oracle.bind(pod, home)
                    arrivals.append((pod, home))
                    homes[pod.key] = home
                    if first is not None:
                        break
        self.oracle.take_out(node)
        self._guests.pop(node, None)
        for pod, home in arrivals:
            self.welcome(pod, home)
        return Outcome(homeless=None, homes=homes)

    def welcome(self, pod: Pod, node: str) -> None:
        """Remember that *pod* came to *node*."""
        self._guests.setdefault(node, []).append(pod)

    def _in_order(self, pods: Sequence[Pod]) -> Iterator[list[Pod]]:
        """Those whose place depends on others one by one, then the others in lots of equal ones, the largest first."""
        lots: dict[object, list[Pod]] = {}
        for pod in pods:
            if pod.key in self.choosy:
                yield [pod]
            else:
                lots.setdefault(_shape(pod), []).append(pod)
        yield from sorted(lots.values(), key=lambda lot: -self._size(lot[0]))

    def _size(self, pod: Pod) -> float:
        return max(amount / self._most_free(name) for name, amount in pod.requests.items() if amount)

    def _most_free(self, resource: str) -> int:
        """What the node that had most of it had at the beginning."""
        return max(1, *(self._beginning.free(name, resource) for name in self._beginning.names))

    def _home(self, pod: Pod, leaving: str, wish: str | None) -> str | None:
        present = set(self.oracle.names) - {leaving}
        names = [name for name in (self._preference if wish is None else [wish]) if name in present]
        return next((name for name in names if self.oracle.refusal(pod, name) is None), None)


def looks_at_others(pod: Pod, oracle: Oracle) -> bool:
    """Whether it depends on where other pods are where this one can go."""
    spec = pod.spec
    affinity = spec.affinity or Affinity()
    return bool(
        (affinity.pod_affinity and affinity.pod_affinity.required)
        or (affinity.pod_anti_affinity and affinity.pod_anti_affinity.required)
        or any(each.when_unsatisfiable == "DoNotSchedule" for each in spec.topology_spread_constraints)
        or host_ports(pod)
        or any(each.persistent_volume_claim or each.ephemeral or each.names_disk for each in spec.volumes)
        or any(oracle.dislikes(other, pod) for name in oracle.names for other in oracle.pods_on(name))
    )


def disagreements(case: Case) -> Iterator[str]:
    """What the core does otherwise than the plain implementation, one sentence each."""
    pods = {
        pod.key: unbound(pod) for pod in (*case.world.running, *(pod for kind in case.world.pending for pod in kind))
    }
    cluster = new_cluster(case.world)
    cluster.tidy()
    simulation = ClusterSimulation(cluster)
    oracle = case.world.oracle()
    before = verdicts(case.world, simulation)
    with simulation.fork():
        placed = _placed(case, simulation)
        for key, node in placed.items():
            oracle.bind(pods[key], node)
        core = Relocation(simulation, list(dict.fromkeys(removal.node for removal in case.removals)))
        choosy = {key for key in pods if not is_plain(cluster, cluster.pods[key].pod_class)}
        for pod in pods.values():
            if pod.key not in choosy and looks_at_others(pod, oracle):
                yield f"{pod.key} can't go everywhere where there is room, but the core thinks so"
        plain = PlainRelocation(oracle, core.preference, choosy)
        for key, node in sorted(placed.items()):
            plain.welcome(pods[key], node)
        gone: set[str] = set()
        for removal in case.removals:
            if removal.node in gone:
                continue
            found = _core_outcome(core, removal, cluster)
            right = plain.remove(removal.node, [pods[key] for key in removal.movers], removal.wished)
            if found != right:
                yield f"without {removal.node}, the core says {found}, but it is {right}"
                return
            if found.homeless is None:
                gone.add(removal.node)
            if case.told:
                core.tell()
                yield from _compare(_left(case.world, gone), simulation, plain.oracle, removal.node)
        core.tell()
        yield from _compare(_left(case.world, gone), simulation, plain.oracle, "all of them")
    if verdicts(case.world, simulation) != before:
        yield "something is left of it when all is taken back"


def _removal(random: Random, world: World, name: str) -> Removal:
    running = [pod for pod in world.running if pod.spec.node_name == name and not pod.finished]
    others = [node.name for node in world.nodes] + ["a-node-that-is-not-there"]
    return Removal(
        node=name,
        # Some stay behind, as those of a DaemonSet do.
        movers=tuple(pod.key for pod in running if random.random() < 0.9),
        wished=tuple((name, random.randint(1, 3)) for name in random.sample(others, random.randint(1, 3)))
        if random.random() < 0.5
        else (),
    )


def _plain(pod: Pod) -> Pod:
    """A pod to which others are nothing, unless they mind it."""
    spec = pod.spec
    quiet = tuple(structs.replace(each, ports=()) for each in spec.containers)
    affinity = structs.replace(spec.affinity, pod_affinity=None, pod_anti_affinity=None) if spec.affinity else None
    loose = structs.replace(
        spec, containers=quiet, init_containers=(), affinity=affinity, topology_spread_constraints=(), volumes=()
    )
    return structs.replace(pod, spec=loose)


def _placed(case: Case, simulation: ClusterSimulation) -> dict[str, str]:
    if not case.crowded:
        return {}
    return {key: node for pods in case.world.pod_sets for key, node in simulation.place(pods).items()}


def _core_outcome(core: Relocation, removal: Removal, cluster: Cluster) -> Outcome:
    tenants: list[PodRow] = [cluster.pods[key] for key in removal.movers]
    relocated = core.remove(removal.node, tenants, removal.wished)
    return Outcome(
        homeless=relocated.homeless.key if relocated.homeless else None,
        homes={tenant.key: move.node for move in relocated.moves for tenant in move.tenants},
    )


def _left(world: World, gone: set[str]) -> World:
    return replace(world, nodes=tuple(node for node in world.nodes if node.name not in gone))


def _compare(left: World, simulation: ClusterSimulation, oracle: Oracle, after: str) -> Iterator[str]:
    core, right = verdicts(left, simulation), judgements(left, oracle)
    for pair, expected in right.items():
        if core[pair] != expected:
            yield f"after {after}, {' on '.join(pair)}: the core says {core[pair]}, but it is {expected}"


def _shape(pod: Pod) -> object:
    spec = pod.spec
    node_affinity = spec.affinity.node_affinity if spec.affinity else None
    wishes = repr((node_affinity, spec.tolerations)) if node_affinity or spec.tolerations else ""
    return tuple(sorted(pod.requests.items())), tuple(sorted(spec.node_selector.items())), wishes
