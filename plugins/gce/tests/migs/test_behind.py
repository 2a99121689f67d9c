"""Answers of Google that lag behind each other."""

from uuid import uuid4

import pytest
from nodewright_gce.calls import GoogleCompute
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.migs.migs import Migs
from nodewright_gce.resources.address import Address, Place

ADDRESS = Address(place=Place(project="double", name="europe-west1-b"), name="k8s-a")


@pytest.fixture
def cloud(double):
    """A group with two machines at rest, which was read; each loop takes ten seconds."""
    double.make_mig("k8s-a", size=2)
    double.settle()
    double.boots(25, stops=25)
    rule = {"namePrefix": "k8s", "min": 0, "max": 10}
    config = GceConfig.model_validate(double.config(zones=["europe-west1-b"], discover=[rule]))
    compute = GoogleCompute(config, double.clock, "test")
    migs = Migs(compute, config, (), (), double.clock)
    migs.read()
    yield double, compute, migs
    compute.close()


def loop(double, migs) -> list[tuple[str, str]]:
    double.clock.advance(10)
    (group,) = migs.read()
    assert group.trouble is None
    return sorted((each.name, each.current_action) for each in group.members)


def truth(double) -> list[tuple[str, str]]:
    return sorted((each.name, str(each.action)) for each in double.machines("k8s-a"))


@pytest.mark.parametrize("behind", [{}, {"state": True}, {"machines": True}, {"state": True, "machines": True}])
@pytest.mark.parametrize("size", [4, 1])
def test_what_somebody_else_changes_is_known_in_the_end_and_then_left_at_rest(cloud, behind, size) -> None:
    double, _, migs = cloud
    double.trails(**behind)
    loop(double, migs)
    double.do("instance_group_managers", "resize", "k8s-a", size=size)

    for _ in range(8):
        seen = loop(double, migs)
    assert seen == truth(double)
    assert len(seen) == size
    before = double.calls["instance_group_managers", "list_managed_instances"]
    loop(double, migs)
    assert double.calls["instance_group_managers", "list_managed_instances"] == before


@pytest.mark.parametrize("behind", [{}, {"state": True}])
def test_a_machine_that_we_ordered_shows_in_the_next_loop(cloud, behind) -> None:
    double, compute, migs = cloud
    double.trails(**behind)
    compute.create_instances(ADDRESS, ["k8s-a-bcdf"], request_id=str(uuid4()))
    migs.touch(ADDRESS)

    assert ("k8s-a-bcdf", "CREATING") in loop(double, migs)
