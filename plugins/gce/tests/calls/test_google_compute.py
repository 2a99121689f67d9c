"""Calls over HTTP, to the double."""

from collections import Counter
from datetime import timedelta
from itertools import count, cycle
from uuid import uuid4

import pytest
from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    GroupNotFoundError,
    PermanentError,
    TemporaryError,
    ThrottledError,
)
from nodewright_gce.calls.rights import RIGHTS
from nodewright_gce.resources.address import Address, Place

from .conftest import ZONE

INSTANCES = "https://www.googleapis.com/compute/v1/projects/double/zones/europe-west1-b/instances/"


def new_id() -> str:
    return str(uuid4())


def tokens_asked(double) -> int:
    return sum(request.path.endswith("/default/token") for request in double.requests)


def test_each_call_is_made_and_has_a_right(double, compute, workers) -> None:
    operation = compute.create_instances(workers, ["workers-bcdf"], request_id=new_id())
    assert compute.operation(operation).done
    double.settle()
    assert "workers-bcdf" in {each.name for each in compute.managed_instances(workers)}
    compute.delete_instances(workers, [INSTANCES + "workers-bcdf"], request_id=new_id())
    compute.resize(workers, 3, request_id=new_id())
    (mig,) = compute.migs(ZONE)
    assert (mig.name, mig.target_size) == ("workers", 3)
    assert compute.mig(workers) == mig
    assert compute.template(mig.template).properties.machine_type == "n2-standard-8"
    assert compute.machine_type(ZONE, "n2-standard-8").guest_cpus == 8
    assert compute.region(ZONE).name == "europe-west1"
    double.reserve("ours", zone=ZONE.name, machine_type="n2-standard-8", count=2)
    assert [each.name for each in compute.reservations(ZONE)] == ["ours"]
    assert compute.mig_errors(workers) == []
    compute.insert_resize_request(workers, "more", 2, request_id=new_id())
    (request,) = compute.resize_requests(workers)
    assert (request.name, request.resize_by) == ("more", 2)
    compute.cancel_resize_request(workers, "more", request_id=new_id())
    assert compute.skus("USD")

    regional = {("region_operations", "get"), ("region_instance_templates", "get")}
    assert set(double.calls) == RIGHTS.keys() - regional


def test_a_regional_group_is_called_in_its_region(double, compute) -> None:
    double.make_mig("spread", region="europe-west1", size=1)
    address = Address(place=Place(project="double", name="europe-west1", regional=True), name="spread")

    assert [each.name for each in compute.migs(address.place)] == ["spread"]
    compute.operation(compute.resize(address, 2, request_id=new_id()))
    assert len(compute.managed_instances(address)) == 2
    assert double.calls == {
        ("region_instance_group_managers", "list"): 1,
        ("region_instance_group_managers", "resize"): 1,
        ("region_operations", "get"): 1,
        ("region_instance_group_managers", "list_managed_instances"): 1,
    }


def test_lists_are_read_to_their_end_and_no_page_twice(double, compute) -> None:
    double.shorten_pages(2)
    for number in range(5):
        double.make_mig(f"group-{number}")

    assert [each.name for each in compute.migs(ZONE)] == [f"group-{number}" for number in range(5)]
    assert double.calls == {("instance_group_managers", "list"): 3}


@pytest.mark.parametrize("answer", [{"items": 3}, {"items": [{"targetSize": 1}]}, []])
def test_an_answer_that_is_not_googles_is_told_as_that(connect, served, answer) -> None:
    served.answers["/compute/v1/projects/double/zones/europe-west1-b/instanceGroupManagers"] = answer

    with pytest.raises(CloudUnavailableError, match=r"can't be read: see what is at that endpoint"):
        connect(endpoints={"compute": served.url}).migs(ZONE)


@pytest.mark.parametrize(("tokens", "read"), [(["a"], 2), (["a", "b"], 3), (map(str, count()), 1000)])
def test_pages_that_never_end_are_not_followed_for_ever(connect, served, tokens, read) -> None:
    path = "/compute/v1/projects/double/zones/europe-west1-b/instanceGroupManagers"
    following = cycle(tokens) if isinstance(tokens, list) else tokens
    served.answers[path] = lambda: {"items": [{"name": "a"}], "nextPageToken": next(following)}

    with pytest.raises(CloudUnavailableError, match="comes to no end"):
        connect(endpoints={"compute": served.url}).migs(ZONE)
    assert len(served.requests) == read


def test_numbers_may_be_written_as_text_and_unknown_fields_are_ignored(connect, served) -> None:
    path = "/compute/v1/projects/double/zones/europe-west1-b/instanceGroupManagers"
    served.answers[path] = {"items": [{"name": "a", "targetSize": "7", "new": {"field": 1}, "status": {"x": 1}}]}

    assert [each.target_size for each in connect(endpoints={"compute": served.url}).migs(ZONE)] == [7]


def test_a_list_asks_for_what_is_read_and_says_who_asks(double, compute, workers) -> None:
    compute.migs(ZONE)
    request = double.requests[-1]

    assert "fields=nextPageToken%2Citems%28name%2CselfLink" in request.path
    assert request.headers["User-Agent"] == "nodewright/test"


def test_a_token_is_asked_for_once(double, compute, workers) -> None:
    for _ in range(3):
        compute.migs(ZONE)

    assert tokens_asked(double) == 1


def test_credentials_that_expire_early_are_renewed_within_the_call(double, compute, workers) -> None:
    compute.migs(ZONE)
    double.faults.expire(times=1)

    assert compute.migs(ZONE)
    assert tokens_asked(double) == 2


def test_credentials_that_stay_refused_are_explained(double, compute) -> None:
    double.faults.expire()

    with pytest.raises(AccessDeniedError, match=r"does not accept the credentials .*; renew them") as raised:
        compute.migs(ZONE)
    assert raised.value.status == 401


@pytest.mark.parametrize("fault", ["fail", "drop", "garble"])
def test_what_is_read_is_asked_for_once_more(double, compute, workers, fault) -> None:
    getattr(double.faults, fault)("instance_group_managers:list", times=1)
    assert compute.migs(ZONE)

    getattr(double.faults, fault)("instance_group_managers:list", times=2)
    with pytest.raises(CloudUnavailableError, match=r"instanceGroupManagers\.list of projects/double/zones"):
        compute.migs(ZONE)


@pytest.mark.scenario(15)
def test_a_change_whose_answer_is_lost_is_made_once(double, compute, workers) -> None:
    double.faults.drop("instance_group_managers:create_instances", times=1, after=True)
    compute.create_instances(workers, ["workers-bcdf", "workers-ghjk"], request_id=new_id())

    first, second = (request for request in double.requests if request.call.verb == "create_instances")
    assert first.path == second.path
    assert compute.mig(workers).target_size == 4
    assert compute.mig_errors(workers) == []


def test_a_machine_that_is_gone_does_not_keep_others_from_being_deleted(double, compute, workers) -> None:
    machine = double.machines("workers")[0].name
    operation = compute.delete_instances(workers, [INSTANCES + "gone", INSTANCES + machine], request_id=new_id())

    assert compute.operation(operation).done
    assert compute.mig(workers).target_size == 1


def test_a_late_answer_ends_a_read_and_repeats_a_change(double, connect, workers) -> None:
    compute = connect(deadline=timedelta(seconds=0.8))
    double.faults.slow("instance_group_managers:*", seconds=0.5, times=1)
    with pytest.raises(CloudUnavailableError, match=r"no answer within 0\.2 s"):
        compute.migs(ZONE)

    double.faults.slow("instance_group_managers:resize", seconds=0.5, times=1)
    compute.resize(workers, 3, request_id=new_id())
    assert compute.mig(workers).target_size == 3


def test_an_operation_that_failed_raises_what_it_was_about(double, compute, workers) -> None:
    taken = double.machines("workers")[0].name

    with pytest.raises(TemporaryError, match=r"^instanceGroupManagers\.createInstances failed: .* already exists"):
        compute.operation(compute.create_instances(workers, [taken], request_id=new_id()))


def test_a_throttled_call_may_be_made_again_with_the_next_full_minute(double, compute) -> None:
    double.clock.advance(60 - double.clock.now().second + 13)
    double.faults.throttle(times=1)

    with pytest.raises(ThrottledError, match="Google asks for fewer calls") as raised:
        compute.migs(ZONE)
    assert raised.value.retry_after == 47
    assert double.calls == {("instance_group_managers", "list"): 1}


def test_a_throttled_call_may_say_how_long_to_wait(double, compute) -> None:
    double.faults.throttle(retry_after=7)

    with pytest.raises(ThrottledError) as raised:
        compute.migs(ZONE)
    assert raised.value.retry_after == 7


def test_a_missing_permission_is_named(double, compute, workers) -> None:
    double.faults.deny("instance_group_managers:resize")

    with pytest.raises(AccessDeniedError, match=r"allow compute\.instanceGroupManagers\.update in the role"):
        compute.resize(workers, 3, request_id=new_id())


def test_a_quota_is_a_matter_of_capacity(double, compute, workers) -> None:
    message = "Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region europe-west1."
    double.faults.refuse("instance_group_managers:resize", "quotaExceeded", message, status=403)

    with pytest.raises(CapacityError) as raised:
        compute.resize(workers, 3, request_id=new_id())
    assert raised.value.cause.error_class is ErrorClass.QUOTA
    assert raised.value.cause.pool == "europe-west1/N2_CPUS"


def test_a_group_that_does_not_exist_is_told(compute) -> None:
    with pytest.raises(
        GroupNotFoundError, match="no group projects/double/zones/europe-west1-b/instanceGroupManagers/x"
    ):
        compute.mig(Address(place=ZONE, name="x"))


def test_a_place_that_does_not_exist_is_no_group(compute) -> None:
    with pytest.raises(PermanentError) as raised:
        compute.machine_type(ZONE, "n9-standard-1")
    assert not isinstance(raised.value, GroupNotFoundError)


def test_urls_of_templates_come_with_any_host(compute, double, workers) -> None:
    url = compute.mig(workers).template
    path = url.partition("/compute/v1/")[2]

    templates = [compute.template(f"{host}{path}") for host in ("https://compute.googleapis.com/compute/v1/", "")]
    assert templates == [compute.template(url)] * 2


def test_the_project_and_the_zone_are_those_of_the_machine_unless_something_says_otherwise(
    double, connect, monkeypatch, tmp_path
) -> None:
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT")
    assert connect(project="").project == "double"
    assert connect(project="").zone() == "europe-west1-b"
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "environment")
    assert connect(project="").project == "environment"
    file = tmp_path / "gce.conf"
    file.write_text("[global]\nproject-id = written\nlocal-zone = us-east1-b\n")
    assert connect(project="", cloudConfig=str(file)).project == "written"
    assert connect(project="", cloudConfig=str(file)).zone() == "us-east1-b"
    assert connect(project="set", cloudConfig=str(file)).project == "set"


def test_requests_are_counted_by_the_names_of_cluster_autoscaler(double, compute, workers) -> None:
    from nodewright_gce.calls import metrics

    def counted() -> Counter[tuple[str, str]]:
        (family,) = metrics().requests.collect()
        return Counter({(each.labels["resource"], each.labels["verb"]): int(each.value) for each in family.samples})

    before = counted()
    double.faults.fail("instance_group_managers:list", times=1)
    compute.migs(ZONE)
    compute.managed_instances(workers)

    assert counted() - before == double.calls
    assert double.calls["instance_group_managers", "list"] == 2
    (family,) = metrics().durations.collect()
    assert {"backendError", "success"} <= {sample.labels["status"] for sample in family.samples}
    assert family.samples[0].name.startswith("nodewright_gce_request_duration_seconds")
