"""What takes the place of a drain rule that can't be loaded."""

from nodewright.api import DrainContext, DrainRule, Pod


class Missing(DrainRule):
    """Keeps all nodes with pods: nobody knows which of them the rule would have kept."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> str:
        """Say so."""
        return "DrainRuleMissing"
