"""Drain rule ``system``: pods of kube-system that nobody watches over."""

from nodewright.api import DrainContext, DrainRule, Pod, PodFate, Reason

_NAMESPACE = "kube-system"


class System(DrainRule):
    """Keeps nodes with young pods of kube-system that no disruption budget covers; older ones may be evicted.

    Holds where ``scaleDown.skipSystemPods`` does, for as long as ``scaleDown.systemPodsBlockFor`` says.
    """

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Age counts."""
        return self._concerns(pod, context)

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | Reason | None:
        """Look at the age."""
        if not self._concerns(pod, context):
            return None
        born = pod.metadata.creation_timestamp
        if born is not None and context.now - born > context.settings.system_pods_block_for:
            return PodFate.MOVES
        return Reason.SYSTEM_POD

    def _concerns(self, pod: Pod, context: DrainContext) -> bool:
        return context.settings.skip_system_pods and pod.metadata.namespace == _NAMESPACE and not context.budgets
