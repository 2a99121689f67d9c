"""News of a dry run: what would be done, and how that compares with what another autoscaler does."""

import logging
from collections.abc import Sequence

from nodewright.api.decision import Decision
from nodewright.explain.narrative import describe_actions
from nodewright.serve.metrics import Metrics
from nodewright.serve.metrics.shadow import ShadowMetrics
from nodewright.shadow.judgement import Category, Judgement, JudgementKind

_LEVELS = {Category.AGREEMENT: logging.INFO, Category.DIFFERENCE: logging.WARNING, Category.NOTE: logging.INFO}

_log = logging.getLogger("nodewright.shadow")


class ShadowNews:
    """Writes one log line for each proposal and for each finding, and counts these. For the loop's thread."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = ShadowMetrics(
            metrics.registry,
            agreements=[kind.value for kind in JudgementKind if kind.category is Category.AGREEMENT],
            differences=[kind.value for kind in JudgementKind if kind.category is Category.DIFFERENCE],
        )
        self._told: frozenset[str] = frozenset()

    def tell(self, decision: Decision, findings: Sequence[Judgement]) -> None:
        """Tell of a loop: what *decision* would do that the one before would not, and what was found."""
        lines = describe_actions(decision)
        for line in lines:
            if line not in self._told:
                _log.info("would %s", line)
        self._told = frozenset(lines)
        for finding in findings:
            about = {"shadow": finding.category.value, "kind": finding.kind.value, "group": finding.group}
            if finding.node:
                about["node"] = finding.node
            _log.log(_LEVELS[finding.category], "%s (%s): %s", finding.category, finding.kind, finding, extra=about)
            if finding.category is Category.AGREEMENT:
                self._metrics.agreed(finding.kind.value)
            elif finding.category is Category.DIFFERENCE:
                self._metrics.differed(finding.kind.value)
