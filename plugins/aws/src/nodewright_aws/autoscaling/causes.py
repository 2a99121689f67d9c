"""Why a launch failed, parsed from the status message of a scaling activity.

Scaling activities have no codes, only sentences; some of these contain a code of EC2. The codes used here are EC2's
where it has one. They are few: a message that is not known becomes ``LaunchFailed``.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from nodewright.api import ErrorClass, InstanceError

from nodewright_aws.pools import Lifecycle, Pool

_STOCK_OUT, _QUOTA = ErrorClass.STOCK_OUT, ErrorClass.QUOTA
_PERMISSION, _CONFIGURATION = ErrorClass.PERMISSION, ErrorClass.CONFIGURATION

#: Marks in the message, in lower case: the first meaning with a mark in the message counts.
_MEANINGS: tuple[tuple[ErrorClass, str, tuple[str, ...]], ...] = (
    (_PERMISSION, "KmsKeyInaccessible", ("client.internalerror", "client error on launch", "kms key", "invalidkmskey")),
    (_STOCK_OUT, "UnfulfillableCapacity", ("unfulfillablecapacity", "unable to fulfill capacity")),
    (
        _STOCK_OUT,
        "SpotMaxPriceTooLow",
        ("spotmaxpricetoolow", "lower than the minimum required spot", "price-too-low"),
    ),
    (
        _STOCK_OUT,
        "ReservationCapacityExceeded",
        (
            "reservationcapacityexceeded",
            "reservation does not have sufficient",
            "does not have sufficient compatible",
            "capacity block reservation",
        ),
    ),
    (_STOCK_OUT, "InsufficientHostCapacity", ("insufficienthostcapacity", "insufficient capacity on host")),
    (
        _STOCK_OUT,
        "InsufficientInstanceCapacity",
        (
            "insufficientinstancecapacity",
            "do not have sufficient",
            "no spot capacity",
            "insufficient capacity",
            "capacity-not-available",
            "capacity-oversubscribed",
            # Interrupted before it was in service.
            "spotinstancetermination",
        ),
    ),
    (_QUOTA, "VcpuLimitExceeded", ("vcpulimitexceeded", "current vcpu limit")),
    (_QUOTA, "MaxSpotInstanceCountExceeded", ("maxspotinstancecountexceeded", "max spot instance count exceeded")),
    (_QUOTA, "FleetQuotaExceeded", ("quota for maximum fleet requests", "maxspotfleetrequestcountexceeded")),
    (
        _QUOTA,
        "InstanceLimitExceeded",
        (
            "instancelimitexceeded",
            "current instance limit",
            "instance(s) are already running",
            "your quota allows for",
        ),
    ),
    (_QUOTA, "VolumeLimitExceeded", ("volumelimitexceeded", "storage limit", "maximum number of volumes")),
    (_QUOTA, "NetworkInterfaceLimitExceeded", ("networkinterfacelimitexceeded", "limit for network interfaces")),
    # About the group's own subnets, like a quota: other groups can still launch from the pool.
    (
        _QUOTA,
        "InsufficientFreeAddressesInSubnet",
        ("insufficientfreeaddresses", "enough free addresses", "insufficientcidrblocks", "enough free cidr blocks"),
    ),
    (_QUOTA, "PendingVerification", ("pendingverification", "account is currently being verified")),
    (_QUOTA, "NotFreeTierEligible", ("eligible for free tier",)),
    (_PERMISSION, "OptInRequired", ("optinrequired", "accept terms and subscribe", "not subscribed")),
    (_PERMISSION, "Blocked", ("account is currently blocked",)),
    (_PERMISSION, "ServiceLinkedRoleMissing", ("servicelinkedrole", "service-linked role", "service linked role")),
    (_PERMISSION, "PassRoleDenied", ("iam:passrole",)),
    (
        _PERMISSION,
        "UnauthorizedOperation",
        (
            "unauthorizedoperation",
            "not authorized",
            "accessdenied",
            "access denied",
            "authfailure",
            "authentication failure",
        ),
    ),
    (_CONFIGURATION, "InvalidIamInstanceProfile", ("iaminstanceprofile", "iam instance profile")),
    (_CONFIGURATION, "InvalidPlacementGroup", ("placement group", "placementgroup")),
    (_CONFIGURATION, "InvalidAMIID", ("image id", "invalidamiid", "ami id", "imageid", "pending, and cannot be run")),
    (_CONFIGURATION, "InvalidKeyPair", ("key pair", "invalidkeypair", "keypair")),
    (_CONFIGURATION, "InvalidSecurityGroup", ("security group", "invalidgroup", "securitygroup")),
    (_CONFIGURATION, "InvalidSubnet", ("subnet",)),
    (_CONFIGURATION, "InvalidBlockDevice", ("block device", "blockdevice", "device name", "virtualname")),
    (_CONFIGURATION, "Unsupported", ("not supported", "no longer supported", "unsupported")),
    (_CONFIGURATION, "InvalidLaunchTemplate", ("launch template", "launchtemplate", "launch configuration")),
    (_CONFIGURATION, "InvalidParameter", ("invalidparameter", "invalidfleetconfiguration", "for parameter")),
    (ErrorClass.OTHER, "LifecycleHookAbandoned", ("lifecycle hook", "lifecycle action")),
    (ErrorClass.OTHER, "UnhealthyAtStart", ("became unhealthy",)),
)
_UNKNOWN = (ErrorClass.OTHER, "LaunchFailed")
#: All causes, by class and code.
CODES = frozenset({_UNKNOWN, *((kind, code) for kind, code, _ in _MEANINGS)})
#: AWS soon tries again by itself.
_PASSING = (
    "requestlimitexceeded",
    "request limit exceeded",
    "rate exceeded",
    "throttl",
    "server.internalerror",
    "internal error",
    "internalerror",
    "serviceunavailable",
    "service is unavailable",
)
#: These say nothing about the pool as a whole.
_NOT_OF_A_POOL = frozenset({"ReservationCapacityExceeded", "InsufficientHostCapacity"})
_TYPE = re.compile(r"sufficient (?P<type>[a-z0-9-]+\.[a-z0-9-]+) capacity", re.IGNORECASE)
_ZONE = re.compile(r"availability zone you requested \((?P<zone>[a-z0-9-]+)\)", re.IGNORECASE)
#: Long, and useless without a permission of its own.
_ENCODED = re.compile(r"\s*Encoded authorization failure message: \S+")


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why a launch failed, and where, if that is known."""

    error_class: ErrorClass
    code: str
    message: str
    zone: str = ""
    instance_type: str = ""
    lifecycle: Lifecycle | None = None

    def errors(self, pools: Collection[Pool]) -> Iterator[InstanceError]:
        """Yield the cause as an error: one for each of the group's *pools* that is dry, or one without a pool."""
        for pool in self._dry(pools) or ("",):
            yield InstanceError(error_class=self.error_class, code=self.code, message=self.message, pool=str(pool))

    def _dry(self, pools: Collection[Pool]) -> list[Pool]:
        if self.error_class is not _STOCK_OUT or self.code in _NOT_OF_A_POOL or not self.zone:
            return []
        found = [pool for pool in pools if self._concerns(pool)]
        if self.instance_type and not found:
            bought = self.lifecycle or Lifecycle.ON_DEMAND
            return [Pool(zone=self.zone, instance_type=self.instance_type, lifecycle=bought)]
        return sorted(found)

    def _concerns(self, pool: Pool) -> bool:
        return (
            pool.zone == self.zone
            and self.instance_type in ("", pool.instance_type)
            and self.lifecycle in (None, pool.lifecycle)
        )


def cause_of(message: str, zone: str = "") -> Cause | None:
    """Return the cause in the *message* of a launch in *zone*; None if AWS will try again by itself."""
    text = message.lower()
    meant = next(((kind, code) for kind, code, marks in _MEANINGS if any(mark in text for mark in marks)), None)
    if meant is None and any(mark in text for mark in _PASSING):
        return None
    error_class, code = meant or _UNKNOWN
    named_type, named_zone = _TYPE.search(message), _ZONE.search(message)
    return Cause(
        error_class=error_class,
        code=code,
        message=_ENCODED.sub("", message),
        zone=named_zone["zone"] if named_zone else zone,
        instance_type=named_type["type"] if named_type else "",
        lifecycle=_lifecycle(text),
    )


def _lifecycle(text: str) -> Lifecycle | None:
    if "on-demand instances" in text:
        return Lifecycle.ON_DEMAND
    return Lifecycle.SPOT if "spot" in text else None
