"""Controllers of pods that the autoscaler has to know itself: so far DaemonSets, which run on new nodes too."""

from nodewright.objects.meta import KubeStruct, ObjectMeta
from nodewright.objects.pod import Pod, PodSpec


class PodTemplate(KubeStruct, frozen=True, kw_only=True):
    """What the pods of a controller look like."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class DaemonSetSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a DaemonSet."""

    template: PodTemplate = PodTemplate()


class DaemonSet(KubeStruct, frozen=True, kw_only=True):
    """One pod per suitable node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()

    @property
    def pod(self) -> Pod:
        """The pod that this DaemonSet would start on a suitable node."""
        template = self.spec.template
        return Pod(
            metadata=ObjectMeta(
                name=self.metadata.name,
                namespace=self.metadata.namespace,
                labels=template.metadata.labels,
                annotations=template.metadata.annotations,
            ),
            spec=template.spec,
        )
