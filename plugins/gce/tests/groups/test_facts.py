"""What the provider says of groups, and whose nodes it knows."""

import logging
import re
from datetime import UTC, datetime

import pytest
from nodewright.api import (
    CloudUnavailableError,
    ErrorClass,
    GroupOptions,
    InstanceState,
    NodewrightError,
    PermanentError,
    ThrottledError,
)
from nodewright.testing import a_node
from nodewright_gce.testing import Trouble

from .words import again, node, states

SITE = "https://www.googleapis.com/compute/v1/projects/double/zones/europe-west1-b/instanceGroups"


def errors(group):
    return [each.error for each in group.instances() if each.error]


def test_a_group_is_named_and_measured_as_in_cluster_autoscaler(double, start) -> None:
    double.make_mig("workers", size=2)
    (group,) = start(least=1, most=7).groups()
    assert (group.id, group.min_size, group.max_size, group.target_size) == (f"{SITE}/workers", 1, 7, 2)
    assert group.pools() == ("europe-west1-b/n2-standard-8",)
    assert group.pause() is None
    assert group.errors() == ()


def test_machines_are_told_with_zone_type_and_incarnation(double, start) -> None:
    double.make_mig("workers", size=1)
    (machine,) = double.machines("workers")
    (instance,) = start().groups()[0].instances()
    assert instance.id == machine.provider_id
    assert (instance.zone, instance.instance_type) == ("europe-west1-b", "n2-standard-8")
    assert instance.incarnation == str(machine.id)
    assert instance.ends_at is None


def test_a_machine_of_a_regional_group_is_in_its_own_zone(double, start) -> None:
    double.make_mig("workers", region="europe-west1", size=3)
    (group,) = start(zones=[], regions=["europe-west1"]).groups()
    assert {each.zone for each in group.instances()} == {"europe-west1-b", "europe-west1-c", "europe-west1-d"}
    group.increase(2)
    assert double.mig("workers").target == 5


def test_a_machine_of_a_flexible_group_is_of_the_type_that_google_chose(double, start) -> None:
    double.make_mig("workers", size=2, types=["n2-standard-8", "n2-standard-4"])
    (group,) = start().groups()
    assert {each.instance_type for each in group.instances()} == {"n2-standard-8"}
    assert set(group.pools()) == {"europe-west1-b/n2-standard-8", "europe-west1-b/n2-standard-4"}


def test_the_end_of_a_machine_that_is_known_is_told(double, start) -> None:
    double.make_mig("workers", size=1)
    (machine,) = double.machines("workers")
    machine.ends_at = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    (instance,) = start().groups()[0].instances()
    assert instance.ends_at == machine.ends_at


@pytest.mark.scenario(8)
@pytest.mark.parametrize(
    "provider_id", ["aws:///eu-west-1a/i-1", "", "gce://x", "gce://double/europe-west1-b/workers-9999", "gce:////"]
)
def test_nodes_of_others_are_not_ours(double, start, provider_id) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    assert provider.group_of(a_node("n", provider_id=provider_id)) is None


@pytest.mark.scenario(9)
def test_a_node_is_in_the_group_that_lists_it_and_not_in_one_with_a_shorter_base_name(double, start) -> None:
    double.make_mig("w1", size=1, base="w")
    double.make_mig("w2", size=1, base="w-x")
    provider = start()
    first, second = (double.machines(name)[0] for name in ("w1", "w2"))
    assert provider.group_of(node(first)) == f"{SITE}/w1"
    assert provider.group_of(node(second)) == f"{SITE}/w2"


@pytest.mark.scenario(9)
def test_a_node_that_no_list_had_yet_is_looked_for_where_its_name_may_come_from(double, start) -> None:
    double.make_mig("w1", size=1, base="w")
    double.make_mig("w2", size=1, base="w-x")
    provider = start()
    (first,) = double.machines("w2")
    first.name = "w-x-late"
    double.mig("w2").machines = {first.name: first}
    assert provider.group_of(node(first)) is None
    double.calls.clear()
    provider.refresh()
    assert provider.group_of(node(first)) == f"{SITE}/w2"


def test_a_node_of_a_machine_that_is_gone_is_in_no_group(double, start) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    (machine,) = double.machines("workers")
    provider.groups()[0].delete_nodes([node(machine)])
    double.settle()
    provider.refresh()
    assert provider.group_of(node(machine)) is None


@pytest.mark.scenario(16)
def test_machines_that_a_dry_pool_keeps_from_coming_name_it(double, start) -> None:
    double.make_mig("workers", size=0)
    double.run_out("europe-west1-b/n2-standard-8", available=3)
    provider = start()
    provider.groups()[0].increase(5)
    double.settle()
    group = again(provider)
    failed = [each for each in group.instances() if each.error]
    assert [each.state for each in failed] == [InstanceState.CREATING] * 2
    assert {(each.error.error_class, each.error.code, each.error.pool) for each in failed} == {
        (ErrorClass.STOCK_OUT, "RESOURCE_POOL_EXHAUSTED", "europe-west1-b/n2-standard-8")
    }
    assert group.target_size == 5


@pytest.mark.scenario(16)
def test_a_dry_pool_is_that_of_all_groups_of_the_type_but_not_of_spot_ones(double, start) -> None:
    double.make_mig("w1")
    double.make_mig("w2")
    double.make_mig("w3", spot=True)
    double.run_out("europe-west1-b/n2-standard-8", migs="w1")
    provider = start()
    provider.groups()[0].increase(1)
    double.settle()
    provider.refresh()
    first, second, spot = provider.groups()
    (error,) = errors(first)
    assert error.pool in second.pools()
    assert error.pool not in spot.pools()


@pytest.mark.scenario(16)
def test_a_dry_pool_of_spot_machines_is_named_as_one(double, start) -> None:
    double.make_mig("workers", spot=True)
    double.run_out(trouble=Trouble.PLAIN_STOCK_OUT)
    provider = start()
    provider.groups()[0].increase(1)
    double.settle()
    (error,) = errors(again(provider))
    assert error.pool == "europe-west1-b/n2-standard-8/spot" == provider.groups()[0].pools()[0]


@pytest.mark.scenario(17)
def test_a_quota_that_keeps_machines_from_coming_is_named_with_its_region_and_limit(double, start) -> None:
    double.make_mig("workers")
    double.set_quota("europe-west1", "N2_CPUS", 16)
    provider = start()
    provider.groups()[0].increase(3)
    double.settle()
    group = again(provider)
    (error,) = errors(group)
    assert (error.error_class, error.code, error.pool) == (ErrorClass.QUOTA, "QUOTA_EXCEEDED", "europe-west1/N2_CPUS")
    assert "Limit: 16.0" in error.message
    assert group.quotas()[error.pool] == 8
    assert error.pool not in group.pools()


@pytest.mark.scenario(21)
def test_an_error_that_is_gone_leaves_the_machine_in_creation(double, start) -> None:
    double.make_mig("workers")
    double.run_out()
    double.boots(60, news=0)
    provider = start()
    provider.groups()[0].increase(1)
    assert errors(again(provider))
    # Google tries again.
    double.clock.advance(61)
    (instance,) = again(provider).instances()
    assert (instance.state, instance.error) == (InstanceState.CREATING, None)


def test_a_machine_that_was_stopped_is_creating_where_its_group_repairs_it(double, start) -> None:
    double.make_mig("w1", size=1, spot=True)
    double.make_mig("w2", size=1, instanceLifecyclePolicy={"defaultActionOnFailure": "DO_NOTHING"})
    for name in ("w1", "w2"):
        double.machines(name)[0].status = "TERMINATED"
    repaired, left = start().groups()
    assert [*states(repaired).values()] == [InstanceState.CREATING]
    assert [*states(left).values()] == [InstanceState.RUNNING]


def test_room_in_quotas_limits_how_many_machines_are_available(double, start) -> None:
    double.make_mig("workers", size=2)
    double.set_quota("europe-west1", "N2_CPUS", 40)
    provider = start()
    assert provider.groups()[0].available() == 3
    double.set_quota("europe-west1", "N2_CPUS", 24)
    provider.refresh()
    assert double.calls["regions", "get"] == 1
    double.clock.advance(60)
    assert again(provider).available() == 1


def test_machines_that_are_still_to_come_leave_less_of_a_quota(double, start) -> None:
    double.make_mig("workers", size=2)
    double.set_quota("europe-west1", "N2_CPUS", 40)
    provider = start()
    provider.groups()[0].increase(2)
    assert again(provider).available() == 1


def test_quotas_that_may_not_be_read_limit_nothing_and_are_told_once(double, start, caplog) -> None:
    double.make_mig("workers", size=2)
    double.faults.deny("regions:get")
    provider = start()
    double.clock.advance(61)
    assert again(provider).available() is None
    assert caplog.text.count("quotas could not be read") == 1


def test_quotas_are_not_read_if_that_is_switched_off(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start(quotas=False)
    assert provider.groups()[0].available() is None
    assert double.calls["regions", "get"] == 0


def test_what_is_left_of_a_reservation_is_available(double, start) -> None:
    double.reserve("paid", machine_type="n2-standard-8", count=5)
    double.make_mig("workers", size=2, reservation="paid")
    (group,) = start().groups()
    assert group.pools() == ("europe-west1-b/reservation:paid",)
    assert group.available() == 3


def test_a_reservation_that_is_used_up_is_the_pool_that_ran_dry(double, start) -> None:
    double.reserve("paid", machine_type="n2-standard-8", count=5)
    double.make_mig("workers", reservation="paid")
    double.run_out(trouble=Trouble.RESERVATION_FULL)
    provider = start()
    provider.groups()[0].increase(1)
    double.settle()
    (error,) = errors(again(provider))
    assert (error.error_class, error.pool) == (ErrorClass.STOCK_OUT, "europe-west1-b/reservation:paid")


@pytest.mark.scenario(40)
def test_a_group_that_googles_autoscaler_steers_is_left_alone_and_told_once(double, start, caplog) -> None:
    double.make_mig("workers", size=1)
    double.steer("workers")
    provider = start()
    provider.refresh()
    pause = provider.groups()[0].pause()
    assert pause is not None
    assert not pause.shrinks
    assert pause.why.startswith("Google's autoscaler workers steers it: delete that autoscaler")
    assert caplog.text.count("Google's autoscaler workers steers it") == 1


def test_a_group_whose_machines_keep_their_disks_is_left_alone(double, start) -> None:
    double.make_mig("workers", size=1, statefulPolicy={"preservedState": {"disks": {"data": {}}}})
    pause = start().groups()[0].pause()
    assert pause is not None
    assert "stateful policy" in pause.why


def test_what_ordering_by_name_leaves_behind_is_no_reason_to_leave_a_group_alone(double, start) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    provider.groups()[0].increase(1)
    double.settle()
    assert again(provider).pause() is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"updatePolicy": {"type": "PROACTIVE"}}, "whenever its template changes"),
        ({"updatePolicy": {"instanceRedistributionType": "PROACTIVE"}}, "to spread machines evenly over its zones"),
        (
            {
                "versions": [
                    {"name": "old", "instanceTemplate": "global/instanceTemplates/workers-1"},
                    {"name": "new", "instanceTemplate": "x", "targetSize": {"fixed": 1}},
                ]
            },
            "it has several versions at once: .* workers-1",
        ),
        (
            {"distributionPolicy": {"targetShape": "ANY_SINGLE_ZONE", "zones": []}},
            "puts all its machines into one zone",
        ),
    ],
    ids=["update", "redistribution", "versions", "shape"],
)
def test_settings_that_get_in_the_way_are_told_once(double, start, caplog, fields, words) -> None:
    double.make_mig("workers", region="europe-west1", **fields)
    provider = start(zones=[], regions=["europe-west1"])
    provider.refresh()
    told = [each.getMessage() for each in caplog.records if each.name == "nodewright_gce.warn_once"]
    assert len([each for each in told if re.search(words, each)]) == 1


def test_a_group_with_a_queue_is_told_that_waiting_counts_as_provisioning(double, start, caplog) -> None:
    unrepaired = {"instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"}}
    double.make_mig("w1", machine_type="g2-standard-4", **unrepaired)
    double.make_mig("w2", machine_type="g2-standard-4")
    double.make_mig("w3", **unrepaired)
    assert [each.atomic for each in start().groups()] == [True, False, False]
    assert caplog.text.count("its machines may wait for hours in a queue") == 1


def test_limits_in_the_metadata_count_where_the_user_wrote_none(double, start) -> None:
    double.make_mig("workers", metadata={"nodewright-min-size": "2", "nodewright-max-size": "9"})
    (group,) = start(discover=[{"namePrefix": "w"}]).groups()
    assert (group.min_size, group.max_size) == (2, 9)


def test_limits_that_the_user_wrote_win_over_the_metadata_and_that_is_told(double, start, caplog) -> None:
    double.make_mig("workers", metadata={"nodewright-max-size": "9"})
    (group,) = start(most=5).groups()
    assert group.max_size == 5
    assert "its maximum is 9, and the configuration 5, which counts" in caplog.text


def test_a_minimum_above_the_maximum_is_lowered_to_it_and_told(double, start, caplog) -> None:
    double.make_mig("workers", metadata={"nodewright-max-size": "3"})
    (group,) = start(discover=[{"namePrefix": "w", "min": 5}]).groups()
    assert (group.min_size, group.max_size) == (3, 3)
    assert "its minimum of 5 is above its maximum of 3" in caplog.text


def test_a_group_without_a_maximum_says_where_to_write_one(double, start) -> None:
    double.make_mig("workers")
    (group,) = start(discover=[{"namePrefix": "w"}]).groups()
    with pytest.raises(PermanentError, match="has no maximum: write one in its rule, or as nodewright-max-size"):
        _ = group.max_size


def test_options_come_from_the_metadata_of_the_template(double, start) -> None:
    env = {"AUTOSCALER_ENV_VARS": "autoscaling_options=scaledownutilizationthreshold=0.7;os=linux"}
    double.make_mig("workers", kube_env=env)
    (group,) = start().groups()
    assert group.options(GroupOptions()).scale_down_utilization_threshold == 0.7


def test_a_group_that_can_not_be_read_says_why_and_keeps_the_others(double, start) -> None:
    double.make_mig("w1", size=1)
    double.make_mig("w2", zone="europe-west1-c", size=1)
    provider = start(zones=["europe-west1-b", "europe-west1-c"])
    double.faults.fail("instance_group_managers:list@europe-west1-c")
    provider.refresh()
    well, ill = provider.groups()
    assert well.target_size == 1
    with pytest.raises(NodewrightError):
        _ = ill.target_size
    assert len(ill.instances()) == 1


@pytest.mark.parametrize(
    "reference",
    [
        f"{SITE}/workers",
        "https://content.googleapis.com/compute/v1/projects/double/zones/europe-west1-b/instanceGroupManagers/workers",
        "projects/double/zones/europe-west1-b/instanceGroups/workers",
        "zones/europe-west1-b/instanceGroupManagers/workers",
        "workers",
    ],
)
def test_a_group_is_known_by_its_urls_and_its_name(double, start, reference) -> None:
    double.make_mig("workers")
    assert start().resolve("GCEInstanceGroup", reference) == f"{SITE}/workers"


@pytest.mark.parametrize(
    "reference", ["writers", "", "zones/europe-west1-c/instanceGroups/workers", f"{SITE}/writers", "gibberish/x"]
)
def test_what_means_none_of_ours_resolves_to_nothing(double, start, reference) -> None:
    double.make_mig("workers")
    assert start().resolve("GCEInstanceGroup", reference) is None


def test_an_object_of_another_kind_resolves_to_nothing(double, start) -> None:
    double.make_mig("workers")
    assert start().resolve("InstanceGroup", f"{SITE}/workers") is None


def test_a_name_that_two_groups_have_resolves_to_nothing(double, start) -> None:
    double.make_mig("workers")
    double.make_mig("workers", zone="europe-west1-c")
    provider = start(zones=["europe-west1-b", "europe-west1-c"])
    assert provider.resolve("GCEInstanceGroup", "workers") is None
    assert provider.resolve("GCEInstanceGroup", "zones/europe-west1-b/instanceGroups/workers") == f"{SITE}/workers"


def test_a_node_pool_of_gke_resolves_to_its_group(double, start) -> None:
    double.make_mig("gke-shop-pool-1-0a1b2c3d-grp")
    provider = start(discover=[{"namePrefix": "gke-shop-", "max": 5}])
    pool = "https://container.googleapis.com/v1/projects/double/locations/europe-west1/clusters/shop/nodePools/"
    assert provider.resolve("GKENodePool", f"{pool}pool-1") == f"{SITE}/gke-shop-pool-1-0a1b2c3d-grp"
    assert provider.resolve("GKENodePool", f"{pool}pool") is None


def test_gpus_are_told_by_the_label(start) -> None:
    provider = start(refresh=False)
    gpu = provider.gpu_config({"cloud.google.com/gke-accelerator": "nvidia-l4"})
    assert (gpu.type, gpu.resource, gpu.dra_driver) == ("nvidia-l4", "nvidia.com/gpu", "")
    shared = {"cloud.google.com/gke-accelerator": "nvidia-l4", "cloud.google.com/gke-gpu-dra-driver": "true"}
    assert provider.gpu_config(shared).dra_driver == "gpu.nvidia.com"
    assert provider.gpu_config({}) is None


def test_facts_ask_nobody(double, start) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    double.calls.clear()
    (group,) = provider.groups()
    assert group.template() is not None
    assert len(group.instances()) == len(group.pools()) == 1
    assert group.quotas()
    assert group.available()
    assert (group.errors(), group.pause()) == ((), None)
    assert provider.group_of(node(double.machines("workers")[0])) == group.id
    assert provider.pricing() is not None
    assert not double.calls


def test_a_clock_that_is_set_back_keeps_nothing_from_being_read(double, start) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    double.faults.throttle(times=1)
    with pytest.raises(ThrottledError):
        provider.refresh()
    double.do("instance_group_managers", "resize", "workers", size=2)
    double.clock.advance(-86400)
    with pytest.raises(ThrottledError):
        provider.refresh()

    double.clock.advance(60)
    provider.refresh()
    (group,) = provider.groups()
    assert (group.target_size, len(group.instances())) == (2, 2)


def test_machines_of_a_group_at_rest_are_not_made_into_instances_again(double, start) -> None:
    double.make_mig("workers", size=2)
    provider = start()
    before = provider.groups()[0].instances()
    assert again(provider).instances() is before


def test_a_history_is_read_for_groups_that_are_short_without_a_word(double, start) -> None:
    double.make_mig("workers", size=1)
    provider = start()
    double.faults.stale("instance_group_managers:list_managed_instances")
    provider.groups()[0].increase(1)
    group = double.mig("workers")
    double.clock.advance(30)
    group.history.append(_failure(double, "PERMISSIONS_ERROR", "Required 'compute.images.useReadOnly' permission"))
    (error,) = again(provider).errors()
    assert (error.error_class, error.code) == (ErrorClass.PERMISSION, "PERMISSIONS_ERROR")
    provider.refresh()
    assert double.calls["instance_group_managers", "list_errors"] == 1

    double.faults.heal()
    double.settle()
    assert again(provider).errors() == ()


def _failure(double, code, message):
    return {
        "error": {"code": code, "message": message},
        "instanceActionDetails": {"action": "CREATING"},
        "timestamp": double.clock.now().isoformat(),
    }


@pytest.mark.parametrize("part", ["Templates", "History", "Queues", "Quotas", "Reservations", "Prices"])
@pytest.mark.parametrize("error", [CloudUnavailableError("no answer"), KeyError("items")], ids=["away", "bug"])
def test_a_part_that_can_not_be_read_is_told_once_and_freezes_nothing(
    double, start, monkeypatch, caplog, part, error
) -> None:
    caplog.set_level(logging.INFO)
    double.make_mig("workers", size=1)
    provider = start()
    double.do("instance_group_managers", "resize", "workers", size=3)

    def fail(*_):
        raise error

    with monkeypatch.context() as broken:
        where = "groups.supply" if part in ("Quotas", "Reservations") else "parts"
        broken.setattr(f"nodewright_gce.{where}.{part}.refresh", fail)
        provider.refresh()
        provider.refresh()
    assert provider.groups()[0].target_size == 3
    assert len(provider.groups()[0].instances()) == 3
    assert caplog.text.count("could not be read, so what was known of them stays") == 1
    provider.refresh()
    assert "can be read again" in caplog.text
