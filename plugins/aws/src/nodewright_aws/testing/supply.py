"""Shortages of capacity pools, and EC2's messages about them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from nodewright_aws.pools import Lifecycle, Pool


class Trouble(StrEnum):
    """Why a launch fails."""

    STOCK_OUT = "stock-out"
    QUOTA = "quota"
    PERMISSION = "permission"
    IMAGE = "image"
    LAUNCH_TEMPLATE = "launch-template"
    SECURITY_GROUP = "security-group"
    SUBNET_FULL = "subnet-full"
    UNSUPPORTED = "unsupported"
    SPOT_PRICE = "spot-price"


@dataclass(kw_only=True)
class Shortage:
    """Launches from matching pools fail, except for so many machines that are still *available*."""

    #: Pattern of names such as ``eu-west-1a/m5.large`` or ``*/m5.*/spot``.
    pools: str
    #: Pattern of names of groups.
    groups: str = "*"
    trouble: Trouble = Trouble.STOCK_OUT
    available: int = 0
    #: Replaces AWS' message.
    message: str = ""
    #: Whether the failed launch shows in no activity.
    silent: bool = False

    def matches(self, group: str, pool: Pool) -> bool:
        """Whether the shortage affects launches of a group from a pool."""
        return fnmatchcase(str(pool), self.pools) and fnmatchcase(group, self.groups)


class Supply:
    """All present shortages."""

    def __init__(self) -> None:
        self._shortages: list[Shortage] = []

    def add(self, shortage: Shortage) -> Shortage:
        """Add a shortage."""
        self._shortages.append(shortage)
        return shortage

    def clear(self) -> None:
        """End all shortages."""
        self._shortages.clear()

    def shortage(self, group: str, pool: Pool) -> Shortage | None:
        """The shortage that prevents a launch from a pool; None if there is none."""
        return next((each for each in self._shortages if each.available < 1 and each.matches(group, pool)), None)

    def take(self, group: str, pool: Pool) -> None:
        """Take a machine from the available ones."""
        for shortage in self._shortages:
            if shortage.matches(group, pool):
                shortage.available -= 1


def status_message(shortage: Shortage, pool: Pool, zones: Collection[str], *, mixed: bool) -> str:
    """Return the message of the failed activity; for a *mixed* group it names the purchase option."""
    said = shortage.message or _WORDS[shortage.trouble](pool, sorted(set(zones) - {pool.zone}))
    if mixed and not shortage.message:
        kind = "Spot" if pool.lifecycle is Lifecycle.SPOT else "On-Demand"
        said = f"Could not launch {kind} Instances. {_CODES[shortage.trouble]} - {said}"
    return f"{said} Launching EC2 instance failed."


def _stock_out(pool: Pool, others: Sequence[str]) -> str:
    if pool.lifecycle is Lifecycle.SPOT:
        return "There is no Spot capacity available that matches your request."
    way_out = f" or choosing {', '.join(others)}" if others else ""
    return (
        f"We currently do not have sufficient {pool.instance_type} capacity in the Availability Zone you requested "
        f"({pool.zone}). Our system will be working on provisioning additional capacity. You can currently get "
        f"{pool.instance_type} capacity by not specifying an Availability Zone in your request{way_out}."
    )


def _quota(pool: Pool, others: Sequence[str]) -> str:
    if pool.lifecycle is Lifecycle.SPOT:
        return "Max spot instance count exceeded."
    return (
        "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that "
        "the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request "
        "an adjustment to this limit."
    )


def _unsupported(pool: Pool, others: Sequence[str]) -> str:
    return (
        f"Your requested instance type ({pool.instance_type}) is not supported in your requested Availability Zone "
        f"({pool.zone}). Please retry your request by not specifying an Availability Zone or choosing "
        f"{', '.join(others) or 'another one'}."
    )


_WORDS: Mapping[Trouble, Callable[[Pool, Sequence[str]], str]] = {
    Trouble.STOCK_OUT: _stock_out,
    Trouble.QUOTA: _quota,
    Trouble.UNSUPPORTED: _unsupported,
    Trouble.PERMISSION: lambda pool, others: (
        "You are not authorized to perform this operation. Encoded authorization failure message: 4GIOHlTkIaWHQD0Q0m6X."
    ),
    Trouble.IMAGE: lambda pool, others: "The image id '[ami-0123456789abcdef0]' does not exist.",
    Trouble.LAUNCH_TEMPLATE: lambda pool, others: (
        "The specified launch template, with template ID lt-0123456789abcdef0, does not exist."
    ),
    Trouble.SECURITY_GROUP: lambda pool, others: "The security group 'sg-0123456789abcdef0' does not exist.",
    Trouble.SUBNET_FULL: lambda pool, others: (
        "There are not enough free addresses in subnet 'subnet-0123456789abcdef0' to satisfy the requested number of "
        "instances."
    ),
    Trouble.SPOT_PRICE: lambda pool, others: (
        "Your Spot request price of 0.01 is lower than the minimum required Spot request fulfillment price of 0.0351."
    ),
}

_CODES = {
    Trouble.STOCK_OUT: "InsufficientInstanceCapacity",
    Trouble.QUOTA: "VcpuLimitExceeded",
    Trouble.PERMISSION: "UnauthorizedOperation",
    Trouble.IMAGE: "InvalidAMIID.NotFound",
    Trouble.LAUNCH_TEMPLATE: "InvalidLaunchTemplateId.NotFound",
    Trouble.SECURITY_GROUP: "InvalidGroup.NotFound",
    Trouble.SUBNET_FULL: "InsufficientFreeAddressesInSubnet",
    Trouble.UNSUPPORTED: "Unsupported",
    Trouble.SPOT_PRICE: "SpotMaxPriceTooLow",
}
