"""kube-scheduler's filters, one file each, in its order.

Each has a ``check(snapshot, pod, info)`` that returns the reasons why the pod may not run on that node: none if it
may. Some have a ``precheck(snapshot, pod)`` for what rules out all nodes at once; it comes before all checks.
"""

from . import (
    inter_pod_affinity,
    node_affinity,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)

CHECKS = {
    "NodeUnschedulable": node_unschedulable.check,
    "NodeName": node_name.check,
    "TaintToleration": taint_toleration.check,
    "NodeAffinity": node_affinity.check,
    "NodePorts": node_ports.check,
    "NodeResourcesFit": node_resources_fit.check,
    "VolumeRestrictions": volume_restrictions.check,
    "NodeVolumeLimits": node_volume_limits.check,
    "VolumeBinding": volume_binding.check,
    "VolumeZone": volume_zone.check,
    "PodTopologySpread": pod_topology_spread.check,
    "InterPodAffinity": inter_pod_affinity.check,
}

PRECHECKS = {
    "VolumeRestrictions": volume_restrictions.precheck,
    "VolumeBinding": volume_binding.precheck,
    "VolumeZone": volume_zone.precheck,
}

__all__ = ["CHECKS", "PRECHECKS"]
