"""Pod disruption budgets."""

from nodewright.objects.meta import KubeStruct, ObjectMeta
from nodewright.objects.pod import Pod
from nodewright.objects.selector import LabelSelector


class BudgetSpec(KubeStruct, frozen=True, kw_only=True):
    """The pods whose disruption is limited."""

    selector: LabelSelector | None = None


class BudgetStatus(KubeStruct, frozen=True, kw_only=True):
    """How many pods may be disrupted now."""

    disruptions_allowed: int = 0


class PodDisruptionBudget(KubeStruct, frozen=True, kw_only=True):
    """A budget for voluntary disruptions."""

    metadata: ObjectMeta = ObjectMeta()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()

    def covers(self, pod: Pod) -> bool:
        """Return whether evicting *pod* draws on this budget."""
        return (
            self.spec.selector is not None
            and pod.metadata.namespace == self.metadata.namespace
            and self.spec.selector.matches(pod.metadata.labels)
        )
