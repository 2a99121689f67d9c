"""Random claims and volumes."""

from dataclasses import dataclass, field
from typing import Any

from .dice import Dice
from .groups import HOSTNAME, ZONE, ZONES, Fleet
from .theme import Theme

_DRIVER = "disk.example.com"
_WAITS = "WaitForFirstConsumer"
_CLASSES: tuple[dict[str, Any], ...] = (
    {"metadata": {"name": "waits"}, "provisioner": _DRIVER, "volumeBindingMode": _WAITS},
    {
        "metadata": {"name": "waits-in-a"},
        "provisioner": _DRIVER,
        "volumeBindingMode": _WAITS,
        "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["zone-a"]}]}],
    },
    {"metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": _WAITS},
    {"metadata": {"name": "at-once"}, "provisioner": _DRIVER, "volumeBindingMode": "Immediate"},
)


@dataclass(kw_only=True)
class Storage:
    """All that has to do with volumes, as lists of a scenario."""

    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def claims_of(self, namespace: str) -> list[str]:
        """Return the names of the claims of a namespace."""
        claims = self.lists.get("persistentVolumeClaims", ())
        return [each["metadata"]["name"] for each in claims if each["metadata"]["namespace"] == namespace]


def random_storage(dice: Dice, theme: Theme, fleet: Fleet) -> Storage:
    """Return a few claims in each namespace, volumes for most of them, and limits on some nodes."""
    storage = Storage()
    if not theme.mix.volumes:
        return storage
    claims: list[dict[str, Any]] = []
    volumes: list[dict[str, Any]] = []
    for namespace in ("default", "team-a", "team-b"):
        for number in range(dice.number(1, 3)):
            claim, volume = _claim(dice, f"claim-{number}", namespace)
            claims.append(claim)
            volumes += [volume] if volume else []
    hosts = [node["metadata"]["name"] for node in fleet.nodes]
    volumes += [_local_volume(f"local-{number}", dice.pick(hosts)) for number in range(dice.number(0, 3)) if hosts]
    limited = [name for name in hosts if dice.chance(40)]
    storage.lists = {
        "storageClasses": list(_CLASSES),
        "persistentVolumes": volumes,
        "persistentVolumeClaims": claims,
        "csiNodes": [
            {
                "metadata": {"name": name},
                "spec": {"drivers": [{"name": _DRIVER, "allocatable": {"count": dice.number(0, 3)}}]},
            }
            for name in limited
        ],
    }
    return storage


def _claim(dice: Dice, name: str, namespace: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return a claim, and its volume if it is bound to one that is there."""
    state = dice.pick(("bound", "bound", "open", "open", "gone", "lost"))
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"}
    spec: dict[str, Any] = {
        "storageClassName": dice.pick(("waits", "waits", "waits-in-a", "local", "at-once")),
        "accessModes": [dice.pick(("ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"))],
        "resources": {"requests": {"storage": dice.pick(("1Gi", "5Gi"))}},
    }
    claim = {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
    if state == "open":
        return claim, None
    spec["volumeName"] = f"volume-{namespace}-{name}"
    metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["status"] = {"phase": "Lost" if state == "lost" else "Bound"}
    if state == "gone":
        return claim, None
    volume: dict[str, Any] = {
        "metadata": {"name": spec["volumeName"], "labels": {ZONE: dice.pick(ZONES)} if dice.chance(40) else {}},
        "spec": {
            "capacity": {"storage": "5Gi"},
            "accessModes": spec["accessModes"],
            "claimRef": {"namespace": namespace, "name": name},
            "csi": {"driver": _DRIVER, "volumeHandle": spec["volumeName"]},
        },
        "status": {"phase": "Bound"},
    }
    if dice.chance(40):
        volume["spec"]["nodeAffinity"] = _from(ZONE, dice.some(ZONES, 2))
    return claim, volume


def _local_volume(name: str, host: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "2Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "nodeAffinity": _from(HOSTNAME, [host]),
        },
        "status": {"phase": "Available"},
    }


def _from(key: str, values: list[str]) -> dict[str, Any]:
    line = {"key": key, "operator": "In", "values": values}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [line]}]}}
