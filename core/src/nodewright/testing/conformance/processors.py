"""The conformance suites of processors: of pending pods, and of candidates for scale-down."""

import dataclasses
from collections import Counter
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from nodewright.api import (
    Node,
    PendingPodsProcessor,
    Plugin,
    Pod,
    PodSet,
    ProcessorContext,
    Reason,
    ScaleDownCandidatesProcessor,
    Taint,
)
from nodewright.objects import PodSpec
from nodewright.plugins.results import all_of
from nodewright.testing.builders import a_group, a_node, a_pod, keeping_apart, pods_like
from nodewright.testing.conformance.annotations import advice, annotations_of, as_read
from nodewright.testing.conformance.strategy import answered, keys_of, left_alone, reborn, shown
from nodewright.testing.conformance.suite import Suite, requires
from nodewright.testing.contexts import a_processor_context, a_simulation


def _adds(request: pytest.FixtureRequest) -> str:
    processor: PendingPodsProcessor = request.getfixturevalue("processor")
    return "" if processor.adds_pods else "the processor does not declare that it adds pods"


def _only_takes(request: pytest.FixtureRequest) -> str:
    processor: PendingPodsProcessor = request.getfixturevalue("processor")
    return "the processor declares that it adds pods" if processor.adds_pods else ""


class PendingPodsProcessorConformance(Suite):
    """All that the core relies on in a step of ``processors.pendingPods``.

    A subclass overrides the fixture ``processor``. It may override ``pods`` as well: what waits, such as pods with
    labels that the processor goes by.
    """

    @pytest.fixture
    def processor(self) -> PendingPodsProcessor:
        """The processor under test."""
        raise NotImplementedError("override the fixture `processor`: it returns a new one, configured as by users")

    @pytest.fixture
    def pods(self) -> list[PodSet]:
        """Pods that wait, of several kinds."""
        return _waiting()

    @pytest.fixture
    def waiting(self, processor: PendingPodsProcessor, pods: list[PodSet]) -> list[PodSet]:
        """The same pods with those annotations that they have in a cluster."""
        return as_read(processor, pods).sets(pods)

    @requires(_only_takes)
    def test_it_adds_no_pods(self, processor: PendingPodsProcessor, waiting: list[PodSet]) -> None:
        """What it returns is a part of what it was given, unless it declares `adds_pods`."""
        added = keys_of(_processed(processor, waiting)) - keys_of(waiting)
        assert not added, f"it added {', '.join(sorted(added))} without declaring adds_pods"

    def test_it_returns_each_pod_once(self, processor: PendingPodsProcessor, waiting: list[PodSet]) -> None:
        """No key is in what it returns twice, also if sets are alike."""
        times = Counter(key for pods in _processed(processor, waiting) for key in pods.keys)
        twice = [key for key, count in times.items() if count > 1]
        assert not twice, f"it returned {', '.join(twice)} more than once"

    def test_it_returns_no_empty_sets(self, processor: PendingPodsProcessor, waiting: list[PodSet]) -> None:
        """A set without pods is left out."""
        kept = _processed(processor, waiting)
        assert all(pods.keys for pods in kept), f"it returned a set without pods: {[pods.keys for pods in kept]}"

    def test_pods_that_are_alike_share_their_fate(self, processor: PendingPodsProcessor, waiting: list[PodSet]) -> None:
        """Equal pods come in one set or in several: as many of them are kept either way."""
        split = [PodSet(pod=pods.pod, keys=(key,)) for pods in waiting for key in pods.keys]
        one, several = (len(keys_of(_processed(processor, given))) for given in (waiting, split))
        assert one == several, f"of sets it keeps {one} pods, of the same pods in sets of their own {several}"

    @requires(_adds)
    def test_nobody_waiting_is_no_error(self, processor: PendingPodsProcessor) -> None:
        """One that adds pods is called with an empty list, too."""
        _processed(processor, [])

    @requires(_adds)
    def test_pods_that_it_adds_are_new(self, processor: PendingPodsProcessor, waiting: list[PodSet]) -> None:
        """Pods that it adds are not on the list already, whatever becomes of the list."""
        given = keys_of(waiting)
        added = [pods for pods in _processed(processor, waiting) if not given & set(pods.keys)]
        again = Counter(key for pods in _processed(processor, [*waiting, *added]) for key in pods.keys)
        twice = [key for key, count in again.items() if count > 1]
        assert not twice, f"it added {', '.join(twice)}, which were on the list already"

    def test_pods_that_say_little_are_no_error(self, processor: PendingPodsProcessor) -> None:
        """A pod may have no owner, no labels, no priority, no requests and no times."""
        bare = replace(a_pod("bare", owner=""), spec=PodSpec())
        bare = replace(bare, metadata=replace(bare.metadata, creation_timestamp=None))
        _processed(processor, [pods_like(bare, 2)])

    def test_pods_that_ask_for_much_are_no_error(self, processor: PendingPodsProcessor) -> None:
        """A pod may want GPUs, keep apart from others, have a high priority and be larger than any node."""
        greedy = a_pod(
            "greedy", cpu="500", memory="9Ti", gpus=64, priority=2_000_000_000, node_selector={"moon": "yes"}
        )
        _processed(processor, [pods_like(keeping_apart(greedy), 3)])

    def test_groups_without_a_template_are_no_error(
        self, processor: PendingPodsProcessor, waiting: list[PodSet]
    ) -> None:
        """A group may have no template, and there may be no groups."""
        for groups in ([], [dataclasses.replace(a_group("dark"), template=None)]):
            _processed(processor, waiting, a_processor_context(groups=groups))

    def test_annotations_that_it_reads_are_declared(self, processor: PendingPodsProcessor, pods: list[PodSet]) -> None:
        """Annotations of pods that it reads are in `pod_annotations`: in a cluster, others may be missing."""
        read = as_read(processor, pods)
        _processed(processor, read.watched_sets(pods))
        assert not read.undeclared, advice(read.undeclared)

    def test_the_same_question_gets_the_same_answer(
        self, processor: PendingPodsProcessor, waiting: list[PodSet]
    ) -> None:
        """Asked again at once, it answers the same."""
        first, again = (_told(_processed(processor, waiting)) for _ in range(2))
        assert first == again, f"it returned {first} at first and {again} when asked again"

    def test_what_it_was_asked_before_makes_no_difference(
        self, processor: PendingPodsProcessor, waiting: list[PodSet]
    ) -> None:
        """One that has been asked before answers like one that has not: nothing is kept between calls."""
        _processed(processor, waiting[:1])
        _processed(processor, [pods_like(a_pod("earlier"), 2)])
        experienced = _told(_processed(processor, waiting))
        fresh = _told(_processed(reborn(processor), waiting))
        assert experienced == fresh, f"it returned {experienced} after other questions, else {fresh}"

    def test_what_it_is_given_stays_as_it_is(self, processor: PendingPodsProcessor, waiting: list[PodSet]) -> None:
        """Neither the list nor the context's groups and returning pods are changed."""
        context = _context(processor)
        known = {"the pods": waiting, "the groups": context.groups, "the returning pods": list(context.returning)}
        with left_alone(known), context.simulation.fork():
            processor.process(waiting, context)

    def test_its_reason_has_a_code(self, processor: PendingPodsProcessor) -> None:
        """`reason`, which explains why pods that it took off get no help, is of the registry."""
        assert isinstance(processor.reason, Reason), f"reason is {shown(processor.reason)}, no nodewright.api.Reason"


class ScaleDownCandidatesProcessorConformance(Suite):
    """All that the core relies on in a step of ``processors.scaleDownCandidates``.

    A subclass overrides the fixture ``processor``. It may override ``nodes`` as well: the candidates, such as nodes
    with labels that the processor goes by.
    """

    @pytest.fixture
    def processor(self) -> ScaleDownCandidatesProcessor:
        """The processor under test."""
        raise NotImplementedError("override the fixture `processor`: it returns a new one, configured as by users")

    @pytest.fixture
    def nodes(self) -> list[Node]:
        """Candidates of several kinds."""
        return _nodes()

    def test_the_answer_is_made_of_the_candidates(
        self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]
    ) -> None:
        """What it returns are nodes that it was given, as they are."""
        known = {id(node) for node in nodes}
        for node in _filtered(processor, nodes):
            assert id(node) in known, f"node {node.name} is not one of those that it was given"

    def test_it_returns_each_node_once(self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]) -> None:
        """No node is in what it returns twice."""
        times = Counter(node.name for node in _filtered(processor, nodes))
        twice = [name for name, count in times.items() if count > 1]
        assert not twice, f"it returned {', '.join(twice)} more than once"

    def test_no_candidates_are_no_error(self, processor: ScaleDownCandidatesProcessor) -> None:
        """It is called also when no node is looked at."""
        assert not _filtered(processor, []), "it returned nodes where there were none"

    def test_a_single_candidate_is_no_error(self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]) -> None:
        """A cluster may have but one node that is looked at."""
        for node in nodes:
            _filtered(processor, [node])

    def test_nodes_that_say_little_are_no_error(
        self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]
    ) -> None:
        """A node may have no labels, no provider ID, no resources, no conditions and no times."""
        _filtered(processor, [*nodes, Node(metadata=replace(a_node("bare").metadata, creation_timestamp=None))])

    def test_nodes_of_no_group_are_no_error(self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]) -> None:
        """There may be no groups at all, as when their provider can't be read."""
        _filtered(processor, nodes, a_processor_context())

    def test_the_same_question_gets_the_same_answer(
        self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]
    ) -> None:
        """Asked again at once, it answers the same."""
        first, again = ([node.name for node in _filtered(processor, nodes)] for _ in range(2))
        assert first == again, f"it returned {first} at first and {again} when asked again"

    def test_what_it_was_asked_before_makes_no_difference(
        self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]
    ) -> None:
        """One that has been asked before answers like one that has not: nothing is kept between calls."""
        _filtered(processor, [a_node("earlier"), a_node("as-early")])
        _filtered(processor, nodes[:2])
        experienced = [node.name for node in _filtered(processor, nodes)]
        fresh = [node.name for node in _filtered(reborn(processor), nodes)]
        assert experienced == fresh, f"it returned {experienced} after other questions, else {fresh}"

    def test_what_it_is_given_stays_as_it_is(self, processor: ScaleDownCandidatesProcessor, nodes: list[Node]) -> None:
        """Neither the list nor the context's groups are changed."""
        context = _context(processor)
        with left_alone({"the nodes": nodes, "the groups": context.groups}), context.simulation.fork():
            processor.process(nodes, context)

    def test_its_reason_has_a_code(self, processor: ScaleDownCandidatesProcessor) -> None:
        """`reason`, which explains why nodes that it took off are kept, is of the registry."""
        assert isinstance(processor.reason, Reason), f"reason is {shown(processor.reason)}, no nodewright.api.Reason"


def _waiting() -> list[PodSet]:
    """Pods of several kinds: some fit the cluster of `_context`, some not, some are alike but not in one set."""
    web = a_pod("web", cpu="500m")
    return [
        pods_like(web, 3),
        pods_like(a_pod("huge", cpu="64", owner="Job/huge"), 2),
        pods_like(a_pod("agent", cpu="9", owner="DaemonSet/agent"), 1),
        PodSet(pod=web, keys=("default/web-of-another-set",)),
        pods_like(a_pod("spare", cpu="9", priority=-100), 2),
        pods_like(a_pod("training", cpu="1", gpus=1, owner="Job/training", priority=1000), 2),
    ]


def _nodes() -> list[Node]:
    """Candidates of several kinds: ready or not, cordoned, tainted, in a zone or in none."""
    return [
        a_node("node-1", zone="eu-a", labels={"team": "web"}),
        a_node("node-2", cpu="8", zone="eu-b", ready=False),
        a_node("node-3", unschedulable=True),
        a_node("node-4", taints=[Taint(key="spot", value="yes")], annotations={"note": "old"}),
    ]


def _context(processor: Plugin) -> ProcessorContext:
    """One node with room for a few pods, a group, and pods of a node that is being drained."""
    running: list[Pod] = [a_pod("cache", cpu="1", node="node-1")]
    return a_processor_context(
        groups=[a_group("workers", size=1, zone="eu-a", price=0.1)],
        simulation=a_simulation(
            nodes=[a_node("node-1", cpu="2", memory="8Gi")], pods=running, pod_annotations=annotations_of(processor)
        ),
        returning=[pods_like(a_pod("returning", cpu="4"), 2)],
    )


def _processed(
    processor: PendingPodsProcessor, pods: Sequence[PodSet], context: ProcessorContext | None = None
) -> list[PodSet]:
    context = context or _context(processor)
    with context.simulation.fork():
        answer = processor.process(list(pods), context)
    return list(answered("process", all_of(PodSet, pods), answer))


def _filtered(
    processor: ScaleDownCandidatesProcessor, nodes: Sequence[Node], context: ProcessorContext | None = None
) -> list[Node]:
    context = context or _context(processor)
    with context.simulation.fork():
        answer = processor.process(list(nodes), context)
    return list(answered("process", all_of(Node, nodes), answer))


def _told(sets: Sequence[PodSet]) -> list[tuple[str, ...]]:
    return [pods.keys for pods in sets]
