"""What goes wrong when groups grow: pods run in the end, nothing is ordered twice, and events tell the story."""

from datetime import timedelta
from time import monotonic, sleep

import pytest
from nodewright.api import ErrorClass, InstanceError, Plugin, hookimpl
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind
from nodewright_fake.cloud.shortage import Quota, ShortageMode, Stock

from tests.end_to_end.scenarios import a_group, a_scenario, two_choices

FAST = "scaleDown: {enabled: false}\nhealth: {maxNodeProvisionTime: 3m}"
BROKEN = InstanceError(error_class=ErrorClass.CONFIGURATION, code="BAD_IMAGE", message="no such image")
FIRST, OTHER = "first-choice", "fallback"


def all_run(life, count=4):
    return lambda: len(life.pods("Running")) == count


def setting(group, size="1 instead of 0 (max: 20)"):
    return ("ScaledUpGroup", f"Scale-up: setting group {group} size to {size}")


def set_(group, size="1 instead of 0 (max: 20)"):
    return ("ScaledUpGroup", f"Scale-up: group {group} size set to {size}")


def failed(group, why):
    return ("FailedToScaleUpGroup", f"Scale-up failed for group {group}: {why}")


def triggered(group, size="0->1 (max: 20)"):
    return f"pod triggered scale-up: [{{{group} {size}}}]"


def by_stock_out(life):
    life.run_out("eu-a/*", ShortageMode.REFUSE)
    return "STOCK_OUT: capacity pool eu-a/fitting has no more machines at the moment"


def by_quota(life):
    life.world.cloud.supply.limit_quota(Quota(instance_types="fitting", vcpus=2, mode=ShortageMode.REFUSE))
    return "QUOTA_EXCEEDED: 0 of 2 vCPUs of fitting are in use, 4 more are not allowed: ask for a higher quota"


def by_missing_right(life):
    life.world.cloud.gate.add(ApiFault(ApiFaultKind.DENIED, operations="increase", times=1))
    return "access denied: the caller lacks the right to call increase"


class DeletesGroup(Plugin):
    """Somebody who deletes the group that is about to grow."""

    cloud = None

    @hookimpl
    def on_decision(self, decision):
        if any(grow.group == FIRST for grow in decision.grow):
            self.cloud.delete_group(FIRST)


class TestRefusedForGood:
    @pytest.mark.parametrize(
        ("refuse", "error_class"),
        [
            (by_stock_out, ErrorClass.STOCK_OUT),
            (by_quota, ErrorClass.QUOTA),
            (by_missing_right, ErrorClass.OTHER),
        ],
    )
    def test_the_next_best_group_grows_in_the_same_loop(self, begin, refuse, error_class) -> None:
        life = begin(most_nodes=1)
        why = refuse(life)
        life.go_on(10)
        assert life.sizes() == {OTHER: 1}
        assert life.story() == [setting(FIRST), failed(FIRST, why), setting(OTHER), set_(OTHER)]
        assert life.told_to_pods("TriggeredScaleUp") == {triggered(OTHER)}
        memory = life.autoscaler.memory
        assert {group: known.error_class for group, known in memory.health.backoffs.items()} == {FIRST: error_class}
        assert memory.orders.requests.keys() == {OTHER}
        life.until(all_run(life))
        assert life.ordered(OTHER) == 1

    def test_a_refusal_counts_once(self, begin) -> None:
        life = begin()
        by_stock_out(life)
        life.go_on(10)
        known = life.autoscaler.memory.health.backoffs
        life.go_on(20)
        assert life.autoscaler.memory.health.backoffs == known

    def test_what_is_decided_further_has_the_verdicts_on_nodes_too(self, begin) -> None:
        life = begin(a_scenario(*two_choices(), a_group("fixed", min=1, max=1), replicas=0))
        life.until(lambda: life.nodes == ["fixed-1"])
        by_stock_out(life)
        life.scale("web", 12)
        life.go_on(10)
        first, second = life.diary.decisions[-2:]
        assert [[grow.group for grow in decision.grow] for decision in (first, second)] == [[FIRST], [OTHER]]
        assert second.nodes == first.nodes
        assert first.nodes.keys() == {"fixed-1"}

    def test_a_stock_out_is_known_with_the_pool_that_ran_dry(self, begin) -> None:
        life = begin()
        by_stock_out(life)
        life.go_on(10)
        causes = [outcome.cause for outcome in life.diary.outcomes if not outcome.ok]
        assert [(cause.code, cause.pool) for cause in causes] == [("STOCK_OUT", "eu-a/fitting")]

    def test_a_group_that_is_gone_in_between_is_passed_over(self, begin) -> None:
        vandal = DeletesGroup(DeletesGroup.Config())
        life = begin(observers={"vandal": vandal})
        vandal.cloud = life.world.cloud
        life.go_on(10)
        assert life.sizes() == {OTHER: 1}
        assert failed(FIRST, "there is no node group 'first-choice'") in life.story()
        life.until(all_run(life))
        assert life.ordered(OTHER) == 1

    def test_when_no_group_is_left_pods_are_told_why_and_run_once_the_cloud_delivers_again(self, begin) -> None:
        life = begin()
        life.run_out("*", ShortageMode.REFUSE)
        life.go_on(10)
        assert life.sizes() == {}
        assert [line.split()[1:3] for line in life.diary.lines if " failed, " not in line] == [
            ["grow", FIRST],
            ["grow", OTHER],
        ]
        assert life.told_to_pods("TriggeredScaleUp") == set()
        (told,) = life.told_to_pods("NotTriggerScaleUp")
        assert told.startswith(
            "pod didn't trigger scale-up: 1 in backoff after failed scale-up (STOCK_OUT of eu-a/fitting"
        )
        assert "1 in backoff after failed scale-up (STOCK_OUT of eu-b/roomy" in told
        assert life.autoscaler.memory.orders.requests == {}
        assert life.autoscaler.memory.cooldown.cluster.grown is None
        life.world.cloud.supply.lift_stocks("*")
        life.until(all_run(life))
        assert life.ordered(FIRST) + life.ordered(OTHER) == 1

    def test_one_pool_after_another_is_tried_until_a_group_grows(self, begin) -> None:
        groups = [a_group(f"dry-{number}", instanceType=("fitting", "roomy")[number % 2]) for number in range(4)]
        life = begin(a_scenario(*groups, a_group("wet", zone="eu-b", instanceType="roomy")))
        life.run_out("eu-a/*", ShortageMode.REFUSE)
        life.go_on(10)
        assert life.sizes() == {"wet": 1}
        # Groups that draw from a pool that is known to be dry are not asked.
        tried = [line.split()[2] for line in life.diary.lines if " failed, " in line]
        assert len(tried) == 2
        assert {int(name.removeprefix("dry-")) % 2 for name in tried} == {0, 1}
        assert sorted(life.autoscaler.memory.health.backoffs) == sorted(tried)


class TestAcceptedInVain:
    def test_an_order_that_is_never_met_is_given_up_and_ordered_elsewhere(self, begin) -> None:
        life = begin(settings=FAST, most_nodes=1)
        life.run_out("eu-a/*", ShortageMode.WAIT)
        life.until(all_run(life))
        assert life.sizes() == {OTHER: 1}
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (0, 1)
        assert any("shrink first-choice by 1: the cloud did not deliver in time" in line for line in life.diary.lines)
        assert life.story() == [setting(FIRST), set_(FIRST), setting(OTHER), set_(OTHER)]

    def test_machines_that_never_register_are_deleted_and_replaced(self, begin) -> None:
        life = begin(settings=FAST)
        life.world.cloud.boot_faults.add(BootFault(groups=FIRST, kind=BootFaultKind.NEVER_REGISTERS, error=BROKEN))
        life.until(all_run(life))
        life.go_on(120)
        assert life.sizes() == {OTHER: 1}
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 1)
        assert [instance.id for instance in life.world.cloud.instances(FIRST)] == []

    def test_machines_of_a_group_that_is_set_up_wrongly_are_deleted_and_replaced(self, begin) -> None:
        life = begin(settings=FAST)
        life.world.cloud.boot_faults.add(BootFault(groups=FIRST, kind=BootFaultKind.FAILS, error=BROKEN))
        life.until(all_run(life))
        assert life.sizes() == {OTHER: 1}
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 1)
        assert any("the cloud could not make it (BAD_IMAGE: no such image)" in line for line in life.diary.lines)

    def test_half_the_machines_fail_and_the_pods_run_all_the_same(self, begin) -> None:
        life = begin(a_scenario(replicas=32), FAST, most_nodes=12)
        life.world.cloud.boot_faults.add(BootFault(groups=FIRST, kind=BootFaultKind.FAILS, times=4, error=BROKEN))
        life.until(all_run(life, 32))
        assert any("the cloud could not make it (BAD_IMAGE: no such image)" in line for line in life.diary.lines)
        assert life.ordered(FIRST) == 8
        assert 1 <= life.ordered(OTHER) <= 2


class TestFailedForTheMoment:
    @pytest.mark.parametrize("kind", [ApiFaultKind.THROTTLED, ApiFaultKind.UNAVAILABLE, ApiFaultKind.INTERNAL])
    def test_the_same_order_is_given_again_in_the_next_loop_and_not_in_this_one(self, begin, kind) -> None:
        life = begin(most_nodes=1)
        life.world.cloud.gate.add(ApiFault(kind, operations="increase", times=2))
        for tries in (1, 2):
            life.go_on(10)
            assert (life.sizes(), life.world.cloud.gate.calls["increase"]) == ({}, tries)
            assert life.told_to_pods("TriggeredScaleUp") == set()
        life.go_on(10)
        assert life.sizes() == {FIRST: 1}
        assert life.autoscaler.memory.health.backoffs == {}
        assert sum("grow first-choice failed, will be tried again" in line for line in life.diary.lines) == 2
        assert life.told_to_pods("TriggeredScaleUp") == {triggered(FIRST)}
        reasons = [reason for reason, _ in life.story()]
        # What was told in the last five minutes is not told again.
        assert reasons == ["ScaledUpGroup", "FailedToScaleUpGroup", "ScaledUpGroup"]
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)

    @pytest.mark.parametrize("mode", [None, ShortageMode.WAIT])
    def test_an_order_whose_answer_was_lost_is_not_given_again(self, begin, mode) -> None:
        life = begin(settings=FAST)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.LOST, operations="increase", times=1))
        if mode is not None:
            life.run_out("eu-a/*", mode)
        life.go_on(60)
        assert life.sizes() == {FIRST: 1}
        assert life.world.cloud.gate.calls["increase"] == 1
        life.world.cloud.supply.lift_stocks("*")
        life.world.cloud.fill()
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)

    def test_an_order_whose_answer_was_lost_counts_while_the_cloud_can_not_be_read(self, begin) -> None:
        life = begin(settings=FAST)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.LOST, operations="increase", times=1))
        life.go_on(10)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, operations="snapshot"))
        decision = life.go_on(20)
        assert {str(verdict.reason) for verdict in decision.pods.values()} == {"Fits"}
        life.world.cloud.gate.heal("*")
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)

    def test_a_cloud_that_can_not_be_read_after_an_order_is_waited_for(self, begin) -> None:
        life = begin(a_scenario(*two_choices(bootTime="60s")), FAST)
        life.go_on(10)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, operations="snapshot"))
        decision = life.go_on(30)
        assert {str(verdict.reason) for verdict in decision.pods.values()} == {"Fits"}
        life.world.cloud.gate.heal("*")
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)


class TestLateAnswers:
    SETTINGS = FAST + "\nloop: {actionTimeout: 50ms}"

    def slow(self, begin, **fields):
        life = begin(settings=self.SETTINGS)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.SLOW, operations="increase", times=1, latency=1.0))
        return life

    def wait_for_order(self, life):
        until = monotonic() + 10
        while life.autoscaler.busy:
            assert monotonic() < until, "the order never ended"
            sleep(0.01)

    def test_an_order_that_is_taken_late_is_not_given_twice(self, begin) -> None:
        life = self.slow(begin)
        for _ in range(3):
            life.go_on(10)
        assert life.world.cloud.gate.calls["increase"] == 1
        assert life.sizes() == {}
        assert life.told_to_pods("TriggeredScaleUp") == set()
        assert life.story() == [setting(FIRST)]
        self.wait_for_order(life)
        life.go_on(10)
        assert life.story() == [setting(FIRST), set_(FIRST)]
        assert life.told_to_pods("TriggeredScaleUp") == {triggered(FIRST)}
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)

    def test_a_cloud_that_takes_an_order_late_and_can_not_be_read_then_is_waited_for(self, begin) -> None:
        life = self.slow(begin)
        life.go_on(10)
        life.world.cloud.gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, operations="snapshot"))
        self.wait_for_order(life)
        for _ in range(2):
            decision = life.go_on(10)
            assert {str(verdict.reason) for verdict in decision.pods.values()} == {"Fits"}
        life.world.cloud.gate.heal("*")
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (1, 0)

    def test_an_order_that_is_refused_late_falls_over_then(self, begin) -> None:
        life = self.slow(begin)
        life.go_on(10)
        why = by_stock_out(life)
        self.wait_for_order(life)
        life.go_on(10)
        assert life.sizes() == {OTHER: 1}
        assert life.story() == [setting(FIRST), failed(FIRST, why), setting(OTHER), set_(OTHER)]
        assert life.autoscaler.memory.health.backoffs[FIRST].failed_at - life.world.began <= timedelta(seconds=20)
        life.until(all_run(life))
        assert (life.ordered(FIRST), life.ordered(OTHER)) == (0, 1)


def test_a_limit_on_nodes_holds_while_half_of_an_order_comes_and_half_is_ordered_elsewhere(begin) -> None:
    life = begin(a_scenario(a_group("one"), a_group("other", zone="eu-b"), replicas=32), FAST, most_nodes=8)
    life.world.cloud.supply.limit_stock(Stock(pools="eu-a/*", available=4, mode=ShortageMode.FAIL))
    life.world.cloud.supply.limit_stock(Stock(pools="eu-b/*", available=4, mode=ShortageMode.FAIL))
    life.until(all_run(life, 32))
    assert life.sizes() == {"one": 4, "other": 4}
