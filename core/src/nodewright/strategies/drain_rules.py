"""The built-in drain rules, in the order of the default chain. Cluster Autoscaler's have its names for them."""

from nodewright.api import (
    DO_NOT_DISRUPT,
    SAFE_TO_EVICT,
    DrainContext,
    DrainRule,
    Pod,
    PodFate,
    Reason,
    is_protected,
)

_SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
_COUNTED = frozenset(["ReplicationController", "ReplicaSet"])
_REPLICATED = frozenset([*_COUNTED, "Job", "StatefulSet"])
_SYSTEM = "kube-system"


class Mirror(DrainRule):
    """Lets static pods go down with their node: they belong to its kubelet."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Recognize static pods by their annotation."""
        return PodFate.STAYS if pod.is_mirror else None


class LongTerminating(DrainRule):
    """Treats pods as gone that did not end within their grace period and half a minute."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """The time decides about pods that are being deleted, and about no others."""
        return pod.metadata.deletion_timestamp is not None

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Compare the time with when the pod should have ended."""
        deleted = pod.metadata.deletion_timestamp
        return PodFate.STAYS if deleted is not None and pod.gone_by(deleted) < context.now else None


class DoNotDisrupt(DrainRule):
    """Keeps nodes with pods that ask not to be disturbed: for good, until a time, or for a while after they came."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """The annotation may hold for a while only, so the time decides."""
        return DO_NOT_DISRUPT in pod.metadata.annotations

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Read the annotation, ours or Karpenter's."""
        meta = pod.metadata
        return Reason.PROTECTED if is_protected(meta.annotations, meta.creation_timestamp, context.now) else None


class ReplicaCount(DrainRule):
    """Keeps nodes with pods whose controller does not exist, or wants fewer pods than ``scaleDown.minReplicas``.

    Does nothing while ``scaleDown.skipCustomControllerPods`` is off.
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


class DaemonSetPods(DrainRule):
    """Lets no pod of a DaemonSet keep its node: such pods live and die with it."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Recognize them by their controller's kind."""
        return PodFate.MOVES if pod.is_daemon else None


class SafeToEvict(DrainRule):
    """Lets pods be evicted whose annotation allows it, whatever later rules say."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Read the annotation."""
        return PodFate.MOVES if pod.metadata.annotations.get(SAFE_TO_EVICT) == "true" else None


class Terminal(DrainRule):
    """Lets no pod keep its node that has ended and will not be started again."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Pods that have ended differ from others like them."""
        return pod.finished

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Look at the phase; a pod that has succeeded may be started again."""
        ended = pod.status.phase == "Failed" or (
            pod.status.phase == "Succeeded" and pod.spec.restart_policy in ("Never", "OnFailure")
        )
        return PodFate.MOVES if ended else None


class OnCompletion(DrainRule):
    """Waits for pods to end whose annotation asks for it, before their node is deleted."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | None:
        """Read the annotation."""
        return PodFate.WAITS if pod.metadata.annotations.get(SAFE_TO_EVICT) == "on-completion" else None


class NotReplicated(DrainRule):
    """Keeps nodes with pods that have no controller, or (``scaleDown.skipCustomControllerPods``) an unusual one.

    No one would start such a pod again.
    """

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look at the controller's kind."""
        owner = pod.metadata.controller
        unusual = owner is not None and owner.kind not in _REPLICATED
        if owner is None or (unusual and context.settings.skip_custom_controller_pods):
            return Reason.NOT_REPLICATED
        return None


class System(DrainRule):
    """Keeps nodes with young pods of kube-system that no disruption budget covers; older ones may be evicted.

    Does nothing while ``scaleDown.skipSystemPods`` is off. Pods are young for ``scaleDown.systemPodsBlockFor``.
    """

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """The age of such a pod decides."""
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
        return context.settings.skip_system_pods and pod.metadata.namespace == _SYSTEM and not context.budgets


class NotSafeToEvict(DrainRule):
    """Keeps nodes with pods whose annotation forbids their eviction."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Read the annotation."""
        return Reason.NOT_SAFE_TO_EVICT if pod.metadata.annotations.get(SAFE_TO_EVICT) == "false" else None


class LocalStorage(DrainRule):
    """Keeps nodes with pods that would lose data on the node's disk, unless their annotation gives these volumes up.

    Does nothing while ``scaleDown.skipLocalStorage`` is off.
    """

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look for volumes of the kinds hostPath and emptyDir; an emptyDir in memory is lost with any pod."""
        if not context.settings.skip_local_storage:
            return None
        safe = pod.metadata.annotations.get(_SAFE_VOLUMES, "").split(",")
        for volume in pod.spec.volumes:
            on_disk = volume.empty_dir is not None and volume.empty_dir.medium != "Memory"
            if (volume.host_path is not None or on_disk) and volume.name not in safe:
                return Reason.LOCAL_STORAGE
        return None


class DisruptionBudget(DrainRule):
    """Keeps nodes with pods whose disruption budgets allow no further disruption."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look at what is left of the budgets after the nodes that were found removable before."""
        return Reason.NOT_ENOUGH_BUDGET if context.spent_budgets else None
