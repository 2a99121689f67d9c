"""A value from a plugin is checked all the way down, and the message leads to what is wrong in it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

import numpy as np
import pytest
from msgspec.structs import replace as struct_replace
from nodewright.api import (
    ErrorClass,
    GroupFacts,
    GroupOptions,
    Instance,
    InstanceError,
    InstanceState,
    NodeTemplate,
    Taint,
)
from nodewright.objects.frozen import FrozenDict
from nodewright.plugins.plain_values import ShapeError
from nodewright.plugins.shapes import Shape, check_of
from nodewright.testing import a_group, a_pod, a_template

POD = a_pod("agent")
RUNNING = Instance(id="i-1", state=InstanceState.RUNNING)
GROUP = a_group("web", template=a_template(cpu="4"))
FACTS = Shape(GroupFacts)


def template(**changes):
    return {"template": replace(GROUP.template, **changes)}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": None}, "id is None, not text"),
        ({"target_size": "three"}, "target_size is text ('three'), not a whole number"),
        ({"target_size": 3.0}, "target_size is a float (3.0), not a whole number"),
        ({"target_size": True}, "target_size is True, not a whole number"),
        ({"target_size": -1}, "target_size is an int (-1), not a whole number from 0 on"),
        ({"max_size": None}, "max_size is None, not a whole number"),
        ({"template": {}}, "template is a dict, not a NodeTemplate or None"),
        (
            template(allocatable={"cpu": "4"}),
            "template.allocatable['cpu'] is text ('4'), not a whole number (milli-cores)",
        ),
        (template(allocatable={"pods": True}), "template.allocatable['pods'] is True, not a whole number"),
        (
            template(capacity={"memory": 2**60}),
            f"template.capacity['memory'] is an int ({2**60}), not a whole number (bytes) from 0 to {2**53}",
        ),
        (template(capacity=None), "template.capacity is None, not a mapping"),
        (template(labels={"zone": 1}), "template.labels['zone'] is an int (1), not text"),
        (template(labels={1: "zone"}), "template.labels[1] is an int (1), not text as a key"),
        (template(taints="gpu"), "template.taints is text ('gpu'), not a list or tuple"),
        (template(taints=[Taint(key=None)]), "template.taints[0].key is None, not text"),
        (template(taints=["gpu"]), "template.taints[0] is text ('gpu'), not a Taint"),
        (
            template(pods=[struct_replace(POD, spec=struct_replace(POD.spec, priority="high"))]),
            "template.pods[0].spec.priority is text ('high'), not a whole number or None",
        ),
        ({"instances": None}, "instances is None, not a list or tuple"),
        ({"instances": (each for each in [RUNNING])}, "instances is a generator, not a list or tuple"),
        (
            {"instances": [RUNNING, replace(RUNNING, state="Running")]},
            "instances[1].state is text ('Running'), not an InstanceState: write InstanceState.RUNNING",
        ),
        ({"instances": [replace(RUNNING, id=7)]}, "instances[0].id is an int (7), not text"),
        (
            {"instances": [replace(RUNNING, error=InstanceError(error_class="Quota", code="X"))]},
            "instances[0].error.error_class is text ('Quota'), not an ErrorClass: write ErrorClass.QUOTA",
        ),
        ({"instances": [replace(RUNNING, error="full")]}, "instances[0].error is text ('full'), not an InstanceError"),
        ({"pools": "eu-a/c5"}, "pools is text ('eu-a/c5'), not a list or tuple"),
        ({"pools": [None]}, "pools[0] is None, not text"),
        ({"options": None}, "options is None, not a GroupOptions"),
        (
            {"options": GroupOptions(scale_down_unneeded_time=600)},
            "options.scale_down_unneeded_time is an int (600), not a timedelta of up to 100 years",
        ),
        (
            {"options": GroupOptions(max_node_provision_time=timedelta.max)},
            "options.max_node_provision_time is a timedelta, not a timedelta of up to 100 years",
        ),
        (
            {"options": GroupOptions(ignore_daemonsets_utilization="no")},
            "options.ignore_daemonsets_utilization is text ('no'), not True or False",
        ),
        ({"hourly_price": float("nan")}, "hourly_price is a float (nan), not a finite number or None"),
    ],
)
def test_the_message_names_the_part_what_it_is_and_what_it_should_be(changes, problem) -> None:
    with pytest.raises(ShapeError) as caught:
        FACTS(replace(GROUP, **changes))
    assert str(caught.value).startswith(problem)


def test_a_sound_value_is_returned_as_it_is() -> None:
    assert FACTS(GROUP) is GROUP
    assert FACTS(replace(GROUP, instances=[RUNNING])).instances == (RUNNING,)


def test_whole_numbers_text_and_amounts_of_other_classes_become_plain_ones() -> None:
    class Size(IntEnum):
        SMALL = 3

    class Zone(StrEnum):
        A = "eu-a"

    found = FACTS(
        replace(
            GROUP,
            target_size=np.int64(3),
            min_size=Size.SMALL,
            pools=[Zone.A, np.str_("eu-b")],
            hourly_price=np.float64(0.5),
            template=replace(GROUP.template, allocatable={"cpu": np.int32(4000)}),
        )
    )
    assert (found.target_size, found.min_size, found.pools, found.hourly_price) == (3, 3, ("eu-a", "eu-b"), 0.5)
    plain = [found.target_size, found.min_size, *found.pools, found.hourly_price, found.template.allocatable["cpu"]]
    assert [type(each) for each in plain] == [int, int, str, str, float, int]


def test_a_value_of_a_subclass_becomes_one_of_the_contract() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Spotty(NodeTemplate):
        spot: bool = True

    found = FACTS(replace(GROUP, template=Spotty(capacity={"cpu": 1}, allocatable={"cpu": 1})))
    assert found.template == NodeTemplate(capacity={"cpu": 1}, allocatable={"cpu": 1})


def test_a_mapping_that_could_be_changed_becomes_read_only() -> None:
    amounts = {"cpu": 1}
    limits = check_of(NodeTemplate)(NodeTemplate(capacity=amounts, allocatable=amounts))
    assert type(limits.capacity) is FrozenDict


def test_a_time_needs_a_zone() -> None:
    with pytest.raises(ShapeError, match="is a datetime, not a datetime with a time zone"):
        check_of(datetime)(datetime(2026, 1, 1))


def test_what_is_trusted_is_not_looked_at_again() -> None:
    class Counting(dict):
        reads = 0

        def items(self):
            Counting.reads += 1
            return super().items()

    labels = Counting(team="web")
    object.__setattr__(before := a_template(cpu="4"), "labels", labels)
    shape = Shape(NodeTemplate)
    shape(before, shape.trust([before]))
    assert Counting.reads == 0
    shape(before)
    assert Counting.reads > 0


def test_of_very_many_machines_the_wrong_one_is_found() -> None:
    machines = [replace(RUNNING, id=f"i-{number}") for number in range(10_000)]
    failed = replace(RUNNING, error=InstanceError(error_class=ErrorClass.QUOTA, code="X", message=None))
    check = check_of(tuple[Instance, ...])
    assert check(tuple(machines)) == tuple(machines)
    with pytest.raises(ShapeError, match=r"^\[7000\]\.error\.message is None, not text"):
        check((*machines[:7000], failed, *machines[7000:]))
