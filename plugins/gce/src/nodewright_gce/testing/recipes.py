"""What `GceDouble.make_template` makes, in the form of the API."""

from collections.abc import Mapping, Sequence
from typing import Any

_BOOT_DISK = {
    "boot": True,
    "type": "PERSISTENT",
    "autoDelete": True,
    "initializeParams": {
        "diskSizeGb": "100",
        "diskType": "pd-balanced",
        "sourceImage": "https://www.googleapis.com/compute/v1/projects/cos-cloud/global/images/cos-stable-117",
    },
}


def template_of(
    *,
    machine_type: str,
    spot: bool,
    kube_env: str | Mapping[str, str] | None,
    metadata: Mapping[str, str],
    accelerators: Mapping[str, int],
    disks: Sequence[Mapping[str, Any]] | None,
    reservation: str,
) -> dict[str, Any]:
    """Return the properties of a template."""
    items = dict(metadata)
    if kube_env is not None:
        items["kube-env"] = kube_env if isinstance(kube_env, str) else _kube_env(kube_env)
    properties: dict[str, Any] = {
        "machineType": machine_type,
        "metadata": {"items": [{"key": key, "value": value} for key, value in items.items()]},
        "disks": list(disks) if disks is not None else [_BOOT_DISK],
        "scheduling": {
            "preemptible": spot,
            "provisioningModel": "SPOT" if spot else "STANDARD",
            "automaticRestart": not spot,
        },
    }
    if spot:
        properties["scheduling"]["instanceTerminationAction"] = "STOP"
    if accelerators:
        properties["guestAccelerators"] = [
            {"acceleratorType": kind, "acceleratorCount": count} for kind, count in accelerators.items()
        ]
    if reservation:
        properties["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [reservation],
        }
    return properties


def _kube_env(variables: Mapping[str, str]) -> str:
    """The variables as GKE writes them: some plain, some quoted in either way."""
    return "".join(f"{name}: {_quoted(value)}\n" for name, value in variables.items())


def _quoted(value: str) -> str:
    if not value or value[0] in "'\"{[&*!|>%@`" or ": " in value or " #" in value:
        return "'" + value.replace("'", "''") + "'"
    return '"true"' if value == "true" else value
