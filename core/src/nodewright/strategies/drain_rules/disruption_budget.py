"""Drain rule ``disruption-budget``: pods whose disruption budget is spent."""

from nodewright.api import DrainContext, DrainRule, Pod, Reason


class DisruptionBudget(DrainRule):
    """Keeps nodes with pods whose disruption budgets allow no disruption any more."""

    alike = True

    def judge(self, pod: Pod, context: DrainContext) -> Reason | None:
        """Look at what is left; nodes that were found removable before have used it up, too."""
        return Reason.NOT_ENOUGH_BUDGET if context.spent_budgets else None
