"""The page about overprovisioning says what happens."""

from datetime import timedelta
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from msgspec.structs import replace
from nodewright.api import Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

PAGE = Path(__file__).parents[2] / "docs/overprovisioning.md"


@pytest.fixture(scope="module")
def objects():
    """The namespace, the priority class and the Deployment of the page."""
    text = PAGE.read_text().split("```yaml\n")[1].split("```")[0]
    return list(yaml.safe_load_all(text))


@pytest.fixture
def room(objects):
    """A pause pod of the page, which waits."""
    _, priority_class, deployment = objects
    requests = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    return a_pod("room", owner="ReplicaSet/room", priority=priority_class["value"], **requests)


def decided(*pods, nodes=()):
    group = a_group("pool", size=len(nodes), max_size=5, template=a_template(cpu="4", memory="8Gi"))
    world = a_world(groups=[group], nodes={"pool": nodes}, pods=pods)
    return decide(world, Memory(), a_policy(), EPOCH + timedelta(hours=1))[0]


def test_kubernetes_takes_the_objects_of_the_page(objects) -> None:
    for each in objects:
        kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)


def test_a_pause_pod_brings_a_node(room) -> None:
    assert [(order.group, order.pods) for order in decided(room).grow] == [("pool", ("default/room",))]


def test_below_the_cutoff_it_brings_none(room) -> None:
    lower = replace(room, spec=replace(room.spec, priority=room.spec.priority - 1))
    decision = decided(lower)
    assert not decision.grow
    assert decision.pods["default/room"].reason is Reason.EXPENDABLE


def test_what_gave_way_brings_the_next_node_and_what_took_its_place_none(room) -> None:
    node = a_node("n", cpu="4", memory="8Gi", provider_id="fake://pool-0")
    taker = a_pod("web", cpu="3")
    taker = replace(taker, status=replace(taker.status, nominated_node_name="n"))
    assert [order.pods for order in decided(room, taker, nodes=[node]).grow] == [("default/room",)]


def test_a_pause_pod_that_runs_keeps_its_node(room) -> None:
    node = a_node("n", cpu="4", memory="8Gi", provider_id="fake://pool-0")
    running = a_pod("room", owner="ReplicaSet/room", priority=-10, cpu="3500m", memory="6Gi", node="n")
    assert decided(running, nodes=[node]).nodes["n"].reason is Reason.NEEDED


def test_the_page_makes_the_namespace_that_it_uses(objects) -> None:
    made = {each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"}
    assert {each["metadata"]["namespace"] for each in objects if "namespace" in each["metadata"]} == made
