"""The states of machines of Auto Scaling groups, in our words."""

import pytest
from nodewright.api import InstanceState

from .an_aws import a_group, an_instance

CREATING, RUNNING, DELETING, STOPPED = InstanceState


@pytest.mark.parametrize(
    ("lifecycle_state", "state"),
    [
        ("Pending", CREATING),
        ("Pending:Wait", CREATING),
        ("Pending:Proceed", CREATING),
        ("Quarantined", CREATING),
        ("InService", RUNNING),
        ("ReplacingRootVolume:Wait", RUNNING),
        ("RootVolumeReplaced", RUNNING),
        ("Terminating", DELETING),
        ("Terminating:Wait", DELETING),
        ("Terminating:Proceed", DELETING),
        ("Terminating:Retained", DELETING),
        ("Detaching", DELETING),
        ("EnteringStandby", STOPPED),
        ("Standby", STOPPED),
        ("Terminated", None),
        ("Detached", None),
        ("Warmed:Stopped", STOPPED),
        ("Warmed:Running", STOPPED),
        ("Warmed:Terminating:Wait", STOPPED),
    ],
)
def test_a_state_is_told_and_counted_as_desired_capacity_counts_it(lifecycle_state, state) -> None:
    machine = an_instance(1, lifecycle_state)
    assert machine.state is state
    assert machine.is_counted == (state in (CREATING, RUNNING))


def test_every_state_that_the_sdk_knows_has_a_meaning() -> None:
    from botocore.session import Session
    from nodewright_aws.autoscaling import group

    model = Session().get_service_model("autoscaling").shape_for("LifecycleState")
    assert {state.partition(":")[0] for state in model.enum} == set(group._STATES)


def test_machines_on_their_way_out_or_in_standby_leave_their_places_open() -> None:
    states = ["InService", "Pending:Wait", "Terminating", "Standby", "Warmed:Stopped"]
    group = a_group(desired=4, instances=[an_instance(n, state) for n, state in enumerate(states)])
    assert group.missing == 2


def test_a_group_with_more_machines_than_asked_for_misses_none() -> None:
    assert a_group(desired=1, instances=[an_instance(1), an_instance(2)]).missing == 0
