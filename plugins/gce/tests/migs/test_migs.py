"""How groups are read: with few calls, and with troubles where they belong."""

import pytest
from msgspec.structs import replace
from nodewright.api import AccessDeniedError, CloudUnavailableError, ThrottledError
from nodewright_gce.resources.mig import MigStatus, Version

from .a_compute import URL, a_mig, address, zone

ZONES = [f"europe-west1-{letter}" for letter in "bcdefg"]


@pytest.fixture
def a_hundred(world):
    for number, name in enumerate(ZONES):
        migs = [a_mig(f"k8s-{number}-{each}", size=3) for each in range(17)]
        world.compute.put(*migs, zone_name=name)
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], zones=ZONES)
    return world


@pytest.mark.scenario(38)
def test_groups_at_rest_cost_one_list_for_each_zone(a_hundred) -> None:
    first = a_hundred.loop()
    assert len(first) == len(a_hundred.listed()) == 102

    for _ in range(50):
        again = a_hundred.loop()
        assert a_hundred.compute.calls == {("migs", name): 1 for name in ZONES}
    assert {name: group.members for name, group in again.items()} == {
        name: group.members for name, group in first.items()
    }


def test_machines_that_the_first_list_of_a_group_lacks_are_in_the_next_one(world, monkeypatch) -> None:
    world.compute.put(a_mig("k8s-a", size=2))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    listed = world.compute.managed_instances
    with monkeypatch.context() as patch:
        patch.setattr(world.compute, "managed_instances", lambda address: listed(address)[:1])
        assert len(world.loop()["k8s-a"].members) == 1

    assert len(world.loop()["k8s-a"].members) == 2
    world.loop()
    assert not world.listed()


def test_several_workers_read_the_same(a_hundred) -> None:
    first = a_hundred.loop()
    a_hundred.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], zones=ZONES, concurrentRefreshes=8)

    assert a_hundred.loop() == first


@pytest.mark.scenario(39)
def test_a_throttled_region_is_left_alone_until_the_time_google_named(world) -> None:
    world.compute.put(a_mig("k8s-a", size=1))
    world.compute.put(a_mig("k8s-b", size=1), zone_name="us-central1-a")
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], zones=[*ZONES[:2], "us-central1-a"])
    world.loop()
    world.compute.troubles[zone()] = ThrottledError("rateLimitExceeded", retry_after=45)
    world.compute.put(a_mig("k8s-a", size=2))

    waits = []
    for _ in range(5):
        groups = world.loop()
        waits.append(groups["k8s-a"].trouble.retry_after)
        assert groups["k8s-a"].mig.target_size == 1
        assert groups["k8s-b"].trouble is None
    assert waits == [45, 35, 25, 15, 5]
    assert world.compute.calls == {("migs", "us-central1-a"): 1}
    world.compute.troubles.clear()
    assert world.loop()["k8s-a"].mig.target_size == 2


def test_if_all_zones_fail_the_refresh_fails(world) -> None:
    world.compute.put(a_mig("k8s-a"))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    world.compute.troubles[zone()] = ThrottledError("rateLimitExceeded", retry_after=30)

    with pytest.raises(ThrottledError) as raised:
        world.loop()
    assert raised.value.retry_after == 30


def test_a_throttled_list_of_machines_spares_calls_for_other_groups_and_leaves_those_at_rest(world) -> None:
    world.compute.put(*(a_mig(f"k8s-{letter}") for letter in "abc"))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    world.compute.put(a_mig("k8s-a", stable=False), a_mig("k8s-b", stable=False), a_mig("k8s-c"))
    world.compute.troubles["k8s-a"] = ThrottledError("rateLimitExceeded", retry_after=15)

    for listed in ({"k8s-a"}, set()):
        assert [bool(group.trouble) for group in world.loop().values()] == [True, True, False]
        assert world.listed() == listed
    world.compute.troubles.clear()
    assert not any(group.trouble for group in world.loop().values())
    assert world.listed() == {"k8s-a", "k8s-b"}


def test_a_group_whose_machines_cannot_be_listed_keeps_them_and_is_tried_again(world) -> None:
    world.compute.put(a_mig("k8s-a", size=1), a_mig("k8s-b", size=1))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    denied = world.compute.troubles["k8s-a"] = AccessDeniedError("no")
    world.compute.put(a_mig("k8s-a", size=2), a_mig("k8s-b", size=1))

    groups = world.loop()
    assert (groups["k8s-a"].trouble, len(groups["k8s-a"].members)) == (denied, 1)
    assert groups["k8s-b"].trouble is None
    world.compute.troubles.clear()
    assert len(world.loop()["k8s-a"].members) == 2


def test_a_zone_that_answers_late_is_left_alone_as_long_as_it_took(world) -> None:
    world.compute.put(a_mig("k8s-a"))
    world.compute.put(a_mig("k8s-b"), zone_name=ZONES[1])
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], zones=ZONES[:2])
    world.loop()
    world.compute.before_listing = lambda place: world.clock.advance(15 if place == zone() else 0)
    world.compute.troubles[zone()] = CloudUnavailableError("late")

    tries = []
    for _ in range(4):
        world.loop()
        tries.append(world.compute.calls["migs", ZONES[0]])
    assert tries == [1, 0, 1, 0]


def test_a_changed_row_has_its_machines_listed_until_both_agree(world) -> None:
    world.compute.put(a_mig("k8s-a", size=1), a_mig("k8s-b", size=1))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    world.compute.put(a_mig("k8s-a", size=2), a_mig("k8s-b", size=1))

    listed = []
    for _ in range(4):
        world.loop()
        listed.append(world.listed())
    assert listed == [{"k8s-a"}, {"k8s-a"}, set(), set()]


@pytest.mark.parametrize(
    "change",
    [
        {"target_size": 3},
        {"target_stopped_size": 1},
        {"target_suspended_size": 1},
        {"current_actions": {"none": 3}},
        {"instance_template": "other"},
        {"versions": (Version(instance_template="other"),)},
    ],
)
def test_any_change_of_a_row_has_the_machines_listed(world, change) -> None:
    mig = a_mig("k8s-a", size=2)
    world.compute.put(mig)
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    world.compute.put(replace(mig, **change))

    world.loop()
    assert world.listed() == {"k8s-a"}


@pytest.mark.parametrize(
    "unsteady",
    [
        {"stable": False},
        {"current_actions": {"none": 1, "creating": 1}},
        {"current_actions": {"deleting": 1}},
    ],
)
def test_a_group_that_is_changing_has_its_machines_listed_in_each_loop(world, unsteady) -> None:
    world.compute.put(a_mig("k8s-a", size=2, **unsteady))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])

    for _ in range(4):
        world.loop()
        assert world.listed() == {"k8s-a"}


def test_within_the_shortest_wait_a_changing_group_is_not_listed_again_unless_we_changed_it(world) -> None:
    world.compute.put(a_mig("k8s-a", size=2, stable=False))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], instancesMinRefreshWait="30s")
    world.loop()

    world.loop()
    assert world.listed() == set()
    world.migs.touch(address("k8s-a"))
    world.loop()
    assert world.listed() == {"k8s-a"}


def test_a_group_that_we_changed_is_listed_although_its_row_does_not_show_it_yet(world) -> None:
    world.compute.put(a_mig("k8s-a", size=2), a_mig("k8s-b", size=2))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    world.migs.touch(address("k8s-a"))

    world.loop()
    assert world.listed() == {"k8s-a"}
    world.loop()
    assert world.listed() == set()


def test_a_group_that_we_changed_is_listed_once_its_zone_can_be_read_again(world) -> None:
    world.compute.put(a_mig("k8s-a", size=2))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], zones=ZONES[:2])
    world.loop()
    world.migs.touch(address("k8s-a"))
    world.compute.troubles[zone()] = CloudUnavailableError("503")
    world.loop()
    assert world.listed() == set()
    world.compute.troubles.clear()

    world.loop()
    assert world.listed() == {"k8s-a"}


def test_a_group_that_we_changed_is_listed_again_if_that_fails(world) -> None:
    world.compute.put(a_mig("k8s-a", size=2))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.loop()
    world.migs.touch(address("k8s-a"))
    world.compute.troubles["k8s-a"] = CloudUnavailableError("503")
    assert world.loop()["k8s-a"].trouble is not None
    world.compute.troubles.clear()

    world.loop()
    assert world.listed() == {"k8s-a"}


def test_groups_at_rest_are_listed_now_and_then_and_not_all_at_once(a_hundred) -> None:
    a_hundred.loop()
    counts = []
    for _ in range(120):
        a_hundred.loop()
        counts.append(len(a_hundred.listed()))
    assert sum(counts) == 102
    assert max(counts) < 10


@pytest.mark.scenario(9)
def test_a_node_that_no_group_has_is_looked_for_in_all_groups_that_may_have_made_it(world) -> None:
    world.compute.put(a_mig("one", base="a"), a_mig("two", base="a-b"), a_mig("three", base="c"))
    world.configure(nodes=[f"0:5:{URL}{name}" for name in ("one", "two", "three")])
    world.loop()
    world.migs.seek("gce://p/europe-west1-b/a-b-x1y2")

    world.loop()
    assert world.listed() == {"one", "two"}
    world.migs.seek("gce://p/europe-west1-b/a-b-x1y2")
    world.loop()
    assert world.listed() == set()
    world.migs.seek("gce://p/europe-west1-b/a-b-x1y2")
    world.loop(300)
    assert world.listed() == {"one", "two"}


@pytest.mark.scenario(8)
@pytest.mark.parametrize(
    "provider_id", ["aws:///eu-west-1a/i-1", "", "gce://x", "gce://p/europe-west1-c/a-1", "gce://q/europe-west1-b/a-1"]
)
def test_what_no_group_can_have_made_is_not_looked_for(world, provider_id) -> None:
    world.compute.put(a_mig("one", base="a"))
    world.configure(nodes=[f"0:5:{URL}one"])
    world.loop()
    world.migs.seek(provider_id)

    world.loop()
    assert world.listed() == set()


def test_machines_that_are_as_before_are_the_same_object(world) -> None:
    world.compute.put(a_mig("k8s-a", size=2, stable=False))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    before = world.loop()["k8s-a"].members

    assert world.loop()["k8s-a"].members is before


@pytest.mark.scenario(40)
def test_a_group_tells_who_else_steers_it(world) -> None:
    steered = a_mig("k8s-a")
    world.compute.put(
        type(steered)(name="k8s-a", status=MigStatus(is_stable=True, autoscaler="https://x/autoscalers/a"))
    )
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])

    assert world.loop()["k8s-a"].mig.status.autoscaler == "https://x/autoscalers/a"
