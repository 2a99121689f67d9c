"""The conformance suite of drain rules."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from nodewright.api import ControllerFacts, DrainContext, DrainRule, DrainSettings, Pod
from nodewright.objects import PodSpec
from nodewright.plugins.results import pod_fate
from nodewright.testing.builders import a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.conformance.annotations import AsRead, advice
from nodewright.testing.conformance.strategy import answered, left_alone, reborn, shown
from nodewright.testing.conformance.suite import Suite, requires
from nodewright.testing.contexts import a_drain_context


def _alike(request: pytest.FixtureRequest) -> str:
    rule: DrainRule = request.getfixturevalue("rule")
    return "" if rule.alike else "the rule does not declare that pods that are alike share their fate"


class DrainRuleConformance(Suite):
    """All that the core relies on in a step of ``scaleDown.drainRules``. A subclass overrides the fixture ``rule``.

    It may override ``pods`` as well: what the rule is asked about, such as pods with labels that it goes by.
    """

    @pytest.fixture
    def rule(self) -> DrainRule:
        """The rule under test."""
        raise NotImplementedError("override the fixture `rule`: it returns a new one, configured as by users")

    @pytest.fixture
    def pods(self) -> list[Pod]:
        """Pods that the rule is asked about; all of them run."""
        return _pods()

    @pytest.fixture
    def running(self, rule: DrainRule, pods: list[Pod]) -> list[Pod]:
        """The same pods with those annotations that they have in a cluster."""
        read = AsRead(rule, pods)
        return [read.pod(pod) for pod in pods]

    def test_the_answer_is_a_fate_a_reason_or_none(self, rule: DrainRule, running: list[Pod]) -> None:
        """`judge` returns a `PodFate`, a reason that is not empty, or None."""
        for pod in running:
            for context in _contexts():
                answered(f"of pod {pod.key} judge", pod_fate, rule.judge(pod, context))

    def test_pods_that_do_not_vary_share_their_fate(self, rule: DrainRule, running: list[Pod]) -> None:
        """Where `varies` is false, neither its name, uid, times nor status tell a pod from others like it."""
        for pod in running:
            for context in _contexts():
                twin = _twin(pod)
                if rule.varies(pod, context):
                    continue
                one, other = rule.judge(pod, context), rule.judge(twin, context)
                assert one == other, (
                    f"of pod {pod.key} it says {shown(one)}, but of one that differs by name and times only "
                    f"{shown(other)}: declare that by `varies`"
                )

    def test_pods_that_do_not_vary_have_no_clock(self, rule: DrainRule, running: list[Pod]) -> None:
        """Where `varies` is false, the time makes no difference."""
        for pod in running:
            for hours in (1, 7, 13, 19):
                context, later = a_drain_context(), a_drain_context(now=EPOCH + timedelta(hours=hours))
                if rule.varies(pod, context) or rule.varies(pod, later):
                    continue
                one, other = rule.judge(pod, context), rule.judge(pod, later)
                assert one == other, (
                    f"of pod {pod.key} it says {shown(one)} and later {shown(other)}: declare that by `varies`"
                )

    @requires(_alike)
    def test_alike_pods_do_not_vary(self, rule: DrainRule, running: list[Pod]) -> None:
        """A rule that declares `alike` has no pods that `varies` is true for."""
        varying = [pod.key for pod in running if rule.varies(pod, a_drain_context())]
        assert not varying, f"it declares alike, but says that pods like {', '.join(varying)} vary"

    def test_pods_that_say_little_are_no_error(self, rule: DrainRule) -> None:
        """A pod may have no owner, no labels, no priority, no containers and no times."""
        bare = replace(a_pod("bare", owner="", node="node-1"), spec=PodSpec(node_name="node-1"))
        bare = replace(bare, metadata=replace(bare.metadata, creation_timestamp=None, labels={}))
        for context in _contexts():
            rule.varies(bare, context)
            rule.judge(bare, context)

    def test_annotations_that_it_reads_are_declared(self, rule: DrainRule, pods: list[Pod]) -> None:
        """Annotations of pods that it reads are in `pod_annotations`: in a cluster, others may be missing."""
        read = AsRead(rule, pods)
        for pod in pods:
            for context in _contexts():
                rule.varies(read.watched(pod), context)
                rule.judge(read.watched(pod), context)
        assert not read.undeclared, advice(read.undeclared)

    def test_the_same_question_gets_the_same_answer(self, rule: DrainRule, running: list[Pod]) -> None:
        """Asked again at once, it answers the same."""
        for pod in running:
            first, again = (rule.judge(pod, a_drain_context()) for _ in range(2))
            assert first == again, f"of pod {pod.key} it says {shown(first)}, and {shown(again)} when asked again"

    def test_what_it_was_asked_before_makes_no_difference(self, rule: DrainRule, running: list[Pod]) -> None:
        """One that has judged before judges like one that has not: nothing is kept between calls."""
        first = [reborn(rule).judge(pod, a_drain_context()) for pod in running]
        for pod in running:
            rule.judge(pod, a_drain_context())
        later = [rule.judge(pod, a_drain_context()) for pod in running]
        assert first == later, (
            f"asked about {[pod.key for pod in running]} a fresh one says {shown(first)}, another {shown(later)}"
        )

    def test_what_it_is_given_stays_as_it_is(self, rule: DrainRule, running: list[Pod]) -> None:
        """The pod is not changed."""
        for pod in running:
            with left_alone({"the pod": pod}):
                rule.varies(pod, a_drain_context())
                rule.judge(pod, a_drain_context())


def _pods() -> list[Pod]:
    """Pods of many kinds, all of which run."""
    return [
        a_pod("web", node="node-1"),
        a_pod("agent", owner="DaemonSet/agent", node="node-1"),
        a_pod("bare", owner="", node="node-1"),
        a_pod("dns", namespace="kube-system", node="node-1"),
        a_pod("batch", owner="Job/batch", node="node-1", priority=-5),
        a_pod("database", owner="StatefulSet/database", node="node-1", labels={"app": "database"}),
        a_pod("safe", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}, node="node-1"),
        a_pod("precious", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}, node="node-1"),
    ]


def _contexts() -> list[DrainContext]:
    """Pods with and without a controller that is known, budgets, and rules that hold."""
    lenient = DrainSettings(skip_system_pods=False, skip_local_storage=False, skip_custom_controller_pods=False)
    return [
        a_drain_context(),
        a_drain_context(settings=lenient),
        a_drain_context(controller=ControllerFacts(exists=False)),
        a_drain_context(controller=ControllerFacts(exists=True, replicas=3)),
        a_drain_context(
            controller=ControllerFacts(exists=True), budgets=["default/web"], spent_budgets=["default/web"]
        ),
    ]


def _twin(pod: Pod) -> Pod:
    """Another pod of the same controller, that came two days earlier."""
    meta = pod.metadata
    born = meta.creation_timestamp and meta.creation_timestamp - timedelta(days=2)
    twin = replace(meta, name=f"{meta.name}-twin", uid=f"{meta.uid}-twin", creation_timestamp=born)
    return replace(pod, metadata=twin, status=replace(pod.status, start_time=born))
