"""A drain rule that can't be loaded keeps nodes."""

from datetime import timedelta

from nodewright.config.model import ScaleDown, Settings
from nodewright.config.reference import Reference
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing.builders import a_node, a_pod
from nodewright.testing.clock import EPOCH, SteppedClock
from nodewright.testing.worlds import a_world, built_in_drain_rules


def policy_with(*names):
    settings = Settings(scale_down=ScaleDown(drain_rules=tuple(Reference(name=name) for name in names)))
    return Strategies(Registry(), Faults(SteppedClock())).policy(settings)


def drain(policy):
    world = a_world(nodes={"": [a_node()]}, pods=[a_pod("a", node="node-1")])
    return Drainability(world, policy, EPOCH + timedelta(hours=1)).of("node-1")


def test_no_node_with_pods_goes_while_a_rule_that_was_asked_for_is_missing() -> None:
    policy = policy_with("not-replicated", "of-our-company")
    assert str(drain(policy).blocker) == "a pod must not be moved (default/a: DrainRuleMissing)"
    assert policy.faults.counts == {("of-our-company", "load"): 1}


def test_rules_hold_in_the_order_of_the_configuration() -> None:
    assert drain(policy_with("safe-to-evict", "not-replicated")).blocker is None


def test_all_rules_hold_unless_some_are_named() -> None:
    policy = Strategies(Registry(), Faults(SteppedClock())).policy(Settings())
    assert list(policy.drain_rules) == list(built_in_drain_rules())
    assert [type(rule) for rule in policy.drain_rules.values()] == [type(r) for r in built_in_drain_rules().values()]
