"""Which groups are used, and within which limits."""

import pytest
from nodewright.api import CloudUnavailableError, ConfigurationError, GroupNotFoundError, PermanentError

from .a_compute import URL, Place, a_mig, address


@pytest.mark.scenario(1)
def test_a_rule_finds_groups_whose_names_go_on_behind_the_prefix(world) -> None:
    world.compute.put(a_mig("k8s"), a_mig("k8s-a"), a_mig("other-k8s-b"))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])

    (found,) = world.loop().values()
    assert (found.address, found.min_size, found.max_size) == (address("k8s-a"), 0, 10)


@pytest.mark.scenario(5)
def test_the_limits_of_a_named_group_win_over_those_of_a_rule(world) -> None:
    world.compute.put(a_mig("k8s-a"), a_mig("k8s-b"))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], nodes=[f"2:5:{URL}k8s-a"])

    limits = {name: (group.min_size, group.max_size) for name, group in world.loop().items()}
    assert limits == {"k8s-a": (2, 5), "k8s-b": (0, 10)}


@pytest.mark.scenario(6)
def test_the_flag_regional_looks_in_all_zones_and_one_that_fails_keeps_what_it_had(world) -> None:
    world.compute.home = "europe-west1-b"
    world.compute.regions["europe-west1"] = [f"europe-west1-{letter}" for letter in "bcd"]
    for letter in "bcd":
        world.compute.put(a_mig(f"k8s-{letter}", size=1), zone_name=f"europe-west1-{letter}")
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], regional=True)
    world.loop()
    for letter in "bcd":
        world.compute.put(a_mig(f"k8s-{letter}", size=2), zone_name=f"europe-west1-{letter}")
    down = CloudUnavailableError("503")
    world.compute.troubles[Place(project="p", name="europe-west1-c")] = down

    read = {name: (group.mig.target_size, len(group.members), group.trouble) for name, group in world.loop().items()}
    assert read == {"k8s-b": (2, 2, None), "k8s-c": (1, 1, down), "k8s-d": (2, 2, None)}


def test_rules_that_find_nothing_are_told_once(world, caplog) -> None:
    world.compute.put(a_mig("k8s"), a_mig("other"))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    for _ in range(2):
        assert world.loop() == {}

    (message,) = caplog.messages
    assert message.startswith("no rule finds a group among the 2 of projects/p/zones/europe-west1-b: a name has to")


def test_a_zone_that_can_not_be_read_is_told_once_if_no_group_of_it_is_known(world, caplog) -> None:
    world.compute.put(a_mig("k8s-a"))
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], zones=["europe-west1-b", "europe-west1-c"])
    world.compute.troubles[Place(project="p", name="europe-west1-c")] = CloudUnavailableError("503")
    for _ in range(2):
        assert world.loop().keys() == {"k8s-a"}

    assert caplog.messages == ["no group can be found in projects/p/zones/europe-west1-c: 503"]


@pytest.mark.scenario(7)
def test_a_found_group_that_is_deleted_goes_and_a_named_one_stays_with_an_error(world, caplog) -> None:
    world.compute.put(a_mig("found-a"), a_mig("named"))
    world.configure(discovery=["mig:namePrefix=found,min=0,max=10"], nodes=[f"1:5:{URL}named"])
    assert {name: group.trouble for name, group in world.loop().items()} == {"found-a": None, "named": None}
    world.compute.put()

    (gone,) = world.loop().values()
    assert gone.address == address("named")
    assert isinstance(gone.trouble, GroupNotFoundError)
    world.loop()
    assert caplog.text.count("correct its URL") == 1


def test_yaml_finds_by_name_of_the_template_and_its_labels(world) -> None:
    world.compute.put(
        a_mig("a", template="workers-1"), a_mig("b", template="workers-2"), a_mig("c", template="control-1")
    )
    world.compute.labels = {"workers-1": {"cluster": "prod"}, "workers-2": {"cluster": "test"}}
    world.configure(discover=[{"template": "workers-*", "labels": {"cluster": "prod"}, "max": 3}])

    assert {name: (group.min_size, group.max_size) for name, group in world.loop().items()} == {"a": (None, 3)}
    world.loop()
    assert not [what for what, _ in world.compute.calls if what == "template"]


def test_labels_that_cannot_be_read_freeze_the_groups_of_the_zone(world) -> None:
    world.compute.put(a_mig("a", template="one"))
    world.compute.labels = {"one": {"cluster": "prod"}, "two": {"cluster": "prod"}}
    world.configure(discover=[{"labels": {"cluster": None}}], zones=["europe-west1-b", "europe-west1-c"])
    world.loop()
    world.compute.put(a_mig("a", template="two"))
    down = world.compute.troubles["https://www.googleapis.com/compute/v1/projects/p/global/instanceTemplates/two"] = (
        CloudUnavailableError("503")
    )

    assert {name: group.trouble for name, group in world.loop().items()} == {"a": down}


def test_a_group_whose_template_was_taken_away_hides_no_other_group(world) -> None:
    world.compute.put(a_mig("a", template="one"), a_mig("b", template="gone"))
    world.compute.labels = {"one": {"cluster": "prod"}}
    world.compute.troubles["https://www.googleapis.com/compute/v1/projects/p/global/instanceTemplates/gone"] = (
        PermanentError("404")
    )
    world.configure(discover=[{"labels": {"cluster": "prod"}}])

    assert {name: group.trouble for name, group in world.loop().items()} == {"a": None}


def test_regions_in_yaml_have_their_zones_and_their_regional_groups(world) -> None:
    world.compute.regions["europe-west1"] = ["europe-west1-b"]
    world.compute.put(a_mig("k8s-zonal"))
    world.compute.put(a_mig("k8s-regional"), zone_name="europe-west1", regional=True)
    world.configure(discover=[{"namePrefix": "k8s-"}], regions=["europe-west1"])

    assert [group.address.id.partition("/p/")[2] for group in world.loop().values()] == [
        "regions/europe-west1/instanceGroups/k8s-regional",
        "zones/europe-west1-b/instanceGroups/k8s-zonal",
    ]
    world.loop()
    assert world.compute.calls == {("migs", "europe-west1"): 1, ("migs", "europe-west1-b"): 1}
    world.loop(601)
    assert world.compute.calls["region", "europe-west1"] == 1


def test_the_flag_regional_leaves_regional_groups_alone(world) -> None:
    world.compute.regions["europe-west1"] = ["europe-west1-b"]
    world.compute.put(a_mig("k8s-regional"), zone_name="europe-west1", regional=True)
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], regional=True)

    assert world.loop() == {}
    assert ("migs", "europe-west1") not in world.compute.calls


@pytest.mark.parametrize("local_zone", ["europe-west1", "europe-west1-b"])
def test_the_flag_regional_takes_the_local_zone_for_a_region_or_for_a_zone_of_it(world, local_zone) -> None:
    world.compute.home = local_zone
    world.compute.regions["europe-west1"] = ["europe-west1-b", "europe-west1-c"]
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"], regional=True)
    world.loop()

    assert {name for what, name in world.compute.calls if what == "migs"} == {"europe-west1-b", "europe-west1-c"}


def test_a_local_zone_that_is_a_region_is_explained(world) -> None:
    world.compute.home = "europe-west1"
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])

    with pytest.raises(ConfigurationError, match=r"zones: local-zone of cloudConfig is the region europe-west1: write"):
        world.loop()


def test_a_region_that_cannot_be_read_keeps_its_zones(world) -> None:
    world.compute.regions["europe-west1"] = ["europe-west1-b"]
    world.compute.put(a_mig("k8s-a"))
    world.configure(discover=[{"namePrefix": "k8s-"}], regions=["europe-west1"])
    world.loop()
    world.compute.troubles["europe-west1"] = CloudUnavailableError("503")

    assert list(world.loop(601)) == ["k8s-a"]


def test_a_rule_may_look_in_another_project_and_other_zones(world) -> None:
    world.compute.put(a_mig("k8s-a"))
    world.compute.put(a_mig("k8s-b"), zone_name="us-east1-b", project="other")
    world.configure(discover=[{"namePrefix": "k8s-", "project": "other", "zones": ["us-east1-b"]}])

    assert [group.address.place.project for group in world.loop().values()] == ["other"]


def test_groups_come_in_one_order_whatever_google_says(world) -> None:
    world.configure(discovery=["mig:namePrefix=k8s,min=0,max=10"])
    world.compute.put(a_mig("k8s-b"), a_mig("k8s-a"))
    first = list(world.loop())
    world.compute.put(a_mig("k8s-a"), a_mig("k8s-b"))

    assert first == list(world.loop()) == ["k8s-a", "k8s-b"]


def test_nothing_configured_is_an_error_that_shows_how(world) -> None:
    with pytest.raises(ConfigurationError, match="discover: no groups are named"):
        world.configure()


def test_a_group_that_is_named_with_different_limits_is_an_error(world) -> None:
    with pytest.raises(ConfigurationError, match="is named with 1:5 and 1:6"):
        world.configure(nodes=[f"1:5:{URL}a", f"1:6:{URL}a", f"1:6:{URL}b"])
