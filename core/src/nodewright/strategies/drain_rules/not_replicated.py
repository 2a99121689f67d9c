"""Drain rule ``not-replicated``: pods that nobody would start again."""

from nodewright.api import DrainContext, DrainRule, Pod, Reason

_REPLICATED = frozenset(["ReplicationController", "ReplicaSet", "Job", "StatefulSet"])


class NotReplicated(DrainRule):
    """Keeps nodes with pods that have no controller, or (``scaleDown.skipCustomControllerPods``) an unusual one."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look at the controller's kind."""
        owner = pod.metadata.controller
        unusual = owner is not None and owner.kind not in _REPLICATED
        if owner is None or (unusual and context.settings.skip_custom_controller_pods):
            return Reason.NOT_REPLICATED
        return None
