"""The part of ``ec2`` that concerns our machines, or that moto lacks."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.testing.autoscaling import AutoScaling, Handler
from nodewright_aws.testing.backend import Moto
from nodewright_aws.testing.group import Machine
from nodewright_aws.testing.messages import RefusalError
from nodewright_aws.testing.requirements import matching

_PAGE = 1000


class Ec2:
    """Instances of groups as EC2 describes them, spot prices, and types that meet requirements."""

    def __init__(self, moto: Moto, autoscaling: AutoScaling) -> None:
        self._moto = moto
        self._fleet = autoscaling.fleet
        #: Dollars per hour and since when, newest last, by pool; moto invents prices while there are none.
        self.spot_prices: dict[Pool, list[tuple[datetime, float]]] = {}
        self.handlers: Mapping[str, Handler] = {
            "describe_instances": self._describe,
            "terminate_instances": self._terminate,
            "describe_spot_price_history": self._spot_prices,
            "get_instance_types_from_instance_requirements": self._matching,
        }

    def _describe(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = arguments.get("InstanceIds")
        known = {machine.id: machine for machine in self._fleet.machines()}
        for number in wanted or ():
            if number not in known:
                raise RefusalError("InvalidInstanceID.NotFound", f"The instance ID '{number}' does not exist")
        machines = [known[number] for number in wanted or known]
        for rule in arguments.get("Filters", ()):
            machines = [machine for machine in machines if _meets(machine, rule["Name"], rule["Values"])]
        start = int(arguments.get("NextToken") or 0)
        end = start + arguments.get("MaxResults", _PAGE)
        answer: dict[str, Any] = {
            "Reservations": [
                {"ReservationId": f"r-{machine.id[2:]}", "OwnerId": self._moto.account, "Instances": [_told(machine)]}
                for machine in machines[start:end]
            ]
        }
        return {**answer, "NextToken": str(end)} if end < len(machines) else answer

    def _terminate(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        for number in arguments["InstanceIds"]:
            if self._fleet.machine(number) is None:
                raise RefusalError("InvalidInstanceID.NotFound", f"The instance ID '{number}' does not exist")
        for number in arguments["InstanceIds"]:
            self._fleet.vanish(number)
        return {
            "TerminatingInstances": [
                {
                    "InstanceId": number,
                    "CurrentState": {"Code": 32, "Name": "shutting-down"},
                    "PreviousState": {"Code": 16, "Name": "running"},
                }
                for number in arguments["InstanceIds"]
            ]
        }

    def _spot_prices(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.spot_prices:
            return self._moto.call("ec2", "describe_spot_price_history", **arguments)
        types, zone = arguments.get("InstanceTypes"), arguments.get("AvailabilityZone")
        for rule in arguments.get("Filters", ()):
            if rule["Name"] == "availability-zone":
                zone = rule["Values"]
        zones = [zone] if isinstance(zone, str) else zone
        history = [
            {
                "AvailabilityZone": pool.zone,
                "InstanceType": pool.instance_type,
                "ProductDescription": product,
                "SpotPrice": f"{price:.6f}",
                "Timestamp": since,
            }
            for pool, prices in sorted(self.spot_prices.items())
            if (not types or pool.instance_type in types) and (not zones or pool.zone in zones)
            for since, price in reversed(prices)
            for product in arguments.get("ProductDescriptions") or ("Linux/UNIX",)
            if product.startswith("Linux/UNIX")
        ]
        start = int(arguments.get("NextToken") or 0)
        end = start + arguments.get("MaxResults", _PAGE)
        return {"SpotPriceHistory": history[start:end], "NextToken": str(end) if end < len(history) else ""}

    def _matching(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        names = matching(arguments["InstanceRequirements"], self._moto, arguments["ArchitectureTypes"])
        start = int(arguments.get("NextToken") or 0)
        end = start + arguments.get("MaxResults", _PAGE)
        answer: dict[str, Any] = {"InstanceTypes": [{"InstanceType": name} for name in names[start:end]]}
        return {**answer, "NextToken": str(end)} if end < len(names) else answer


def _meets(machine: Machine, name: str, values: list[str]) -> bool:
    told = _told(machine)
    tags = {tag["Key"]: tag["Value"] for tag in told["Tags"]}
    facts = {
        "instance-state-name": told["State"]["Name"],
        "instance-id": machine.id,
        "instance-type": machine.pool.instance_type,
        "availability-zone": machine.pool.zone,
        "instance-lifecycle": told.get("InstanceLifecycle", ""),
        **{f"tag:{key}": value for key, value in tags.items()},
    }
    if name == "tag-key":
        return any(key in tags for key in values)
    return facts.get(name) in values


def _told(machine: Machine) -> dict[str, Any]:
    state = "shutting-down" if machine.going else "pending" if machine.state == "Pending" else "running"
    told: dict[str, Any] = {
        "InstanceId": machine.id,
        "InstanceType": machine.pool.instance_type,
        "LaunchTime": machine.launched_at,
        "Placement": {"AvailabilityZone": machine.pool.zone, "Tenancy": "default"},
        "PrivateDnsName": private_name(machine),
        "State": {"Name": state, "Code": {"pending": 0, "running": 16, "shutting-down": 32}[state]},
        "Tags": [{"Key": "aws:autoscaling:groupName", "Value": machine.group}],
    }
    return {**told, "InstanceLifecycle": "spot"} if machine.pool.lifecycle is Lifecycle.SPOT else told


def private_name(machine: Machine) -> str:
    """Return the host name of a machine, which is its node's name."""
    number = int(machine.id[2:], 16)
    return f"ip-10-{number >> 16 & 255}-{number >> 8 & 255}-{number & 255}.{machine.pool.zone[:-1]}.compute.internal"
