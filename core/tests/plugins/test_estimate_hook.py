"""What a plugin that adjusts estimates does to a scale-up."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from nodewright.api import Decision, Estimate, GroupFacts, Plugin, Reason, hookimpl
from nodewright.config.model import ScaleUp, Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing import EPOCH, a_group, a_pod, a_template
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
TEMPLATE = a_template(cpu="4", memory="64Gi")
ONE_OPTION = Settings(scale_up=ScaleUp(options_per_loop=1))


class Adjuster(Plugin):
    """Adjusts estimates by a function."""

    def __init__(self, adjust: Callable[[GroupFacts, Estimate], Estimate | None]) -> None:
        super().__init__(self.Config())
        self._adjust = adjust
        self.sizes: list[int] = []

    @hookimpl
    def adjust_estimate(self, group: GroupFacts, estimate: Estimate) -> Estimate | None:
        self.sizes.append(group.target_size)
        return self._adjust(group, estimate)


def decision_of(adjuster: Adjuster, settings: Settings | None = None) -> Decision:
    """What is decided for eight pods, of which a node takes four, with two groups of equal templates."""
    groups = [a_group(name, template=TEMPLATE) for name in "ab"]
    world = a_world(groups=groups, pods=[a_pod(f"web-{number}", cpu="1") for number in range(8)])
    return decide(world, Memory(), a_policy(settings, hooks={"adjuster": adjuster}), NOW)[0]


def grown(decision: Decision) -> list[tuple[str, int]]:
    return [(grow.group, grow.count) for grow in decision.grow]


def test_a_group_can_be_dropped_and_the_decision_says_so() -> None:
    def drop(group: GroupFacts, estimate: Estimate) -> Estimate | None:
        return Estimate(nodes=0, pods=()) if group.id == "a" else None

    decision = decision_of(Adjuster(drop))
    assert grown(decision) == [("b", 2)]
    assert decision.groups["a"].reason is Reason.FILTERED
    assert str(decision.groups["a"].detail) == "a hook"


def test_a_lower_estimate_is_what_is_ordered() -> None:
    adjuster = Adjuster(lambda group, estimate: replace(estimate, nodes=1))
    decision = decision_of(adjuster, ONE_OPTION)
    assert [count for _, count in grown(decision)] == [1]
    assert sum(verdict.reason is Reason.HELPED for verdict in decision.pods.values()) == 4


def test_pods_that_are_left_over_bring_another_round_in_which_the_growth_so_far_counts() -> None:
    adjuster = Adjuster(lambda group, estimate: replace(estimate, nodes=1))
    decision = decision_of(adjuster)
    assert sum(count for _, count in grown(decision)) == 2
    assert sorted(adjuster.sizes) == [0, 0, 0, 1]


def test_a_plugin_that_raises_changes_nothing() -> None:
    def fail(group: GroupFacts, estimate: Estimate) -> Estimate:
        raise RuntimeError("boom")

    assert sum(count for _, count in grown(decision_of(Adjuster(fail)))) == 2
