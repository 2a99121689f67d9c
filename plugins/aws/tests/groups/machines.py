"""Instances in boto3's words, and the nodes they become."""

from nodewright.testing import a_node


def machine(number, state="InService", *, zone="eu-west-1a"):
    return {
        "InstanceId": machine_id(number),
        "AvailabilityZone": zone,
        "InstanceType": "m5.large",
        "LifecycleState": state,
        "HealthStatus": "Healthy",
        "ProtectedFromScaleIn": False,
    }


def machine_id(number):
    return f"i-{number:017x}"


def node(number):
    return a_node(f"node-{number}", provider_id=f"aws:///eu-west-1a/{machine_id(number)}")


def placeholder(number, group="workers"):
    return a_node("placeholder", provider_id=f"aws:///eu-west-1a/i-placeholder-{group}-{number}")
