"""News of a dry run: what would be done, and how that compares with what another autoscaler does."""

import logging
from collections.abc import Sequence

from nodewright.api.decision import Decision
from nodewright.explain.narrative import tell
from nodewright.serve.metrics import Metrics
from nodewright.serve.metrics.process import ShadowMetrics
from nodewright.shadow.finding import Finding, Kind, Sort

_LEVELS = {Sort.AGREEMENT: logging.INFO, Sort.DIFFERENCE: logging.WARNING, Sort.NOTE: logging.INFO}

_log = logging.getLogger("nodewright.shadow")


class ShadowNews:
    """Writes one log line for each proposal and for each finding, and counts these. For the loop's thread."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = ShadowMetrics(
            metrics.registry,
            agreements=[kind.value for kind in Kind if kind.sort is Sort.AGREEMENT],
            differences=[kind.value for kind in Kind if kind.sort is Sort.DIFFERENCE],
        )
        self._told: frozenset[str] = frozenset()

    def tell(self, decision: Decision, findings: Sequence[Finding]) -> None:
        """Tell of a loop: what *decision* would do that the one before would not, and what was found."""
        lines = tell(decision)
        for line in lines:
            if line not in self._told:
                _log.info("would %s", line)
        self._told = frozenset(lines)
        for finding in findings:
            about = {"shadow": finding.sort.value, "kind": finding.kind.value, "group": finding.group}
            if finding.node:
                about["node"] = finding.node
            _log.log(_LEVELS[finding.sort], "%s (%s): %s", finding.sort, finding.kind, finding, extra=about)
            if finding.sort is Sort.AGREEMENT:
                self._metrics.agreed(finding.kind.value)
            elif finding.sort is Sort.DIFFERENCE:
                self._metrics.differed(finding.kind.value)
