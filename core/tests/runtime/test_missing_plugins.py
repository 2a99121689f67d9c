"""What may have kept nodes keeps them all while it can't be loaded."""

from datetime import timedelta

from nodewright.config.model import Processors, ScaleDown, Settings
from nodewright.config.reference import Reference
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH, SteppedClock
from nodewright.testing.contexts import a_processor_context
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


VETO = """
    from nodewright.api import *

    class Mine(Plugin):
        class Config(PluginConfig):
            until: int = 0

        @hookimpl
        def veto_scale_down(self, node): return None

    class Watching(Plugin):
        Config = Mine.Config

        @hookimpl
        def on_config_changed(self): pass
"""


def hooks_with(name, config, install):
    install("acme", {"hooks/mine": "Mine", "hooks/watching": "Watching"}, VETO)
    settings = Settings(hooks=(Reference(name=name, config=config),))
    return Strategies(Registry(), Faults(SteppedClock())).policy(settings).hooks


def test_no_node_goes_while_a_veto_can_not_be_made(install) -> None:
    hooks = hooks_with("mine", {"until": "tomorrow"}, install)
    assert str(hooks.veto_scale_down(a_node(), a_group(), EPOCH)) == "mine: could not be loaded, see the log"


def test_no_node_goes_while_nobody_knows_what_a_hook_plugin_would_say(install) -> None:
    hooks = hooks_with("not-installed", {}, install)
    assert str(hooks.veto_scale_down(a_node(), a_group(), EPOCH)) == "not-installed: could not be loaded, see the log"


def test_a_plugin_that_only_watches_is_missed_by_nobody(install) -> None:
    assert hooks_with("watching", {"until": "tomorrow"}, install).veto_scale_down(a_node(), a_group(), EPOCH) is None


def test_no_node_is_a_candidate_while_a_step_is_missing() -> None:
    settings = Settings(processors=Processors(scale_down_candidates=(Reference(name="not-installed"),)))
    policy = Strategies(Registry(), Faults(SteppedClock())).policy(settings)
    (step,) = policy.scale_down_candidates.values()
    assert step.process([a_node()], a_processor_context()) == ()
