"""Decisions as JSON say all that the decision says, and are read back unchanged."""

import json
from dataclasses import fields
from datetime import timedelta
from types import MappingProxyType

import msgspec
import pytest
from nodewright.api import Decision, InstanceError, Outcome, Verdict, from_json, hookimpl, to_json
from nodewright.api.instance import ErrorClass
from nodewright.api.plugin import Plugin
from nodewright.api.reasons import Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing import EPOCH, a_group, a_node, a_pod, a_policy, a_world


@pytest.fixture
def decision() -> Decision:
    """Growth for one pod, none for another, and a verdict on a node."""
    world = a_world(
        groups=[a_group("small"), a_group("base", size=1, max_size=1)],
        nodes={"base": [a_node("base-1")]},
        pods=[
            a_pod("web", cpu="3"),
            a_pod("arm", node_selector={"kubernetes.io/arch": "arm64"}),
            a_pod("db", node="base-1", cpu="3"),
        ],
    )
    return decide(world, Memory(), a_policy(), EPOCH).decision


def test_a_decision_can_be_written_as_json_and_read_back(decision) -> None:
    assert decision.grow
    assert decision.rejections
    assert decision.nodes
    assert from_json(Decision, json.loads(json.dumps(to_json(decision)))) == decision


def test_its_json_has_every_field(decision) -> None:
    data = to_json(decision)
    assert list(data) == [field.name for field in fields(Decision)]
    assert data["at"] == "2030-01-01T00:00:00Z"
    assert data["grow"][0]["verdict"]["reason"] == "Chosen"


def test_it_is_the_json_that_the_core_writes(decision) -> None:
    assert to_json(decision) == json.loads(msgspec.json.encode(decision))


def test_an_outcome_can_be_written_and_read_back() -> None:
    cause = InstanceError(error_class=ErrorClass.STOCK_OUT, code="NoMachinesLeft", pool="eu-a/c5.large")
    outcome = Outcome(at=EPOCH + timedelta(minutes=1), action="grow", target="small", ok=False, cause=cause)
    assert from_json(Outcome, json.loads(json.dumps(to_json(outcome)))) == outcome


def test_read_only_mappings_are_written_as_well() -> None:
    decision = Decision(at=EPOCH, pods=MappingProxyType({"default/web": Verdict(reason=Reason.FITS)}))
    assert to_json(decision)["pods"]["default/web"]["reason"] == "Fits"


def test_what_cannot_be_read_back_is_named() -> None:
    with pytest.raises(ValueError, match=r"\$\.at"):
        from_json(Decision, {"at": "yesterday"})


def test_an_observer_can_write_decisions_down(decision) -> None:
    class Diary(Plugin):
        def __init__(self, config) -> None:
            super().__init__(config)
            self.lines: list[str] = []

        @hookimpl
        def on_decision(self, decision: Decision) -> None:
            self.lines.append(json.dumps(to_json(decision)))

    diary = Diary(Diary.Config())
    a_policy(hooks={"diary": diary}).hooks.on_decision(decision)
    assert [from_json(Decision, json.loads(line)) for line in diary.lines] == [decision]
