"""Scenarios for whole lives: a test names only what it is about."""

import json

FITTING = {"cpu": 4, "memory": "8Gi", "price": 0.2}
ROOMY = {"cpu": 16, "memory": "64Gi", "price": 0.8}
GPU = {"cpu": 8, "memory": "32Gi", "price": 1.6, "gpu": {"type": "tesla", "count": 2}}
HUGE = {"cpu": 64, "memory": "256Gi", "price": 3}


def a_group(name, **fields):
    """A group of up to 20 fitting machines in zone eu-a, each of which is a node after 30 seconds."""
    return {"name": name, "zone": "eu-a", "instanceType": "fitting", "max": 20, "bootTime": "30s", **fields}


def two_choices(**fields):
    """Two groups: of machines that fit four pods of the deployment, and of roomier ones in another zone."""
    return a_group("first-choice", **fields), a_group("fallback", zone="eu-b", instanceType="roomy", **fields)


def a_deployment(name="web", **fields):
    """A deployment of pods of one cpu and 2 GiB."""
    return {"name": name, "cpu": "1", "memory": "2Gi", **fields}


def a_scenario(*groups, replicas=4, deployments=(), **workloads):
    """A scenario in YAML: *groups*, or else two choices, and the deployment web, or else *deployments*.

    *workloads* are daemonSets, budgets and what else there is.
    """
    scenario = {
        "zones": ["eu-a", "eu-b"],
        "instanceTypes": {"fitting": FITTING, "roomy": ROOMY, "huge": HUGE, "gpu": GPU},
        "groups": groups or two_choices(),
        "workloads": {"deployments": deployments or [a_deployment(replicas=replicas)], **workloads},
    }
    # JSON is YAML.
    return json.dumps(scenario)
