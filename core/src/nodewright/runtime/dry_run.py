"""A dry run: nothing is carried out; each decision is compared with what another autoscaler does."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.narrative import tell
from nodewright.memory_store import MemoryKeeper
from nodewright.runtime.cycle import Cycle
from nodewright.runtime.informer import Informer
from nodewright.runtime.reload import Reloader
from nodewright.runtime.reporting import Reporter
from nodewright.serve.metrics import Metrics
from nodewright.serve.metrics.process import ShadowMetrics
from nodewright.shadow.comparison import Comparison
from nodewright.shadow.finding import Finding, Kind, Sort

_LEVELS = {Sort.AGREEMENT: logging.INFO, Sort.DIFFERENCE: logging.WARNING, Sort.NOTE: logging.INFO}

_log = logging.getLogger("nodewright.shadow")


class DryRunCycle(Cycle):
    """Observes and decides as any cycle; instead of acting, it compares. The session must be one of a dry run."""

    def __init__(
        self,
        reloader: Reloader,
        informer: Informer,
        reporter: Reporter,
        keeper: MemoryKeeper,
        clock: Clock,
        permit: Callable[[], None],
    ) -> None:
        super().__init__(reloader, informer, reporter, keeper, clock, permit)
        self._comparison = Comparison(reloader.session.settings, clock.now())
        self._log = ComparisonLog(reporter.metrics)

    def _before_decision(self, world: World, now: datetime) -> None:
        """Look at what the other autoscaler did since the last cycle, and go on with the memory of that."""
        settings, decide = self.session.settings, self.session.decide
        self.memory = self._comparison.begin(world, self.memory, settings, now, decide)

    def _act(self, decision: Decision, world: World, before: Memory, now: datetime) -> None:
        """Carry out nothing; report how *decision* compares."""
        self.memory = self.session.act(decision, world).memory(self.memory, before)
        findings = self._comparison.end(decision, world, self.memory, self.session.settings)
        self._log.write(decision, findings)
        self._reporter.compared(decision, self._comparison.deeds, findings)


class ComparisonLog:
    """Writes one log line for each new proposal and for each finding, and counts findings. For the loop's thread."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = ShadowMetrics(
            metrics.registry,
            agreements=[kind.value for kind in Kind if kind.sort is Sort.AGREEMENT],
            differences=[kind.value for kind in Kind if kind.sort is Sort.DIFFERENCE],
        )
        self._proposed: frozenset[str] = frozenset()

    def write(self, decision: Decision, findings: Sequence[Finding]) -> None:
        """Log what *decision* would do that the one before would not, and what the comparison found."""
        lines = tell(decision)
        for line in lines:
            if line not in self._proposed:
                _log.info("would %s", line)
        self._proposed = frozenset(lines)
        for finding in findings:
            about = {"shadow": finding.sort.value, "kind": finding.kind.value, "group": finding.group}
            if finding.node:
                about["node"] = finding.node
            _log.log(_LEVELS[finding.sort], "%s (%s): %s", finding.sort, finding.kind, finding, extra=about)
            if finding.sort is Sort.AGREEMENT:
                self._metrics.agreed(finding.kind.value)
            elif finding.sort is Sort.DIFFERENCE:
                self._metrics.differed(finding.kind.value)
