"""Errors of groups without a machine that shows them."""

from dataclasses import replace
from datetime import timedelta

from nodewright.api import ErrorClass, Instance, InstanceError, InstanceState, Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import HealthMemory, Memory, OrderMemory, ScaleUpRequest
from nodewright.explain.explanation import explain_group
from nodewright.explain.look import Look
from nodewright.testing.builders import a_group, a_node
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
LOOP = timedelta(seconds=10)
IPS = InstanceError(error_class=ErrorClass.OTHER, code="IP_SPACE_EXHAUSTED", message="no address is left")
DRY = InstanceError(error_class=ErrorClass.STOCK_OUT, code="DRY", pool="eu-a/n2")


def an_order(at=NOW - LOOP, count=2):
    return OrderMemory(requests={"a": ScaleUpRequest(at=at, count=count)})


def a_failing_group(*errors, target=2, **fields):
    return replace(a_group("a", **fields), target_size=target, errors=errors)


def decide_on(group, memory=None, now=NOW, nodes=()):
    world = a_world(groups=[group], nodes={"a": nodes})
    decision, after, findings = decide(world, memory or Memory(), a_policy(), now, in_depth=True)
    return Look(world=world, decision=decision, memory=after, findings=findings)


def test_a_new_error_backs_the_group_off_and_gives_up_what_has_not_come_of_its_order() -> None:
    look = decide_on(a_failing_group(IPS), Memory(orders=an_order()))
    (shrink,) = look.decision.shrink
    assert (shrink.group, shrink.count) == ("a", 2)
    assert str(shrink.verdict) == "the cloud could not make it (IP_SPACE_EXHAUSTED: no address is left)"
    assert look.memory.health.backoffs["a"].code == "IP_SPACE_EXHAUSTED"
    assert look.memory.orders.requests == {}
    assert "  machines do not come: IP_SPACE_EXHAUSTED: no address is left" in explain_group(look, "a")


def test_machines_that_came_are_kept() -> None:
    came = Instance(id="new", state=InstanceState.CREATING)
    look = decide_on(a_failing_group(IPS, instances=[came], target=3), Memory(orders=an_order(count=3)))
    assert [each.count for each in look.decision.shrink] == [2]
    assert not look.decision.delete
    assert look.findings.upcoming == {"a": 1}


def test_an_error_that_stays_counts_once_whatever_else_the_cloud_says_of_it() -> None:
    first = decide_on(a_failing_group(IPS, target=0)).memory
    again = replace(IPS, message="no address is left in subnet 7")
    second = decide_on(a_failing_group(again, target=0), first, NOW + timedelta(minutes=5)).memory
    assert second.health.backoffs["a"].failed_at == NOW
    assert not decide_on(a_failing_group(again, target=0), second, NOW + timedelta(minutes=6)).findings.blocked


def test_an_error_that_was_gone_in_between_counts_again() -> None:
    memory = decide_on(a_failing_group(IPS, target=0)).memory
    memory = decide_on(a_failing_group(target=0), memory, NOW + LOOP).memory
    later = NOW + timedelta(minutes=5)
    memory = decide_on(a_failing_group(IPS, target=0), memory, later).memory
    assert (memory.health.backoffs["a"].failed_at, memory.health.backoffs["a"].pause) == (later, timedelta(minutes=10))


def test_an_error_that_was_known_before_the_order_does_not_end_it() -> None:
    memory = Memory(orders=an_order(), health=HealthMemory(errors={"a": {"Other:IP_SPACE_EXHAUSTED:": EPOCH}}))
    look = decide_on(a_failing_group(IPS), memory)
    assert not look.decision.shrink
    assert not look.memory.health.backoffs


def test_an_error_is_still_known_after_an_absence() -> None:
    memory = decide_on(a_failing_group(IPS, target=0)).memory.after_absence()
    look = decide_on(a_failing_group(IPS, target=0), memory, NOW + timedelta(minutes=1))
    assert look.memory.health.backoffs["a"].failed_at == NOW


def test_what_was_not_given_up_as_the_cloud_asked_for_fewer_calls_is_given_up_later() -> None:
    respite = {"a": {"shrink": NOW + LOOP}}
    look = decide_on(a_failing_group(IPS), Memory(orders=an_order(), health=HealthMemory(respites=respite)))
    assert not look.decision.shrink
    look = decide_on(a_failing_group(IPS), look.memory, NOW + LOOP)
    assert [each.count for each in look.decision.shrink] == [2]


def test_a_group_that_could_not_be_read_keeps_what_is_known_of_its_errors() -> None:
    memory = decide_on(a_failing_group(IPS, target=0)).memory
    look = decide_on(replace(a_failing_group(target=0), error="away"), memory, NOW + LOOP)
    assert look.memory.health.errors == memory.health.errors


def test_a_stock_out_tells_of_its_pool() -> None:
    look = decide_on(a_failing_group(DRY, target=0))
    assert look.memory.health.pools.keys() == {"fake:eu-a/n2"}


def test_nothing_is_given_up_of_an_order_that_has_come() -> None:
    group = a_failing_group(IPS, size=1, target=1)
    look = decide_on(group, Memory(orders=an_order(count=1)), nodes=[a_node("n", provider_id=group.instances[0].id)])
    assert not look.decision.shrink
    assert look.findings.blocked["a"].reason is Reason.GROUP_BACKED_OFF
