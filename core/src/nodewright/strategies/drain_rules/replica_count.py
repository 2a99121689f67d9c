"""Drain rule ``replica-count``: pods whose controller is gone, or wants too few."""

from nodewright.api import DrainContext, DrainRule, Pod, Reason

_COUNTED = frozenset(["ReplicationController", "ReplicaSet"])


class ReplicaCount(DrainRule):
    """Keeps nodes with pods whose controller does not exist, or wants fewer pods than ``scaleDown.minReplicas``.

    Holds where ``scaleDown.skipCustomControllerPods`` does.
    """

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look at the controller, if it is of a kind that we see."""
        owner, found = pod.metadata.controller, context.controller
        if not context.settings.skip_custom_controller_pods or owner is None or found is None:
            return None
        if not found.exists:
            return Reason.CONTROLLER_NOT_FOUND
        wanted = found.replicas if owner.kind in _COUNTED else None
        return Reason.MIN_REPLICAS if wanted is not None and wanted < context.settings.min_replicas else None
