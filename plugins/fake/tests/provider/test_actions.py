"""What the provider has done in the cloud, and how refusals come back."""

import socket
from threading import Event, Thread

import pytest
from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    ForeignNodeError,
    GroupNotFoundError,
    GroupSpec,
    SizeLimitError,
    ThrottledError,
)
from nodewright.testing.builders import a_node
from nodewright_fake.provider.client import CloudClient


def states(house, group):
    return [str(machine.state) for machine in house.cloud.instances(group)]


def test_a_group_grows(house, groups) -> None:
    groups["web"].increase(2)
    assert groups["web"].target_size == 4
    assert states(house, "web") == ["Running", "Running", "Creating", "Creating"]


def test_a_group_grows_atomically(house, groups) -> None:
    groups["gpu"].increase_atomically(3)
    assert house.cloud.group("gpu").desired == 3
    assert house.cloud.gate.calls["increase-atomically"] == 1


def test_nodes_are_deleted_and_the_target_lowered(house, groups) -> None:
    groups["web"].delete_nodes([a_node(provider_id="fake://eu-a/web-2")])
    assert groups["web"].target_size == 1
    assert states(house, "web") == ["Running", "Deleting"]


def test_a_machine_that_never_registered_is_deleted_by_its_name(house, groups) -> None:
    unregistered = a_node("fake://eu-a/web-2", provider_id="")
    groups["web"].delete_nodes([unregistered])
    assert states(house, "web") == ["Running", "Deleting"]


def test_forced_deletion_passes_the_minimum(house, groups) -> None:
    groups["web"].force_delete_nodes([a_node(provider_id="fake://eu-a/web-1"), a_node(provider_id="fake://eu-a/web-2")])
    assert house.cloud.group("web").desired == 0


def test_unmet_demand_is_taken_back(house, groups) -> None:
    house.do("stock-out", pool="*", mode="wait")
    groups["web"].increase(2)
    groups["web"].decrease_target(2)
    assert groups["web"].target_size == 2


def test_met_demand_is_not_taken_back(groups) -> None:
    with pytest.raises(SizeLimitError, match="group web can't be asked for 1 machines without deleting any: it has 2"):
        groups["web"].decrease_target(1)


def test_the_maximum_holds(groups) -> None:
    with pytest.raises(SizeLimitError, match="group web can't grow from 2 to 6 machines: its maximum is 5"):
        groups["web"].increase(4)


def test_the_minimum_holds_before_anything_is_deleted(house, groups) -> None:
    with pytest.raises(SizeLimitError, match="group web can't lose 2 of 2 machines: its minimum is 1"):
        groups["web"].delete_nodes([a_node(provider_id="fake://eu-a/web-1"), a_node(provider_id="fake://eu-a/web-2")])
    assert states(house, "web") == ["Running", "Running"]


def test_bounds_of_flags_hold(house) -> None:
    provider = house.provider(nodes=(GroupSpec(name="web", min_size=2, max_size=3),))
    provider.refresh()
    [web] = provider.groups()
    with pytest.raises(SizeLimitError, match="its maximum is 3"):
        web.increase(2)
    with pytest.raises(SizeLimitError, match="its maximum is 3"):
        web.increase_atomically(2)
    with pytest.raises(SizeLimitError, match="its minimum is 2"):
        web.delete_nodes([a_node(provider_id="fake://eu-a/web-1")])


def test_a_node_of_another_group_is_foreign(groups) -> None:
    with pytest.raises(ForeignNodeError, match="machine fake://eu-a/web-1 does not belong to group gpu"):
        groups["gpu"].delete_nodes([a_node(provider_id="fake://eu-a/web-1")])


def test_a_group_that_somebody_deleted_is_not_found(house, groups) -> None:
    house.cloud.delete_group("gpu")
    with pytest.raises(GroupNotFoundError, match="there is no node group 'gpu'"):
        groups["gpu"].increase(1)


def test_a_stock_out_names_its_pool(house, groups) -> None:
    house.do("stock-out", pool="eu-b/g4.xlarge", mode="refuse")
    with pytest.raises(CapacityError) as refused:
        groups["gpu"].increase(1)
    assert refused.value.cause.error_class is ErrorClass.STOCK_OUT
    assert refused.value.cause.pool == "eu-b/g4.xlarge"


def test_a_quota_is_a_lack_of_capacity_too(house, groups) -> None:
    house.do("limit-quota", types="*", vcpus=4)
    with pytest.raises(CapacityError, match="QUOTA_EXCEEDED: 4 of 4 vCPUs") as refused:
        groups["gpu"].increase(1)
    assert refused.value.cause.error_class is ErrorClass.QUOTA


def test_throttling_tells_when_to_come_back(house, provider) -> None:
    house.do("throttle", retryAfter="3s")
    with pytest.raises(ThrottledError, match="too many requests: snapshot was throttled") as refused:
        provider.refresh()
    assert refused.value.retry_after == 3


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("unavailable", CloudUnavailableError),
        ("internal", CloudUnavailableError),
        ("denied", AccessDeniedError),
        ("reset", CloudUnavailableError),
    ],
)
def test_errors_of_the_api_are_told_apart(house, groups, kind, error) -> None:
    house.do("fail-api", kind=kind, operations="increase")
    with pytest.raises(error, match="increase"):
        groups["web"].increase(1)
    assert house.cloud.group("web").desired == 2


def test_a_call_whose_answer_is_lost_was_carried_out(house, groups) -> None:
    house.do("fail-api", kind="lost", operations="increase")
    with pytest.raises(CloudUnavailableError, match="increase may have been done or not"):
        groups["web"].increase(1)
    assert house.cloud.group("web").desired == 3


def test_a_failed_refresh_leaves_the_last_facts(house, provider) -> None:
    house.do("fail-api")
    with pytest.raises(CloudUnavailableError):
        provider.refresh()
    assert [group.id for group in provider.groups()] == ["web", "gpu", "cheap"]


def test_a_cloud_that_is_not_there_is_unavailable(house) -> None:
    house.server.stop()
    with pytest.raises(CloudUnavailableError) as refused:
        house.provider().refresh()
    assert str(refused.value).startswith(f"the fake cloud at {house.server.url} did not answer GET /v1/snapshot: ")
    assert str(refused.value).endswith("check that its world is up (nodewright world up) and that this is its address")


def test_something_else_at_the_address_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        thread = Thread(target=answer)
        thread.start()
        client = CloudClient(f"http://127.0.0.1:{listener.getsockname()[1]}", user_agent="test")
        with pytest.raises(CloudUnavailableError, match="Expecting value"):
            client.get("v1", "snapshot")
        thread.join()
        client.close()


def test_a_connection_that_ended_meanwhile_is_replaced() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    closed = Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_once_per_connection():
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)
                closed.set()

        thread = Thread(target=answer_once_per_connection)
        thread.start()
        client = CloudClient(f"http://127.0.0.1:{listener.getsockname()[1]}", user_agent="test")
        assert client.post("v1", "groups", body={}) == {}
        assert closed.wait(5)
        assert client.post("v1", "groups", body={}) == {}
        thread.join()
        client.close()


def test_groups_are_worked_on_at_the_same_time(house, groups) -> None:
    threads = [Thread(target=groups[name].increase, args=(1,)) for name in ("web", "gpu", "cheap") for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [group.desired for group in house.cloud.groups] == [5, 3, 3]
