"""What AWS says about failed launches, and what we make of it."""

import pytest
from nodewright.api import ErrorClass
from nodewright_aws.autoscaling.causes import cause_of
from nodewright_aws.pools import Pool

STOCK_OUT, QUOTA = ErrorClass.STOCK_OUT, ErrorClass.QUOTA
PERMISSION, CONFIGURATION = ErrorClass.PERMISSION, ErrorClass.CONFIGURATION

NO_M5 = (
    "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (eu-west-1a). Our"
    " system will be working on provisioning additional capacity. You can currently get m5.large capacity by not"
    " specifying an Availability Zone in your request or choosing eu-west-1b, eu-west-1c."
)
NO_SPOT = "There is no Spot capacity available that matches your request. Launching EC2 instance failed."
NO_FLEET = (
    "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request"
    " configuration. Please adjust your request and try again. Launching EC2 instance failed."
)


@pytest.mark.parametrize(
    ("message", "error_class", "code"),
    [
        (NO_M5, STOCK_OUT, "InsufficientInstanceCapacity"),
        (NO_SPOT, STOCK_OUT, "InsufficientInstanceCapacity"),
        (NO_FLEET, STOCK_OUT, "UnfulfillableCapacity"),
        (
            "Your Spot request price of 0.015 is lower than the minimum required Spot request fulfillment price.",
            STOCK_OUT,
            "SpotMaxPriceTooLow",
        ),
        (
            "The requested reservation does not have sufficient compatible and available capacity for this request.",
            STOCK_OUT,
            "ReservationCapacityExceeded",
        ),
        (
            "The capacity reservation cr-0ab1 does not have sufficient compatible and available capacity.",
            STOCK_OUT,
            "ReservationCapacityExceeded",
        ),
        (
            "Instance became unhealthy. Termination Reason: Server.SpotInstanceTermination: Spot instance termination",
            STOCK_OUT,
            "InsufficientInstanceCapacity",
        ),
        (
            "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket",
            QUOTA,
            "VcpuLimitExceeded",
        ),
        ("Max spot instance count exceeded. Launching EC2 instance failed.", QUOTA, "MaxSpotInstanceCountExceeded"),
        ("You've reached your quota for maximum Fleet Requests for this account.", QUOTA, "FleetQuotaExceeded"),
        ("5 instance(s) are already running. Launching EC2 instance failed.", QUOTA, "InstanceLimitExceeded"),
        (
            "You have requested more instances (1) than your current instance limit of 0 allows for the instance type",
            QUOTA,
            "InstanceLimitExceeded",
        ),
        (
            "There are not enough free addresses in subnet 'subnet-0ab1' to satisfy the requested number of instances.",
            QUOTA,
            "InsufficientFreeAddressesInSubnet",
        ),
        (
            "InvalidParameterCombination - The specified instance type is not eligible for Free Tier.",
            QUOTA,
            "NotFreeTierEligible",
        ),
        (
            "Instance became unhealthy while waiting. Termination Reason: Client.InternalError: Client error on launch",
            PERMISSION,
            "KmsKeyInaccessible",
        ),
        ("Authentication Failure. Launching EC2 instance failed.", PERMISSION, "UnauthorizedOperation"),
        (
            "You are not authorized to use launch template: lt-0bc7. Launching failed.",
            PERMISSION,
            "UnauthorizedOperation",
        ),
        (
            "User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: iam:PassRole on resource: x",
            PERMISSION,
            "PassRoleDenied",
        ),
        (
            "The security group 'sg-3d7b' does not exist in VPC 'vpc-be54'. Launching EC2 instance failed.",
            CONFIGURATION,
            "InvalidSecurityGroup",
        ),
        ("The image id '[ami-4edb0327]' does not exist. Launching EC2 instance failed.", CONFIGURATION, "InvalidAMIID"),
        ("The key pair 'ours' does not exist. Launching EC2 instance failed.", CONFIGURATION, "InvalidKeyPair"),
        (
            "Value (gone) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name.",
            CONFIGURATION,
            "InvalidIamInstanceProfile",
        ),
        (
            "The requested configuration is currently not supported. Launching EC2 instance failed.",
            CONFIGURATION,
            "Unsupported",
        ),
        (
            "InvalidFleetConfiguration - Your requested instance type (p3) is not supported in your requested zone",
            CONFIGURATION,
            "Unsupported",
        ),
        (
            "Placement groups may not be used with instances of type 't3.large'. Launching EC2 instance failed.",
            CONFIGURATION,
            "InvalidPlacementGroup",
        ),
        ("Invalid device name upload. Launching EC2 instance failed.", CONFIGURATION, "InvalidBlockDevice"),
        (
            "The specified launch template, with template ID lt-1, does not exist.",
            CONFIGURATION,
            "InvalidLaunchTemplate",
        ),
        ("Could not launch On-Demand Instances. VcpuLimitExceeded - No.", QUOTA, "VcpuLimitExceeded"),
        (
            "Your quota allows for 0 more running instance(s). You requested at least 1.",
            QUOTA,
            "InstanceLimitExceeded",
        ),
        (
            "InsufficientCidrBlocks - There are not enough free cidr blocks in the specified subnet.",
            QUOTA,
            "InsufficientFreeAddressesInSubnet",
        ),
        (
            "This account is currently blocked and not recognized as a valid account. Launching EC2 instance failed.",
            PERMISSION,
            "Blocked",
        ),
        ("You are not subscribed to this service. Please see https://aws.amazon.com/.", PERMISSION, "OptInRequired"),
        ("AMI ami-0ab1 is pending, and cannot be run. Launching EC2 instance failed.", CONFIGURATION, "InvalidAMIID"),
        ("Something that AWS never said before.", ErrorClass.OTHER, "LaunchFailed"),
        ("", ErrorClass.OTHER, "LaunchFailed"),
    ],
)
def test_a_sentence_of_aws_has_a_class_and_a_code(message, error_class, code) -> None:
    cause = cause_of(message)
    assert cause is not None
    assert (cause.error_class, cause.code, cause.message) == (error_class, code, message)


@pytest.mark.parametrize(
    "message", ["RequestLimitExceeded - Request limit exceeded.", "Rate exceeded", "Server.InternalError"]
)
def test_what_passes_by_itself_is_no_failure(message) -> None:
    assert cause_of(message) is None


def test_an_encoded_message_that_nobody_can_read_is_cut_out() -> None:
    cause = cause_of("You are not authorized. Encoded authorization failure message: aGVsbG8gd29ybGQ= Failed.")
    assert cause is not None
    assert cause.message == "You are not authorized. Failed."


def test_a_stock_out_that_names_type_and_zone_names_the_pool() -> None:
    assert _pools(NO_M5) == ["eu-west-1a/m5.large"]


def test_a_stock_out_of_a_group_that_has_only_spot_names_the_spot_pool() -> None:
    assert _pools(NO_M5, "eu-west-1a/m5.large/spot", "eu-west-1b/m5.large/spot") == ["eu-west-1a/m5.large/spot"]


def test_what_is_said_about_on_demand_concerns_no_spot_pool() -> None:
    said = f"Could not launch On-Demand Instances. InsufficientInstanceCapacity - {NO_M5}"
    both = ("eu-west-1a/m5.large", "eu-west-1a/m5.large/spot")
    assert _pools(said, *both) == ["eu-west-1a/m5.large"]


def test_a_fleet_that_can_not_be_had_in_a_zone_dries_all_spot_pools_of_the_group_there() -> None:
    pools = ("eu-west-1a/m5.large", "eu-west-1a/m5.large/spot", "eu-west-1a/m6i.large/spot", "eu-west-1b/m5.large/spot")
    assert _pools(NO_FLEET, *pools, zone="eu-west-1a") == ["eu-west-1a/m5.large/spot", "eu-west-1a/m6i.large/spot"]


def test_a_stock_out_somewhere_names_no_pool() -> None:
    assert _pools(NO_FLEET, "eu-west-1a/m5.large/spot") == [""]


def test_a_full_reservation_says_nothing_about_the_pool() -> None:
    said = "The requested reservation does not have sufficient compatible and available capacity for this request."
    assert _pools(said, "eu-west-1a/m5.large", zone="eu-west-1a") == [""]


def test_a_quota_names_no_pool() -> None:
    assert _pools("Max spot instance count exceeded.", "eu-west-1a/m5.large/spot", zone="eu-west-1a") == [""]


def _pools(message: str, *pools: str, zone: str = "") -> list[str]:
    cause = cause_of(message, zone)
    assert cause is not None
    return [error.pool for error in cause.errors([Pool.parse(pool) for pool in pools])]
