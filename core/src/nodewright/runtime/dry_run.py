"""A dry run: nothing is carried out; each decision is compared with what another autoscaler does."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.explain.narrative import describe_actions
from nodewright.memory_store import MemoryKeeper
from nodewright.runtime.cycle import Cycle
from nodewright.runtime.informer import Informer
from nodewright.runtime.reload import Reloader
from nodewright.runtime.reporting import Reporter
from nodewright.serve.metrics import Metrics
from nodewright.serve.metrics.process import ShadowMetrics
from nodewright.shadow.comparison import Comparison
from nodewright.shadow.judgement import Category, Judgement, JudgementKind

_LEVELS = {Category.AGREEMENT: logging.INFO, Category.DIFFERENCE: logging.WARNING, Category.NOTE: logging.INFO}

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
        self._reporter.compared(decision, self._comparison.actions, findings)


class ComparisonLog:
    """Writes one log line for each new proposal and for each finding, and counts findings. For the loop's thread."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = ShadowMetrics(
            metrics.registry,
            agreements=[kind.value for kind in JudgementKind if kind.category is Category.AGREEMENT],
            differences=[kind.value for kind in JudgementKind if kind.category is Category.DIFFERENCE],
        )
        self._proposed: frozenset[str] = frozenset()

    def write(self, decision: Decision, findings: Sequence[Judgement]) -> None:
        """Log what *decision* would do that the one before would not, and what the comparison found."""
        lines = describe_actions(decision)
        for line in lines:
            if line not in self._proposed:
                _log.info("would %s", line)
        self._proposed = frozenset(lines)
        for finding in findings:
            about = {"shadow": finding.category.value, "kind": finding.kind.value, "group": finding.group}
            if finding.node:
                about["node"] = finding.node
            _log.log(_LEVELS[finding.category], "%s (%s): %s", finding.category, finding.kind, finding, extra=about)
            if finding.category is Category.AGREEMENT:
                self._metrics.agreed(finding.kind.value)
            elif finding.category is Category.DIFFERENCE:
                self._metrics.differed(finding.kind.value)
