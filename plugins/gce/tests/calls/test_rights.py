"""The rights that the plugin needs: all of them, and no others."""

import json

import pytest
from nodewright_gce.calls.rights import RIGHTS, Part, right_of
from nodewright_gce.policy import BASIC, main, policy


def test_what_changes_something_takes_a_right_of_its_own_part() -> None:
    changing = {right.permission for right in RIGHTS.values() if right.permission.endswith((".update", ".create"))}

    assert changing == {"compute.instanceGroupManagers.update"}
    assert changing <= set(policy({Part.RESIZE_GROUPS})["includedPermissions"])
    others = policy(set(Part) - {Part.RESIZE_GROUPS})["includedPermissions"]
    assert all(permission.endswith((".get", ".list")) for permission in others)


def test_a_role_has_the_parts_that_are_asked_for() -> None:
    assert policy()["includedPermissions"] == policy(BASIC)["includedPermissions"]
    assert "compute.reservations.list" in policy({Part.RESERVATIONS})["includedPermissions"]
    assert "compute.reservations.list" not in policy()["includedPermissions"]
    assert "" not in policy(set(Part))["includedPermissions"]


@pytest.mark.parametrize(
    ("resource", "verb", "permission"),
    [
        ("region_instance_group_managers", "resize", "compute.instanceGroupManagers.update"),
        ("region_instance_templates", "get", "compute.instanceTemplates.get"),
        ("region_operations", "get", "compute.regionOperations.get"),
    ],
)
def test_a_call_in_a_region_takes_the_right_of_its_kind(resource, verb, permission) -> None:
    assert right_of(resource, verb).permission == permission


def test_the_command_writes_the_role_of_a_dry_run(capsys) -> None:
    main(["--read-only", "--no-reservations"])
    written = json.loads(capsys.readouterr().out)

    assert written == policy({Part.READ_GROUPS})
    assert "compute.instanceGroupManagers.update" not in written["includedPermissions"]
