"""What goes wrong in the cloud, one fault at a time."""

import pytest
from nodewright.api import ErrorClass
from nodewright_fake.cloud.refusal import RefusalError


def test_a_dry_pool_fails_the_machines_that_are_ordered(bench, group) -> None:
    b = bench(group())
    b.do("stock-out", pool="eu-a/c5.large")
    b.cloud.increase("web", 2)
    assert b.states("web") == ["Creating", "Creating"]
    b.run(2)
    assert b.states("web") == ["Creating:STOCK_OUT", "Creating:STOCK_OUT"]
    error = b.cloud.instances("web")[0].error
    assert error.error_class is ErrorClass.STOCK_OUT
    assert error.pool == "eu-a/c5.large"
    assert error.message == "capacity pool eu-a/c5.large has no more machines at the moment"


def test_a_failed_machine_is_gone_as_soon_as_it_is_deleted(bench, group) -> None:
    b = bench(group())
    b.do("stock-out", pool="*")
    b.cloud.increase("web", 1)
    b.run(2)
    assert b.cloud.delete_instances("web", ["fake://eu-a/web-1"]) == 0
    assert b.states("web") == []


def test_a_failed_machine_stays_failed_when_the_pool_is_restored(bench, group) -> None:
    b = bench(group())
    b.do("stock-out", pool="*")
    b.cloud.increase("web", 1)
    b.run(2)
    b.do("restore")
    b.run(300)
    assert b.states("web") == ["Creating:STOCK_OUT"]


def test_deleting_an_order_before_it_fails_leaves_the_stock_as_it_is(bench, group) -> None:
    b = bench(group(desired=1))
    b.do("stock-out", pool="*", available=1)
    b.cloud.increase("web", 1)
    b.cloud.delete_instances("web", ["fake://eu-a/web-2"])
    b.run(60)
    b.cloud.increase("web", 1)
    b.run(2)
    assert b.states("web") == ["Running", "Creating:STOCK_OUT"]


def test_a_limited_stock_delivers_what_it_has(bench, group) -> None:
    b = bench(group(desired=1))
    b.do("stock-out", pool="eu-a/*", available=3)
    b.cloud.increase("web", 4)
    b.run(60)
    assert b.states("web") == ["Running", "Running", "Running", "Creating:STOCK_OUT", "Creating:STOCK_OUT"]


def test_groups_share_a_pool(bench, group) -> None:
    b = bench(group(desired=2), group("api"))
    b.do("stock-out", pool="eu-a/c5.large", available=2)
    b.cloud.increase("api", 1)
    b.run(2)
    assert b.states("api") == ["Creating:STOCK_OUT"]


def test_spot_machines_have_a_pool_of_their_own(bench, group) -> None:
    b = bench(group(), group("cheap", spot=True))
    b.do("stock-out", pool="eu-a/c5.large/spot")
    b.cloud.increase("web", 1)
    b.cloud.increase("cheap", 1)
    b.run(60)
    assert b.states("web") == ["Running"]
    assert b.states("cheap") == ["Creating:STOCK_OUT"]


def test_a_dry_pool_can_refuse_at_once(bench, group) -> None:
    b = bench(group())
    b.do("stock-out", pool="eu-a/c5.large", available=1, mode="refuse")
    with pytest.raises(RefusalError) as refused:
        b.cloud.increase("web", 2)
    assert refused.value.cause.error_class is ErrorClass.STOCK_OUT
    assert b.cloud.group("web").desired == 0
    assert b.cloud.increase("web", 1) == 1


def test_a_dry_pool_can_leave_demand_unmet_until_it_is_restored(bench, group) -> None:
    b = bench(group())
    b.do("stock-out", pool="eu-a/c5.large", available=1, mode="wait")
    assert b.cloud.increase("web", 4) == 4
    b.run(300)
    assert b.states("web") == ["Running"]
    assert b.cloud.decrease_target("web", 1) == 3
    b.do("restore", pool="eu-a/c5.large")
    b.run(60)
    assert b.states("web") == ["Running", "Running", "Running"]


def test_unmet_demand_is_met_when_another_group_gives_machines_back(bench, group) -> None:
    b = bench(group(desired=1), group("api"))
    b.do("stock-out", pool="*", available=1, mode="wait")
    b.cloud.increase("api", 1)
    b.run(60)
    assert b.states("api") == []
    b.cloud.delete_instances("web", ["fake://eu-a/web-1"])
    b.run(60)
    assert b.states("api") == ["Running"]


def test_unmet_demand_can_not_be_taken_back_below_the_minimum(bench, group) -> None:
    b = bench()
    b.cloud.create_group(group("first"))
    b.do("stock-out", pool="*", mode="wait")
    b.cloud.create_group(group(min=2))
    with pytest.raises(RefusalError, match="group web can't be asked for 1 machines: its minimum is 2"):
        b.cloud.decrease_target("web", 1)


@pytest.mark.parametrize("mode", ["fail", "refuse", "wait"])
def test_an_atomic_increase_comes_whole_or_is_refused(bench, group, mode) -> None:
    b = bench(group())
    b.do("stock-out", pool="*", available=2, mode=mode)
    with pytest.raises(RefusalError, match="has no more machines"):
        b.cloud.increase("web", 3, atomic=True)
    assert b.states("web") == []
    assert b.cloud.increase("web", 2, atomic=True) == 2


def test_a_quota_counts_processors_over_all_groups_of_its_types(bench, group) -> None:
    b = bench(
        group(desired=2), group("big", zone="eu-b", instance_type="c5.xlarge"), group("gpu", instance_type="g4.xlarge")
    )
    b.do("limit-quota", types="c5.*", vcpus=8)
    b.cloud.increase("big", 1)
    with pytest.raises(RefusalError) as refused:
        b.cloud.increase("big", 1)
    assert refused.value.cause.error_class is ErrorClass.QUOTA
    assert str(refused.value) == ("8 of 8 vCPUs of c5.* are in use, 4 more are not allowed: ask for a higher quota")
    b.cloud.increase("gpu", 1)
    b.do("lift-quota", types="c5.*")
    b.cloud.increase("big", 1)


def test_a_machine_that_never_registers_runs_without_a_node(bench, group) -> None:
    b = bench(group())
    b.do("break-boots", groups="web", kind="never-registers")
    b.cloud.increase("web", 1)
    b.run(300)
    assert b.states("web") == ["Running"]
    assert b.kubelets.booted == []
    b.cloud.delete_instances("web", ["fake://eu-a/web-1"])
    b.run(60)
    assert b.kubelets.shut == []


def test_a_machine_can_boot_unready(bench, group) -> None:
    b = bench(group())
    b.do("break-boots", groups="web", kind="unready")
    b.cloud.increase("web", 1)
    b.run(60)
    assert [machine.ready_after for machine in b.kubelets.booted] == [None]


def test_a_machine_can_fail_to_boot_with_an_error(bench, group) -> None:
    b = bench(group())
    b.do(
        "break-boots", groups="w*", kind="fails", errorClass="Configuration", code="BAD_IMAGE", message="no such image"
    )
    b.cloud.increase("web", 1)
    b.run(39)
    assert b.states("web") == ["Creating"]
    b.run(1)
    assert b.states("web") == ["Creating:BAD_IMAGE"]
    assert b.cloud.instances("web")[0].error.error_class is ErrorClass.CONFIGURATION


def test_a_boot_fault_can_befall_so_many_machines_and_no_more(bench, group) -> None:
    b = bench(group())
    b.do("break-boots", groups="web", kind="fails", times=2)
    b.cloud.increase("web", 3)
    b.run(60)
    assert b.states("web") == ["Creating:BOOT_FAILED", "Creating:BOOT_FAILED", "Running"]


def test_a_boot_fault_can_befall_a_share_of_the_machines(bench, group) -> None:
    b = bench(group(max=100))
    b.do("break-boots", groups="web", kind="fails", share=0.3)
    b.cloud.increase("web", 100)
    b.run(60)
    assert 15 <= sum(state != "Running" for state in b.states("web")) <= 45


def test_healed_boots_are_well(bench, group) -> None:
    b = bench(group())
    b.do("break-boots", groups="web", kind="fails")
    b.do("heal-boots", groups="web")
    b.cloud.increase("web", 1)
    b.run(60)
    assert b.states("web") == ["Running"]


def test_a_machine_that_is_taken_back_vanishes_and_is_replaced(bench, group) -> None:
    b = bench(group("cheap", spot=True, desired=2))
    b.run(0)
    b.do("reclaim", machine="cheap-1")
    b.run(0)
    assert b.kubelets.shut == ["cheap-1"]
    assert b.cloud.group("cheap").desired == 2
    assert b.names("cheap") == ["cheap-2", "cheap-3"]


def test_notice_is_given_before_a_machine_is_taken_back(bench, group) -> None:
    b = bench(group("cheap", spot=True, desired=1))
    warned = []
    b.cloud.fleet.on_notice = warned.append
    b.run(0)
    b.do("reclaim", machine="cheap-1", notice="2m")
    b.run(119)
    assert warned == ["cheap-1"]
    assert b.states("cheap") == ["Running"]
    b.run(1)
    assert b.kubelets.shut == ["cheap-1"]


def test_a_pattern_takes_back_spot_machines_only_and_as_many_as_asked_for(bench, group) -> None:
    b = bench(group(desired=2), group("cheap", spot=True, desired=3))
    b.run(0)
    b.do("reclaim", machine="*", count=2)
    b.run(0)
    assert b.kubelets.shut == ["cheap-1", "cheap-2"]


def test_a_machine_that_is_named_need_not_be_spot(bench, group) -> None:
    b = bench(group(desired=1))
    b.run(0)
    b.do("reclaim", machine="web-1")
    b.run(0)
    assert b.kubelets.shut == ["web-1"]


def test_spot_machines_can_be_taken_back_again_and_again(bench, group) -> None:
    def taken(seed):
        b = bench(group("cheap", spot=True, desired=5), group(desired=3), seed=seed)
        b.do("reclaim-every", every="5m", times=3)
        b.run(3600)
        return b.kubelets.shut

    assert len(taken(1)) == 3
    assert all(name.startswith("cheap-") for name in taken(1))
    assert taken(1) == taken(1)


def test_a_hanging_machine_goes_on_running(bench, group) -> None:
    b = bench(group(desired=1))
    b.run(0)
    b.do("hang", machine="web-1")
    b.run(0)
    assert b.kubelets.silent == ["web-1"]
    assert b.states("web") == ["Running"]


def test_a_machine_can_recover_from_hanging(bench, group) -> None:
    b = bench(group(desired=1))
    b.run(0)
    b.do("hang", machine="web-1")
    b.do("recover", machine="web-*")
    b.run(0)
    assert b.kubelets.heard_again == ["web-1"]


def test_somebody_can_resize_a_group_by_hand(bench, group) -> None:
    b = bench(group(desired=3))
    b.do("resize", group="web", desired=1)
    assert b.states("web") == ["Running", "Deleting", "Deleting"]
    b.do("resize", group="web", min=2, max=4)
    assert b.cloud.group("web").desired == 2
    with pytest.raises(RefusalError, match="min 5 is above max 4"):
        b.do("resize", group="web", min=5)


def test_machines_that_run_keep_their_price(bench, group) -> None:
    b = bench(group(desired=1))
    b.do("set-price", type="c5.large", price=10)
    b.run(3600)
    assert b.cloud.spending["web"].cost == pytest.approx(0.1)
    assert b.cloud.instance_types["c5.large"].price == 10
    assert b.cloud.instance_types["c5.large"].spot_price == 0.04


def test_heal_ends_everything(bench, group) -> None:
    b = bench(group())
    b.do("stock-out", pool="*", mode="wait")
    b.do("limit-quota", types="*", vcpus=0)
    b.do("break-boots", groups="*", kind="fails")
    b.do("throttle")
    b.do("heal")
    b.cloud.increase("web", 1)
    b.run(60)
    assert b.states("web") == ["Running"]
    assert b.cloud.gate.admit("snapshot") == (0.0, None)


@pytest.mark.parametrize(
    ("action", "fields", "message"),
    [
        ("restore", {"pool": "eu-a/*"}, "no stock is limited by the pattern 'eu-a/*'; limited: none"),
        ("lift-quota", {}, "there is no quota for the pattern '*'; quotas: none"),
        ("reclaim", {"machine": "web-7"}, "no machine matches 'web-7'"),
        ("reclaim", {"machine": "*"}, "no spot machine matches '*'"),
        ("hang", {"machine": "x*"}, "no machine matches 'x*'"),
        ("explode", {}, "there is no action 'explode'; there are: stock-out, restore, "),
    ],
)
def test_an_action_that_makes_no_sense_is_refused(bench, group, action, fields, message) -> None:
    b = bench(group())
    with pytest.raises(RefusalError) as refused:
        b.do(action, **fields)
    assert str(refused.value).startswith(message)


def test_what_happened_can_be_read_afterwards(bench, group) -> None:
    b = bench(group())
    b.cloud.increase("web", 1)
    b.run(40)
    b.do("reclaim", machine="web-1", notice="10s")
    b.run(10)
    start = b.cloud.history[0].at
    assert [(round((e.at - start).total_seconds()), e.event, e.machine) for e in b.cloud.history] == [
        (0, "ordered", "web-1"),
        (40, "running", "web-1"),
        (40, "notice", "web-1"),
        (50, "reclaimed", "web-1"),
        (50, "gone", "web-1"),
        (50, "ordered", "web-2"),
    ]
