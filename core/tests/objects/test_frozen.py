"""What plugins are handed can be read, copied and written down, but not changed."""

import copy
import json
import pickle

import msgspec
import pytest
from msgspec.structs import replace
from nodewright.api import Decision, NodeTemplate, Reason, ResourceLimits, Taint, Verdict
from nodewright.objects import ConfigMap, Node, ObjectMeta, Pod
from nodewright.objects.frozen import FrozenDict
from nodewright.objects.volume import Volume
from nodewright.testing import EPOCH, a_node, a_pod, a_template

NODE = a_node("n", labels={"team": "web"}, annotations={"note": "x"})
POD = a_pod("web", labels={"app": "web"}, requests={"cpu": "1"}, node_selector={"pool": "a"})
TEMPLATE = NodeTemplate(
    labels={"team": "web"}, capacity={"cpu": 4000}, allocatable={"cpu": 4000}, taints=[Taint(key="t")], csi_drivers={}
)
DECISION = Decision(at=EPOCH, rejections={"default/web": {"a": Verdict(reason=Reason.NO_HELP)}})

CHANGES = {
    "set": lambda mapping: mapping.__setitem__("key", "value"),
    "delete": lambda mapping: mapping.__delitem__(next(iter(mapping), "key")),
    "update": lambda mapping: mapping.update(key="value"),
    "merge": lambda mapping: mapping.__ior__({"key": "value"}),
    "default": lambda mapping: mapping.setdefault("key", "value"),
    "pop": lambda mapping: mapping.pop("key", None),
    "pop any": lambda mapping: mapping.popitem(),
    "clear": lambda mapping: mapping.clear(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    "mapping",
    [
        NODE.metadata.labels,
        NODE.metadata.annotations,
        NODE.status.capacity,
        NODE.status.allocatable,
        NODE.capacity,
        NODE.allocatable,
        POD.metadata.labels,
        POD.requests,
        POD.spec.node_selector,
        POD.spec.overhead,
        POD.spec.containers[0].resources.requests,
        ConfigMap(data={"a": "b"}).data,
        Volume(name="v", ephemeral={"spec": {"size": 1}}).ephemeral["spec"],
        TEMPLATE.labels,
        TEMPLATE.allocatable,
        TEMPLATE.csi_drivers,
        ResourceLimits(maximum={"cpu": 8}).maximum,
        DECISION.pods,
        DECISION.rejections["default/web"],
    ],
)
def test_no_mapping_of_a_value_can_be_changed(mapping, change) -> None:
    before = dict(mapping)
    with pytest.raises(TypeError, match="read-only"):
        change(mapping)
    assert mapping == before


def test_what_is_decoded_or_replaced_is_read_only_as_well() -> None:
    decoded = msgspec.json.decode(b'{"metadata": {"name": "n", "labels": {"a": "b"}}}', type=Node)
    replaced = replace(decoded, metadata=replace(decoded.metadata, labels={"c": "d"}))
    for node in (decoded, replaced):
        with pytest.raises(TypeError, match="read-only"):
            node.metadata.labels["key"] = "value"


def test_lists_become_tuples_and_nothing_else_of_a_value_can_be_set() -> None:
    assert TEMPLATE.taints == (Taint(key="t"),)
    for value in (NODE, POD, TEMPLATE, DECISION):
        with pytest.raises(AttributeError):
            value.metadata = value.labels = None


def test_a_value_keeps_nothing_of_the_mapping_that_it_was_made_of() -> None:
    labels = {"team": "web"}
    template = a_template(cpu="4", labels=labels)
    labels["team"] = "db"
    assert template.labels["team"] == "web"


def test_a_copy_can_be_changed() -> None:
    labels = NODE.metadata.labels
    for made in (dict(labels), {**labels}, labels | {}, labels.copy()):
        made["key"] = "value"
    assert "key" not in labels


@pytest.mark.parametrize("value", [NODE, POD, TEMPLATE, DECISION], ids=lambda value: type(value).__name__)
def test_values_can_be_pickled_copied_and_encoded(value) -> None:
    for made in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert made == value
    assert type(pickle.loads(pickle.dumps(NODE)).metadata.labels) is FrozenDict
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value
    assert msgspec.json.encode(value) == msgspec.json.encode(msgspec.to_builtins(value))
    assert json.loads(json.dumps(NODE.metadata.labels)) == NODE.metadata.labels


@pytest.mark.parametrize("pod", [Pod(), Pod(metadata=ObjectMeta(name="web", labels={}))])
def test_what_is_empty_is_left_out_of_the_json(pod) -> None:
    for same in (pod, pickle.loads(pickle.dumps(pod)), copy.deepcopy(pod), replace(pod)):
        assert b"labels" not in msgspec.json.encode(same)
        assert b"nodeSelector" not in msgspec.json.encode(same)
