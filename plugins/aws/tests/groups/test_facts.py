"""What a group says of its machines, and the provider of its nodes."""

from collections import Counter

import pytest
from nodewright.api import ErrorClass, InstanceError, InstanceState, Pause, ThrottledError
from nodewright.testing import a_node

from .machines import machine, machine_id, node


def states(group):
    return [instance.state for instance in group.instances()]


@pytest.mark.parametrize(
    ("lifecycle", "state"),
    [
        ("Pending", InstanceState.CREATING),
        ("Pending:Wait", InstanceState.CREATING),
        ("InService", InstanceState.RUNNING),
        ("Terminating:Wait", InstanceState.DELETING),
        ("Detaching", InstanceState.DELETING),
    ],
)
def test_machines_are_told_in_the_state_of_their_life(aws, start, lifecycle, state) -> None:
    aws.add("workers", machines=[machine(1, lifecycle)])
    (group,) = start().groups()
    (first, *_) = group.instances()
    assert (first.id, first.state) == (f"aws:///eu-west-1a/{machine_id(1)}", state)
    assert (first.zone, first.instance_type) == ("eu-west-1a", "m5.large")


@pytest.mark.parametrize("lifecycle", ["Terminated", "Detached"])
def test_machines_that_are_no_part_of_the_group_are_not_told(aws, start, lifecycle) -> None:
    aws.add("workers", desired=0, machines=[machine(1, lifecycle)])
    provider = start()
    (group,) = provider.groups()
    assert group.instances() == ()
    assert provider.group_of(node(1)) is None


def test_what_is_still_to_come_is_told_by_placeholders(aws, start) -> None:
    aws.add("workers", machines=[machine(1), machine(2, "Pending"), machine(3, "Terminating")], desired=4)
    (group,) = start().groups()
    assert group.target_size == 4
    assert [each.id for each in group.instances()[3:]] == [
        "aws:///eu-west-1a/i-placeholder-workers-2",
        "aws:///eu-west-1a/i-placeholder-workers-3",
    ]
    assert Counter(states(group)) == {InstanceState.CREATING: 3, InstanceState.RUNNING: 1, InstanceState.DELETING: 1}


def test_placeholders_keep_their_ids_while_others_become_machines(aws, start) -> None:
    aws.add("workers", desired=3)
    provider = start()
    before = {each.id for each in provider.groups()[0].instances()}
    aws.groups["workers"]["Instances"].append(machine(1, "Pending"))
    provider.refresh()
    assert {each.id for each in provider.groups()[0].instances()[1:]} < before


def test_placeholders_tell_why_machines_do_not_come(aws, start, monkeypatch) -> None:
    dry = [
        InstanceError(error_class=ErrorClass.STOCK_OUT, code="none", pool="eu-west-1a/m5.large"),
        InstanceError(error_class=ErrorClass.STOCK_OUT, code="none", pool="eu-west-1b/m5.large"),
    ]
    monkeypatch.setattr("nodewright_aws.parts.Activities.failures", lambda *_: dry)
    aws.add("workers", desired=3, zones=("eu-west-1a", "eu-west-1b"))
    (group,) = start().groups()
    assert {each.error for each in group.instances()} == set(dry)
    assert {each.zone for each in group.instances()} == {""}


def test_a_machine_that_is_about_to_be_interrupted_is_on_its_way_out(aws, start, monkeypatch) -> None:
    monkeypatch.setattr("nodewright_aws.parts.Interruptions.interrupted", {machine_id(1): "spot interruption"})
    aws.add("workers", machines=[machine(1), machine(2)])
    (group,) = start().groups()
    assert states(group) == [InstanceState.DELETING, InstanceState.RUNNING]
    assert group.target_size == 2


def test_machines_that_are_put_aside_are_of_the_group_and_not_counted(aws, start) -> None:
    aws.add("workers", desired=0, machines=[machine(1, "Warmed:Stopped"), machine(2, "Standby")])
    provider = start()
    (group,) = provider.groups()
    assert states(group) == [InstanceState.STOPPED, InstanceState.STOPPED]
    assert (group.target_size, provider.group_of(node(1))) == (0, "workers")


@pytest.mark.parametrize(("process", "paused"), [("Launch", True), ("Terminate", False)])
def test_a_group_that_aws_launches_nothing_for_does_not_grow_and_may_shrink(aws, start, process, paused) -> None:
    aws.add("workers", machines=[machine(1)], SuspendedProcesses=[{"ProcessName": process}])
    (group,) = start().groups()
    why = "its process Launch is suspended: resume it, or leave the group out"
    assert group.pause() == (Pause(why=why, shrinks=True) if paused else None)


@pytest.mark.parametrize(
    "provider_id", ["aws:///eu-west-1a/{}", "aws://eu-west-1a/{}", "aws:///{}", "aws:///eu-west-1a/{}/more"]
)
def test_nodes_are_known_by_the_machine_in_their_provider_id(aws, start, provider_id) -> None:
    aws.add("workers", machines=[machine(1)])
    provider = start({"groups": ["0:5:workers"], "prefix": "x-"})
    mine = a_node("n", provider_id=provider_id.format(machine_id(1)))
    assert provider.group_of(mine) == "x-workers"


@pytest.mark.parametrize(
    "provider_id",
    [
        "",
        "gce://project/zone/i-00000000000000001",
        "aws:///eu-west-1a/8f0e/fargate-ip-10-0-0-1",
        "eks-hybrid:///x/y/mi-1",
    ],
)
def test_nodes_of_others_are_not_ours(aws, start, provider_id) -> None:
    aws.add("workers", machines=[machine(1)])
    provider = start()
    theirs = a_node("n", provider_id=provider_id)
    assert provider.group_of(theirs) is None


def test_gpus_are_told_by_the_label(aws, start) -> None:
    aws.add("workers")
    provider = start()
    gpu = provider.gpu_config({"k8s.amazonaws.com/accelerator": "nvidia-l4"})
    assert (gpu.type, gpu.resource) == ("nvidia-l4", "nvidia.com/gpu")
    assert provider.gpu_config({}) is None


def test_facts_ask_nobody(aws, start) -> None:
    aws.add("workers", machines=[machine(1)], desired=2)
    provider = start()
    before = aws.calls.total()
    (group,) = provider.groups()
    assert group.instances()
    assert group.pools() is not None
    assert provider.group_of(node(1)) == "workers"
    assert provider.pricing() is not None
    assert aws.calls.total() == before


@pytest.mark.parametrize("part", ["Templates", "Activities", "Interruptions", "Prices"])
@pytest.mark.parametrize("error", [ThrottledError("too many calls"), KeyError("Items")])
def test_a_part_that_can_not_be_read_is_told_once_and_freezes_nothing(
    aws, start, monkeypatch, caplog, part, error
) -> None:
    caplog.set_level("INFO")
    aws.add("workers", machines=[machine(1)])
    provider = start()
    aws.groups["workers"]["DesiredCapacity"] = 3

    def fail(*_):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(f"nodewright_aws.parts.{part}.refresh", fail)
        provider.refresh()
        provider.refresh()
    assert provider.groups()[0].target_size == 3
    assert caplog.text.count("could not be read, so what was known of them stays") == 1
    provider.refresh()
    assert "can be read again" in caplog.text


def test_connections_are_closed_with_the_provider(aws, start) -> None:
    closed = []
    aws.close = lambda: closed.append(True)
    start({"groups": ["0:10:workers"]}).close()
    assert closed == [True]
