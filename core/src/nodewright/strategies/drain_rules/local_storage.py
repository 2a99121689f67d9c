"""Drain rule ``local-storage``: pods that would lose what they have on disk."""

from nodewright.api import DrainContext, DrainRule, Pod, Reason

_SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"


class LocalStorage(DrainRule):
    """Keeps nodes with pods that have data on the node's disk, unless their annotation gives these volumes up.

    Holds where ``scaleDown.skipLocalStorage`` does.
    """

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look at volumes of the kinds hostPath and emptyDir; one in memory is lost with any pod."""
        if not context.settings.skip_local_storage:
            return None
        safe = pod.metadata.annotations.get(_SAFE_VOLUMES, "").split(",")
        for volume in pod.spec.volumes:
            on_disk = volume.empty_dir is not None and volume.empty_dir.medium != "Memory"
            if (volume.host_path is not None or on_disk) and volume.name not in safe:
                return Reason.LOCAL_STORAGE
        return None
