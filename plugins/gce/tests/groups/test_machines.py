"""Machines of a MIG in states that Google shows rarely."""

import pytest
from nodewright.api import InstanceState
from nodewright_gce.groups.machines import as_instance, state_of
from nodewright_gce.groups.removal import requests_for
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.managed_instance import InstanceVersion, ManagedInstance
from nodewright_gce.resources.mig import Mig

ZONE = Place(project="prod", name="europe-west1-b")
TEMPLATES = "https://www.googleapis.com/compute/v1/projects/prod/global/instanceTemplates"


def a_mig():
    return Mig(name="web", instance_template=f"{TEMPLATES}/stable")


def a_machine(name="web-aaaa", **fields):
    url = f"https://www.googleapis.com/compute/v1/{ZONE.path}/instances/{name}"
    return ManagedInstance(**{"name": name, "instance": url, "id": "1", "instance_status": "RUNNING", **fields})


@pytest.mark.parametrize("target_status", ["DELETED", "ABANDONED"])
def test_a_machine_that_is_to_leave_is_leaving(target_status) -> None:
    assert state_of(a_machine(target_status=target_status), a_mig()) is InstanceState.DELETING


@pytest.mark.parametrize(("version", "machine_type"), [("stable", "n2-standard-8"), ("canary", "")])
def test_the_type_is_known_only_of_machines_of_the_usual_template(version, machine_type) -> None:
    machine = a_machine(version=InstanceVersion(instance_template=f"{TEMPLATES}/{version}"))

    assert as_instance(machine, a_mig(), ZONE, ["n2-standard-8"]).instance_type == machine_type


def test_machines_without_a_url_are_asked_for_apart() -> None:
    queued, there = a_machine("web-bbbb", instance="", id="", current_action="CREATING"), a_machine()

    assert list(requests_for([queued, there])) == [(there,), (queued,)]
