"""The double behaves as Google Cloud does, over HTTP and to Google's own client, which is not modified."""

import textwrap
import time
from datetime import timedelta
from email.utils import parsedate_to_datetime

import google.auth
import google.auth.crypt
import msgspec
import pytest
import urllib3
import yaml
from google.api_core import exceptions
from google.auth.transport.requests import Request
from google.cloud import compute_v1
from google.oauth2 import service_account
from nodewright.api import ProviderContext
from nodewright.testing import EPOCH
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.provider import GceProvider
from nodewright_gce.testing import RefusalError, Trouble
from nodewright_gce.testing.__main__ import fill, guide
from requests.exceptions import ConnectionError as RequestsConnectionError

ZONE = "europe-west1-b"
REGION = "europe-west1"
MIG = {"project": "double", "zone": ZONE, "instance_group_manager": "web"}
SITE = "https://www.googleapis.com/compute/v1/"


@pytest.fixture
def migs(double):
    """Google's client of zonal groups."""
    return double.client("instance_group_managers")


@pytest.fixture
def http(double):
    """Plain HTTP with the token, for what Google's client can't ask."""
    with urllib3.PoolManager(headers={"Authorization": f"Bearer {double.secret}"}, retries=False) as pool:
        yield pool


def get(http, double, path):
    return msgspec.json.decode(http.request("GET", f"{double.url}/compute/v1/projects/double/{path}").data)


def listed(migs, **where):
    return list(migs.list_managed_instances(**(MIG | where)))


def create(migs, *names, **request):
    return migs.create_instances_unary(
        request=compute_v1.CreateInstancesInstanceGroupManagerRequest(
            **MIG,
            **request,
            instance_group_managers_create_instances_request_resource=compute_v1.InstanceGroupManagersCreateInstancesRequest(
                instances=[compute_v1.PerInstanceConfig(name=name) for name in names]
            ),
        ),
        retry=None,
    )


def delete(migs, *instances, skip=False):
    return migs.delete_instances_unary(
        **MIG,
        instance_group_managers_delete_instances_request_resource=compute_v1.InstanceGroupManagersDeleteInstancesRequest(
            instances=instances, skip_instances_on_validation_error=skip
        ),
        retry=None,
    )


def resize(migs, size):
    return migs.resize_unary(**MIG, size=size, retry=None)


def outcome(double, operation):
    return double.client("zone_operations").get(project="double", zone=ZONE, operation=operation.name, retry=None)


def machine_url(name):
    return f"{SITE}projects/double/zones/{ZONE}/instances/{name}"


def errors(migs):
    return [error.code for each in listed(migs) for error in each.last_attempt.errors.errors]


# Who calls, and where


def test_google_auth_finds_the_project_and_a_token_of_the_metadata_server(double) -> None:
    credentials, project = google.auth.default(scopes=["https://www.googleapis.com/auth/compute"])
    credentials.refresh(Request())

    assert project == "double"
    assert credentials.token == double.secret
    assert not double.calls


def test_a_call_without_the_token_is_refused(double) -> None:
    reply = urllib3.request("GET", f"{double.url}/compute/v1/projects/double/zones/{ZONE}/instanceGroupManagers")

    assert reply.status == 401
    assert reply.json()["error"]["status"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("where", "refusal"),
    [
        ({"zone": "europe-west1-x"}, exceptions.BadRequest),
        ({"project": "another"}, exceptions.NotFound),
        ({"instance_group_manager": "no"}, exceptions.NotFound),
    ],
)
def test_what_does_not_exist_is_refused(double, migs, where, refusal) -> None:
    double.make_mig("web")

    with pytest.raises(refusal) as caught:
        migs.get(**(MIG | where), retry=None)

    assert caught.value.errors[0]["reason"] in ("invalid", "notFound")


def test_answers_are_dated_by_the_clock(double, http) -> None:
    reply = http.request("GET", f"{double.url}/compute/v1/projects/double/zones")

    assert parsedate_to_datetime(reply.headers["Date"]) == double.clock.now().replace(microsecond=0)


def test_calls_are_counted_by_the_names_of_cluster_autoscalers_metrics(double, migs) -> None:
    double.make_mig("web")

    listed(migs)
    outcome(double, resize(migs, 1))

    assert double.calls == {
        ("instance_group_managers", "list_managed_instances"): 1,
        ("instance_group_managers", "resize"): 1,
        ("zone_operations", "get"): 1,
    }


# Lists


def test_groups_come_in_pages_and_are_found_by_a_pattern_of_the_whole_name(double, migs) -> None:
    for name in ("k8s", "k8s-a", "k8s-b", "k8s-c", "my-k8s-d"):
        double.make_mig(name)
    asked = compute_v1.ListInstanceGroupManagersRequest(
        project="double", zone=ZONE, filter="name eq ^k8s.+", max_results=2
    )

    pages = [[each.name for each in page.items] for page in migs.list(request=asked, retry=None).pages]

    assert pages == [["k8s-a", "k8s-b"], ["k8s-c"]]
    assert double.calls["instance_group_managers", "list"] == 2


def test_an_answer_has_at_most_500_entries(double, migs) -> None:
    asked = compute_v1.ListInstanceGroupManagersRequest(project="double", zone=ZONE, max_results=501)

    with pytest.raises(exceptions.BadRequest, match="maxResults"):
        migs.list(request=asked, retry=None)


def test_pages_may_be_shorter_than_asked_for(double, migs) -> None:
    for name in "abc":
        double.make_mig(name)
    double.shorten_pages(1)

    assert [each.name for each in migs.list(project="double", zone=ZONE, retry=None)] == ["a", "b", "c"]
    assert double.calls["instance_group_managers", "list"] == 3


def test_machines_are_listed_at_once_or_in_pages_as_the_group_is_set_up(double, migs) -> None:
    double.make_mig("web", size=3)
    double.make_mig("paged", size=3, listManagedInstancesResults="PAGINATED")
    double.shorten_pages(2)

    whole = migs.list_managed_instances(**MIG)
    paged = migs.list_managed_instances(**(MIG | {"instance_group_manager": "paged"}))

    assert [len(page.managed_instances) for page in whole.pages] == [3]
    assert [len(page.managed_instances) for page in paged.pages] == [2, 1]


def test_a_selection_of_fields_leaves_the_others_out(double, http) -> None:
    double.make_mig("web", size=1)

    listed_groups = get(
        http, double, f"zones/{ZONE}/instanceGroupManagers?fields=items(name,status/isStable),nextPageToken"
    )
    instances = get(http, double, f"zones/{ZONE}/instances?fields=items(name,metadata(items/key))")

    assert listed_groups == {"items": [{"name": "web", "status": {"isStable": True}}]}
    assert [each.keys() for each in instances["items"]] == [{"name", "metadata"}]
    assert {"key": "created-by"} in instances["items"][0]["metadata"]["items"]


def test_groups_of_all_zones_tell_empty_and_unreachable_places(double, migs) -> None:
    double.make_mig("web")
    double.faults.fail("*@europe-west1-c")

    answer = migs.aggregated_list(project="double", retry=None)
    scopes = dict(answer)

    assert [each.name for each in scopes[f"zones/{ZONE}"].instance_group_managers] == ["web"]
    assert scopes["zones/europe-west1-d"].warning.code == "NO_RESULTS_ON_PAGE"
    assert list(answer.unreachables) == ["zones/europe-west1-c"]
    assert "zones/europe-west1-c" not in scopes


def test_instance_groups_are_listed_with_their_sizes(double) -> None:
    double.make_mig("web", size=2)

    (group,) = double.client("instance_groups").list(project="double", zone=ZONE, retry=None)

    assert (group.name, group.size, group.self_link) == ("web", 2, double.group_id("web"))


def test_instances_are_listed_with_all_their_metadata(double) -> None:
    double.make_mig("web", size=1, kube_env="K: v\n")

    (instance,) = double.client("instances").list(project="double", zone=ZONE, retry=None)

    metadata = {item.key: item.value for item in instance.metadata.items}
    assert metadata["kube-env"] == "K: v\n"
    assert metadata["created-by"] == f"projects/100000000000/zones/{ZONE}/instanceGroupManagers/web"
    assert instance.status == "RUNNING"


def test_urls_have_either_of_two_hosts(double, migs) -> None:
    double.make_mig("web", size=1)

    group = migs.get(**MIG, retry=None)

    assert group.zone.startswith(SITE)
    assert group.instance_template.startswith("https://compute.googleapis.com/compute/v1/projects/double/global/")


# Growing


def test_machines_are_listed_before_they_exist(double, migs) -> None:
    double.make_mig("web")
    create(migs, "web-aaaa")
    (young,) = listed(migs)

    assert (young.name, young.instance) == ("web-aaaa", machine_url("web-aaaa"))
    assert (young.id, young.instance_status, young.current_action) == (0, "", "CREATING")
    assert "last_attempt" in young

    double.settle()
    (there,) = listed(migs)
    assert there.id > 0
    assert (there.instance_status, there.current_action) == ("RUNNING", "NONE")


def test_machines_start_and_run_by_the_clock(double, migs) -> None:
    double.make_mig("web")
    double.boots(40, starts=10)
    create(migs, "web-aaaa")

    seen = []
    for _ in range(3):
        seen.append([(each.instance_status, each.current_action) for each in listed(migs)])
        double.clock.advance(30)

    assert seen == [[("", "CREATING")], [("PROVISIONING", "CREATING")], [("RUNNING", "NONE")]]


def test_machines_by_name_raise_the_target_at_once(double, migs) -> None:
    double.make_mig("web", size=1)

    create(migs, "web-aaaa", "web-bbbb")

    assert migs.get(**MIG, retry=None).target_size == 3


def test_a_name_that_is_taken_lets_the_operation_fail_and_nothing_be_made(double, migs) -> None:
    double.make_mig("web")
    double.make_mig("other")
    double.do("instance_group_managers", "create_instances", "other", instances=[{"name": "web-aaaa"}])

    operation = create(migs, "web-bbbb", "web-aaaa")

    done = outcome(double, operation)
    assert done.status == compute_v1.Operation.Status.DONE
    assert [error.code for error in done.error.errors] == ["RESOURCE_ALREADY_EXISTS"]
    assert double.mig("web").target == 0


@pytest.mark.parametrize("count", [0, 1001])
def test_one_call_makes_1_to_1000_machines(double, migs, count) -> None:
    double.make_mig("web")

    with pytest.raises(exceptions.BadRequest, match="1 to 1000 are allowed"):
        create(migs, *(f"web-{number}" for number in range(count)))


def test_machines_by_name_leave_configurations_behind(double, migs) -> None:
    double.make_mig("web")
    assert not migs.get(**MIG, retry=None).status.stateful.has_stateful_config

    create(migs, "web-aaaa")

    assert migs.get(**MIG, retry=None).status.stateful.has_stateful_config


def test_an_operation_is_pending_then_runs_then_is_done(double, migs) -> None:
    double.make_mig("web")
    double.works(20)
    operation = resize(migs, 1)

    states = [operation.status.name]
    for _ in range(2):
        double.clock.advance(10)
        states.append(outcome(double, operation).status.name)

    assert states == ["PENDING", "RUNNING", "DONE"]


def test_a_request_that_is_repeated_is_made_once(double, migs) -> None:
    double.make_mig("web")
    request = "6f1b0a52-0000-4000-8000-000000000001"

    first = create(migs, "web-aaaa", request_id=request)
    again = create(migs, "web-aaaa", request_id=request)

    assert again.name == first.name
    assert double.mig("web").target == 1
    assert not outcome(double, again).error.errors


def test_the_id_of_a_request_is_good_for_no_other(double, migs) -> None:
    double.make_mig("web")
    request = "6f1b0a52-0000-4000-8000-000000000001"
    create(migs, "web-aaaa", request_id=request)

    with pytest.raises(exceptions.BadRequest, match="used for another request"):
        create(migs, "web-bbbb", request_id=request)


# Shrinking


def test_a_deleted_machine_is_listed_for_a_while_and_not_replaced(double, migs) -> None:
    double.make_mig("web", size=2)
    gone, left = (machine.name for machine in double.machines("web"))

    delete(migs, machine_url(gone))
    group = migs.get(**MIG, retry=None)
    assert (group.target_size, group.current_actions.deleting, group.status.is_stable) == (1, 1, False)
    assert [each.current_action for each in listed(migs)] == ["DELETING", "NONE"]

    double.settle()
    assert [each.name for each in listed(migs)] == [left]


def test_deletions_end_by_the_clock(double, migs) -> None:
    double.make_mig("web", size=1)
    double.boots(None, stops=30)
    delete(migs, machine_url(double.machines("web")[0].name))

    double.clock.advance(29)
    assert len(listed(migs)) == 1
    double.clock.advance(1)
    assert not listed(migs)


def test_a_stranger_lets_a_deletion_fail_as_a_whole(double, migs) -> None:
    double.make_mig("web", size=1)
    (machine,) = double.machines("web")

    operation = delete(migs, machine_url(machine.name), machine_url("nobody"))

    assert [error.code for error in outcome(double, operation).error.errors] == ["RESOURCE_NOT_FOUND"]
    assert double.mig("web").target == 1


def test_a_stranger_is_skipped_if_the_deletion_asks_for_that(double, migs) -> None:
    double.make_mig("web", size=1)
    (machine,) = double.machines("web")

    operation = delete(migs, machine_url(machine.name), machine_url("nobody"), skip=True)

    assert not outcome(double, operation).error.errors
    assert double.mig("web").target == 0


def test_a_machine_that_is_being_deleted_lowers_the_target_only_once(double, migs) -> None:
    double.make_mig("web", size=2)
    name = double.machines("web")[0].name

    delete(migs, machine_url(name))
    delete(migs, machine_url(name))

    assert double.mig("web").target == 1


def test_a_resize_chooses_what_it_deletes(double, migs) -> None:
    double.make_mig("web", size=4)

    resize(migs, 1)

    assert sum(machine.action == "DELETING" for machine in double.machines("web")) == 3
    with pytest.raises(exceptions.BadRequest, match="greater than or equal to 0"):
        resize(migs, -1)


def test_an_abandoned_machine_runs_on_without_its_group(double, migs) -> None:
    double.make_mig("web", size=1)
    (machine,) = double.machines("web")
    migs.abandon_instances_unary(
        **MIG,
        instance_group_managers_abandon_instances_request_resource=compute_v1.InstanceGroupManagersAbandonInstancesRequest(
            instances=[machine_url(machine.name)]
        ),
        retry=None,
    )
    double.settle()

    (instance,) = double.client("instances").list(project="double", zone=ZONE, retry=None)
    assert not listed(migs)
    assert (instance.name, instance.status) == (machine.name, "RUNNING")
    assert "created-by" not in {item.key for item in instance.metadata.items}


# Machines that come anew


def test_a_machine_that_is_taken_away_comes_anew_under_its_name(double, migs) -> None:
    double.make_mig("web", size=1)
    (before,) = listed(migs)

    double.take_away(double.machines("web")[0])
    assert [each.current_action for each in listed(migs)] == ["RECREATING"]

    double.settle()
    (after,) = listed(migs)
    assert after.name == before.name
    assert after.id != before.id


def test_a_preempted_machine_stops_and_comes_anew(double, migs) -> None:
    double.make_mig("web", size=1, spot=True)
    double.boots(60)
    (before,) = listed(migs)

    double.preempt(double.machines("web")[0])
    seen = []
    for _ in range(3):
        seen.append([(each.instance_status, each.current_action) for each in listed(migs)])
        double.clock.advance(30)

    assert seen == [[("STOPPING", "NONE")], [("PROVISIONING", "RECREATING")], [("PROVISIONING", "RECREATING")]]
    (after,) = listed(migs)
    assert (after.name, after.instance_status) == (before.name, "RUNNING")
    assert after.id != before.id


# Failures


def test_a_machine_without_capacity_shows_why_until_the_next_attempt(double, migs) -> None:
    double.make_mig("web")
    shortage = double.run_out(f"{ZONE}/n2-standard-8")
    double.boots(0)
    resize(migs, 1)

    assert errors(migs) == ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]
    double.clock.advance(60)
    assert errors(migs) == []
    double.clock.advance(5)
    assert errors(migs) == ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]

    shortage.available = 1
    double.clock.advance(65)
    assert [each.instance_status for each in listed(migs)] == ["RUNNING"]
    assert shortage.available == 0


def test_a_failure_that_nobody_heals_never_ends_and_keeps_the_target(double, migs) -> None:
    double.make_mig("web")
    double.run_out()
    resize(migs, 1)

    for _ in range(100):
        double.clock.advance(60)
        double.settle()

    assert double.mig("web").target == 1
    assert errors(migs) == ["ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"]


def test_a_machine_without_retries_lowers_the_target_when_it_fails(double, migs) -> None:
    double.make_mig("web")
    double.run_out(available=1)

    double.do("instance_group_managers", "resize_advanced", "web", targetSize=3, noCreationRetries=True)

    assert [each.current_action for each in listed(migs)] == ["CREATING_WITHOUT_RETRIES"]
    assert double.mig("web").target == 1
    assert len(list(migs.list_errors(**MIG, retry=None))) == 2


def test_a_stock_out_names_zone_and_type_in_its_details(double, migs) -> None:
    double.make_mig("web", machine_type="n2-standard-4")
    double.run_out("*/n2-standard-4")
    resize(migs, 1)

    (error,) = listed(migs)[0].last_attempt.errors.errors
    metadatas = dict(error.error_details[0].error_info.metadatas)

    assert metadatas["zone"] == ZONE
    assert metadatas["vmType"] == "n2-standard-4"
    assert "does not have enough resources available" in error.message


@pytest.mark.parametrize("trouble", list(Trouble), ids=str)
def test_each_trouble_has_code_and_words(double, migs, trouble) -> None:
    double.make_mig("web")
    double.run_out(trouble=trouble)
    resize(migs, 1)

    (error,) = listed(migs)[0].last_attempt.errors.errors
    (told,) = migs.list_errors(**MIG, retry=None)

    assert error.code.isascii()
    assert error.message
    assert "{" not in error.message
    assert (told.error.code, told.error.message) == (error.code, error.message)
    assert told.instance_action_details.action == "CREATING"


def test_a_shortage_concerns_its_pools_and_groups(double) -> None:
    double.run_out("*/spot", migs="web*")
    double.make_mig("web-spot", size=1, spot=True)
    double.make_mig("web", size=1)
    double.make_mig("batch", size=1, spot=True)

    assert [(machine.group, bool(machine.errors)) for machine in double.machines()] == [
        ("web-spot", True),
        ("web", False),
        ("batch", False),
    ]


def test_a_silent_shortage_shows_nowhere(double, migs) -> None:
    double.make_mig("web")
    double.run_out(silent=True)
    resize(migs, 1)
    double.settle()

    assert errors(migs) == []
    assert not list(migs.list_errors(**MIG, retry=None))
    assert [each.current_action for each in listed(migs)] == ["CREATING"]


def test_an_unseen_shortage_shows_in_the_history_alone(double, migs) -> None:
    double.make_mig("web")
    double.run_out(unseen=True)
    resize(migs, 1)

    assert listed(migs) == []
    assert len(list(migs.list_errors(**MIG, retry=None))) == 1


def test_a_shortage_at_once_lets_the_operation_of_an_order_fail(double, migs) -> None:
    double.make_mig("web", size=1)
    double.run_out(trouble=Trouble.QUOTA, at_once=True)

    failed = outcome(double, resize(migs, 3))

    assert failed.error.errors[0].code == "QUOTA_EXCEEDED"
    assert failed.error.errors[0].error_details[0].quota_info.limit == 24
    assert double.mig("web").target == 1


def test_a_quota_of_a_region_counts_machines_and_refuses_more(double, migs) -> None:
    double.set_quota(REGION, "N2_CPUS", 16)
    double.make_mig("web", size=3, machine_type="n2-standard-8")

    region = double.client("regions").get(project="double", region=REGION, retry=None)
    (quota,) = (each for each in region.quotas if each.metric == "N2_CPUS")
    (error,) = (error for each in listed(migs) for error in each.last_attempt.errors.errors)

    assert (quota.limit, quota.usage) == (16, 16)
    assert error.code == "QUOTA_EXCEEDED"
    assert "Quota 'N2_CPUS' exceeded.  Limit: 16.0 in region europe-west1" in error.message
    assert error.error_details[0].quota_info.limit_name == "N2-CPUS-per-project-region"
    assert dict(error.error_details[0].quota_info.dimensions) == {"region": REGION}


@pytest.mark.parametrize(
    ("machine_type", "spot", "metrics"),
    [
        ("e2-standard-4", False, {"CPUS": 4, "INSTANCES": 1}),
        ("n2d-standard-8", True, {"N2D_CPUS": 8, "INSTANCES": 1}),
        ("g2-standard-24", False, {"CPUS": 24, "INSTANCES": 1, "NVIDIA_L4_GPUS": 2}),
        ("a2-highgpu-1g", True, {"A2_CPUS": 12, "INSTANCES": 1, "PREEMPTIBLE_NVIDIA_A100_GPUS": 1}),
    ],
)
def test_machines_take_from_the_quotas_of_their_type(double, machine_type, spot, metrics) -> None:
    double.make_mig("web", size=1, machine_type=machine_type, spot=spot)

    region = double.client("regions").get(project="double", region=REGION, retry=None)

    assert {each.metric: each.usage for each in region.quotas if each.usage} == metrics


def test_a_reservation_gives_what_it_has(double, migs) -> None:
    double.reserve("mine", machine_type="n2-standard-8", count=1)
    double.make_mig("web", size=2, reservation="mine")

    (reservation,) = double.client("reservations").list(project="double", zone=ZONE, retry=None)
    (error,) = (error for each in listed(migs) for error in each.last_attempt.errors.errors)

    assert (reservation.specific_reservation.count, reservation.specific_reservation.in_use_count) == (1, 1)
    assert error.message == "Specified reservation 'mine' does not have available resources for the request."


# Kinds of groups


def test_a_regional_group_spreads_over_its_zones(double) -> None:
    double.make_mig("web", region=REGION, size=3)
    where = {"project": "double", "region": REGION, "instance_group_manager": "web"}
    client = double.client("region_instance_group_managers")

    client.resize_unary(**where, size=6, retry=None)

    zones = [each.instance.split("/")[-3] for each in client.list_managed_instances(**where)]
    assert sorted(zones) == ["europe-west1-b"] * 2 + ["europe-west1-c"] * 2 + ["europe-west1-d"] * 2
    assert len(client.get(**where, retry=None).distribution_policy.zones) == 3
    assert double.calls["region_instance_group_managers", "resize"] == 1


def test_a_canary_version_is_filled_first(double, migs) -> None:
    canary, stable = double.make_template("canary"), double.make_template("stable")
    versions = [
        {"instanceTemplate": stable, "name": "stable"},
        {"instanceTemplate": canary, "name": "canary", "targetSize": {"fixed": 1}},
    ]
    double.make_mig("web", size=3, versions=versions)

    assert sorted(each.version.name for each in listed(migs)) == ["canary", "stable", "stable"]


def test_a_flexible_group_takes_the_next_type_when_one_runs_out(double, migs) -> None:
    double.run_out("*/n2-standard-8", available=1)
    double.make_mig("web", size=2, types=["n2-standard-8", "n2d-standard-8"])

    types = [each.properties_from_flexibility_policy.machine_type for each in listed(migs)]
    assert types == ["n2-standard-8", "n2d-standard-8"]


def test_a_group_in_bulk_grows_as_a_whole_or_not(double, migs) -> None:
    double.make_mig("web", bulk=True)
    shortage = double.run_out(available=2)
    resize(migs, 3)
    assert len(errors(migs)) == 3

    shortage.available = 3
    double.settle()
    assert [each.instance_status for each in listed(migs)] == ["RUNNING"] * 3
    assert shortage.available == 0


def test_a_group_in_bulk_is_refused_what_a_quota_has_no_room_for(double, migs) -> None:
    double.make_mig("web", bulk=True)
    double.set_quota(REGION, "N2_CPUS", 8)

    failed = outcome(double, resize(migs, 2))

    assert [error.code for error in failed.error.errors] == ["QUOTA_EXCEEDED"]
    assert double.mig("web").target == 0


def test_a_resize_request_waits_for_all_its_machines(double, migs) -> None:
    double.make_mig("web")
    shortage = double.run_out(available=1)
    client = double.client("instance_group_manager_resize_requests")
    wanted = compute_v1.InstanceGroupManagerResizeRequest(name="order", resize_by=2)
    client.insert_unary(**MIG, instance_group_manager_resize_request_resource=wanted, retry=None)

    (request,) = client.list(**MIG, retry=None)
    assert request.state == "ACCEPTED"
    assert request.status.last_attempt.error.errors[0].code == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
    assert [each.instance for each in listed(migs)] == ["", ""]
    assert double.mig("web").target == 2

    shortage.available = 2
    double.settle()
    (request,) = client.list(**MIG, retry=None)
    assert request.state == "SUCCEEDED"
    assert all(each.instance for each in listed(migs))


def test_machines_of_an_open_resize_request_go_only_with_it(double, migs) -> None:
    double.make_mig("web")
    double.run_out()
    double.do("instance_group_manager_resize_requests", "insert", "web", name="order", resizeBy=2)
    (queued, _) = listed(migs)

    by_url = outcome(double, delete(migs, machine_url(queued.name)))
    by_name = outcome(double, delete(migs, queued.name))
    assert [each.error.errors[0].code for each in (by_url, by_name)] == ["RESOURCE_NOT_FOUND", "INVALID_USAGE"]

    client = double.client("instance_group_manager_resize_requests")
    client.cancel_unary(**MIG, resize_request="order", retry=None)
    assert [each.state for each in client.list(**MIG, retry=None)] == ["CANCELLED"]
    assert (double.mig("web").target, listed(migs)) == (0, [])


def test_a_resize_request_fails_for_what_waiting_does_not_heal(double) -> None:
    double.make_mig("web")
    double.run_out(trouble=Trouble.PERMISSION)
    double.do("instance_group_manager_resize_requests", "insert", "web", name="order", resizeBy=2)

    (request,) = double.client("instance_group_manager_resize_requests").list(**MIG, retry=None)
    assert (request.state, request.status.error.errors[0].code) == ("FAILED", "PERMISSIONS_ERROR")
    assert double.mig("web").target == 0


def test_machines_of_a_resize_request_vanish_at_their_end(double, migs) -> None:
    double.make_mig("web")
    body = {"name": "order", "resizeBy": 1, "requestedRunDuration": {"seconds": "600"}}
    double.do("instance_group_manager_resize_requests", "insert", "web", **body)
    double.settle()

    (machine,) = listed(migs)
    ends = double.clock.now() + timedelta(minutes=10)
    assert machine.scheduling.termination_timestamp == ends.isoformat(timespec="milliseconds")

    double.clock.advance(600)
    assert [each.current_action for each in listed(migs)] == ["DELETING"]
    assert double.mig("web").target == 0


def test_machines_stand_by_and_run_when_the_group_grows(double, migs) -> None:
    double.make_mig("web", size=1, stopped=1, suspended=1, standbyPolicy={"mode": "SCALE_OUT_POOL"})
    group = migs.get(**MIG, retry=None)
    assert (group.target_size, group.target_stopped_size, group.target_suspended_size) == (1, 1, 1)
    assert sorted(each.instance_status for each in listed(migs)) == ["RUNNING", "SUSPENDED", "TERMINATED"]

    resize(migs, 2)
    actions = sorted(each.current_action for each in listed(migs))
    assert actions == ["CREATING", "NONE", "NONE", "STARTING"]


def test_a_machine_that_is_stopped_counts_no_more(double, migs) -> None:
    double.make_mig("web", size=2)
    stopped = machine_url(double.machines("web")[0].name)
    asked = compute_v1.InstanceGroupManagersStopInstancesRequest(instances=[stopped])

    migs.stop_instances_unary(**MIG, instance_group_managers_stop_instances_request_resource=asked, retry=None)
    assert [each.current_action for each in listed(migs)] == ["STOPPING", "NONE"]
    double.settle()

    group = migs.get(**MIG, retry=None)
    assert (group.target_size, group.target_stopped_size) == (1, 1)
    assert [(each.target_status, each.instance_status) for each in listed(migs)] == [
        ("STOPPED", "TERMINATED"),
        ("RUNNING", "RUNNING"),
    ]


def test_an_autoscaler_of_google_shows_in_the_status(double, migs) -> None:
    double.make_mig("web")
    assert not migs.get(**MIG, retry=None).status.autoscaler

    double.steer("web")

    assert migs.get(**MIG, retry=None).status.autoscaler.endswith("/autoscalers/web")


# What is late


def test_a_group_is_stable_when_nothing_is_under_way(double, migs) -> None:
    double.make_mig("web", size=1)
    resize(migs, 2)
    group = migs.get(**MIG, retry=None)
    assert (group.status.is_stable, group.current_actions.creating, group.current_actions.none) == (False, 1, 1)

    double.settle()
    assert migs.get(**MIG, retry=None).status.is_stable


def test_the_state_of_a_group_may_be_one_read_behind(double, migs) -> None:
    double.make_mig("web")
    double.trails(state=True)
    migs.get(**MIG, retry=None)
    resize(migs, 1)

    answers = [migs.get(**MIG, retry=None) for _ in range(2)]

    assert [(each.target_size, each.status.is_stable) for each in answers] == [(1, True), (1, False)]


def test_the_list_of_machines_may_be_one_read_behind(double, migs) -> None:
    double.make_mig("web")
    double.trails(machines=True)
    listed(migs)
    resize(migs, 1)

    assert [len(listed(migs)) for _ in range(2)] == [0, 1]


def test_clients_may_see_groups_as_they_were(double, migs) -> None:
    double.make_mig("web")
    double.lags(30)
    resize(migs, 2)

    assert (migs.get(**MIG, retry=None).target_size, len(listed(migs))) == (0, 0)
    assert double.do("instance_group_managers", "get", "web")["targetSize"] == 2
    double.clock.advance(31)
    assert (migs.get(**MIG, retry=None).target_size, len(listed(migs))) == (2, 2)


# Faults


@pytest.mark.parametrize(
    ("fault", "error", "reason"),
    [
        ("throttle", exceptions.Forbidden, "rateLimitExceeded"),
        ("deny", exceptions.Forbidden, "forbidden"),
        ("expire", exceptions.Unauthorized, "authError"),
        ("fail", exceptions.ServiceUnavailable, "backendError"),
    ],
)
def test_faults_have_the_form_of_googles_errors(double, migs, fault, error, reason) -> None:
    double.make_mig("web")
    getattr(double.faults, fault)("instance_group_managers:get")

    with pytest.raises(error) as caught:
        migs.get(**MIG, retry=None)
    assert caught.value.errors[0]["reason"] == reason

    assert listed(migs) == []
    double.faults.heal()
    assert migs.get(**MIG, retry=None).name == "web"


def test_too_many_requests_tell_how_long_to_wait(double, migs) -> None:
    double.faults.throttle(retry_after=7, times=1)

    with pytest.raises(exceptions.TooManyRequests) as caught:
        migs.get(**MIG, retry=None)

    assert caught.value.response.headers["Retry-After"] == "7"


def test_a_proxy_may_answer_with_a_page(double, migs) -> None:
    double.faults.garble(times=1)

    with pytest.raises(exceptions.BadGateway, match="<html>"):
        migs.get(**MIG, retry=None)


@pytest.mark.parametrize(("after", "target"), [(False, 0), (True, 1)])
def test_a_connection_is_cut_before_or_after_the_change(double, migs, after, target) -> None:
    double.make_mig("web")
    double.faults.drop("instance_group_managers:resize", times=1, after=after)

    with pytest.raises(RequestsConnectionError):
        resize(migs, 1)

    assert double.mig("web").target == target


def test_an_answer_may_be_slow(double, migs) -> None:
    double.faults.slow("instance_group_managers:list", seconds=0.1)
    start = time.monotonic()

    list(migs.list(project="double", zone=ZONE, retry=None))

    assert time.monotonic() - start >= 0.1


def test_an_answer_may_be_stale(double, migs) -> None:
    double.make_mig("web")
    migs.get(**MIG, retry=None)
    double.faults.stale(times=1)
    resize(migs, 1)

    assert [migs.get(**MIG, retry=None).target_size for _ in range(2)] == [0, 1]


def test_a_fault_concerns_one_zone_alone(double, migs) -> None:
    double.faults.fail(f"*@{ZONE}")

    with pytest.raises(exceptions.ServiceUnavailable):
        list(migs.list(project="double", zone=ZONE, retry=None))
    assert list(migs.list(project="double", zone="europe-west1-c", retry=None)) == []


def test_the_metadata_server_fails_only_if_it_is_named(double) -> None:
    credentials, _ = google.auth.default()
    double.faults.throttle()
    credentials.refresh(Request())

    double.faults.refuse("metadata:get", "forbidden", "no account", status=404)
    with pytest.raises(google.auth.exceptions.GoogleAuthError):
        credentials.refresh(Request())


def test_calls_above_a_rate_are_refused_until_the_minute_ends(double, migs) -> None:
    double.make_mig("web")
    double.set_rate("default_per_region", 2)
    resize(migs, 1)
    listed(migs)

    with pytest.raises(exceptions.Forbidden) as caught:
        listed(migs)
    assert caught.value.errors[0]["reason"] == "rateLimitExceeded"
    migs.get(**MIG, retry=None)

    double.clock.advance(60)
    assert len(listed(migs)) == 1
    assert double.charged == {"default_per_region": 4, "read_requests_per_region": 1}


def test_a_stale_fingerprint_is_refused(double, migs) -> None:
    double.make_mig("web")
    read = migs.get(**MIG, retry=None)
    changed = compute_v1.InstanceGroupManager(fingerprint=read.fingerprint, target_size=2)
    patch = {**MIG, "instance_group_manager_resource": changed, "retry": None}

    migs.patch_unary(**patch)
    with pytest.raises(exceptions.PreconditionFailed) as caught:
        migs.patch_unary(**patch)

    assert caught.value.errors[0]["reason"] == "conditionNotMet"
    assert double.mig("web").target == 2


# Templates, types and prices


def test_templates_are_global_or_of_a_region(double) -> None:
    double.make_template("here", region=REGION, machine_type="e2-medium")
    double.make_template("anywhere", machine_type="n1-standard-1", accelerators={"nvidia-tesla-t4": 2}, spot=True)

    here = double.client("region_instance_templates").get(
        project="double", region=REGION, instance_template="here", retry=None
    )
    anywhere = double.client("instance_templates").get(project="double", instance_template="anywhere", retry=None)

    assert here.properties.machine_type == "e2-medium"
    assert anywhere.properties.guest_accelerators[0].accelerator_count == 2
    assert anywhere.properties.scheduling.provisioning_model == "SPOT"
    with pytest.raises(exceptions.NotFound):
        double.client("instance_templates").get(project="double", instance_template="here", retry=None)


def test_variables_of_kube_env_are_quoted_where_yaml_needs_it(double) -> None:
    variables = {"A": "plain", "B": "{x: 'y'}", "C": "true", "D": ""}
    double.make_template("quoted", kube_env=variables)

    template = double.client("instance_templates").get(project="double", instance_template="quoted", retry=None)

    (item,) = template.properties.metadata.items
    assert item.value == "A: plain\nB: '{x: ''y''}'\nC: \"true\"\nD: ''\n"


def test_machine_types_tell_architecture_gpus_and_local_disks(double) -> None:
    def read(name):
        return double.client("machine_types").get(project="double", zone=ZONE, machine_type=name, retry=None)

    assert (read("n2-standard-8").guest_cpus, read("n2-standard-8").memory_mb) == (8, 32768)
    assert read("t2a-standard-4").architecture == "ARM64"
    assert read("a2-highgpu-1g").accelerators[0].guest_accelerator_type == "nvidia-tesla-a100"
    assert read("c3-standard-8-lssd").bundled_local_ssds.partition_count == 2
    assert read("e2-medium").is_shared_cpu
    assert (read("n2-custom-6-20480").guest_cpus, read("n2-custom-6-20480").memory_mb) == (6, 20480)
    with pytest.raises(exceptions.NotFound):
        read("n9-standard-1")


def test_regions_have_zones(double) -> None:
    region = double.client("regions").get(project="double", region=REGION, retry=None)
    zones = double.client("zones").list(project="double", retry=None)

    assert [url.rpartition("/")[2] for url in region.zones] == ["europe-west1-b", "europe-west1-c", "europe-west1-d"]
    assert {zone.name for zone in zones if zone.region == region.self_link} == {
        "europe-west1-b",
        "europe-west1-c",
        "europe-west1-d",
    }


def test_prices_come_in_pages_with_words_for_what_is_sold(double, http) -> None:
    skus, token = [], ""
    while True:
        path = f"/v1/services/6F81-5844-456A/skus?pageSize=40&pageToken={token}&currencyCode=USD"
        page = http.request("GET", double.url + path).json()
        skus += page["skus"]
        token = page["nextPageToken"]
        if not token:
            break

    prices = {
        (sku["description"], sku["serviceRegions"][0]): sku["pricingInfo"][0]["pricingExpression"] for sku in skus
    }
    core = prices["N2 Instance Core running in Americas", "us-central1"]
    assert (core["usageUnit"], core["tieredRates"][0]["unitPrice"]["nanos"]) == ("h", 31_611_000)
    assert ("Spot Preemptible N2 Instance Ram running in Belgium", REGION) in prices
    assert double.calls["skus", "list"] == len(skus) // 40 + 1


# The double itself


def test_another_user_is_not_counted_and_meets_no_faults(double) -> None:
    double.make_mig("web")
    double.faults.drop()

    double.do("instance_group_managers", "resize", "web", size=2)

    assert double.mig("web").target == 2
    assert not double.calls


def test_another_user_is_told_why_a_call_is_refused(double) -> None:
    double.make_mig("web")

    with pytest.raises(RefusalError, match="greater than or equal to 0"):
        double.do("instance_group_managers", "resize", "web", size=-1)


def test_a_reset_forgets_everything(double, migs) -> None:
    double.make_mig("web", size=1)
    double.faults.throttle()
    double.run_out()

    double.reset()

    assert list(migs.list(project="double", zone=ZONE, retry=None)) == []
    double.make_mig("web", size=1)
    assert [each.instance_status for each in listed(migs)] == ["RUNNING"]


def test_5000_machines_of_200_groups_are_listed_within_a_second(double, http) -> None:
    for number in range(200):
        double.make_mig(f"group-{number}", size=25)
    url = f"{double.url}/compute/v1/projects/double/zones/{ZONE}/instanceGroupManagers"
    start = time.process_time()

    listed_groups = http.request("GET", f"{url}?maxResults=500").json()["items"]
    found = [
        http.request("POST", f"{url}/{group['name']}/listManagedInstances").json()["managedInstances"]
        for group in listed_groups
    ]

    assert sum(map(len, found)) == 5000
    assert time.process_time() - start < 1


def test_what_people_are_told_to_write_is_a_configuration_with_groups_and_prices(double) -> None:
    fill(double, boot=0)
    _, told = guide(double).split("gce.yaml:\n")
    settings = yaml.safe_load(textwrap.dedent(told.split("Check the")[0]))["providers"][0]["gce"]
    provider = GceProvider(GceConfig(**settings), ProviderContext(clock=double.clock))
    provider.refresh()

    found = {group.id.rpartition("/")[2]: group for group in provider.groups()}
    assert {name: group.target_size for name, group in found.items()} == {"pool-gpu": 1, "pool-spot": 1, "pool-web": 2}
    hour = (EPOCH, EPOCH + timedelta(hours=1))
    prices = [provider.pricing().node_price(group.template(), *hour) for group in found.values()]
    assert all(price > 0 for price in prices)


def test_the_endpoint_for_tokens_answers_a_service_account(double) -> None:
    class Signer(google.auth.crypt.Signer):
        key_id = "key"

        def sign(self, message):
            return b"signed"

    credentials = service_account.Credentials(
        Signer(), "nodes@double.iam.gserviceaccount.com", f"{double.url}/token", scopes=["compute"]
    )
    credentials.refresh(Request())

    assert credentials.token == double.secret
