"""The table of rules that grows as they are tried."""

from collections import Counter
from collections.abc import Sequence

from nodewright.cli.table import aligned, screen_width
from nodewright.testing.conformance.live.results import Outcome, Result, Rule

_WIDEST = 72


class RuleTable:
    """Prints a line for each rule as soon as it has been tried, and in the end how many were skipped, and why."""

    def __init__(self) -> None:
        self._name = 0
        self._skipped = Counter[str]()

    def begin(self, rules: Sequence[Rule]) -> None:
        """Print the head."""
        self._name = min(_WIDEST, max((len(rule.name) for rule in rules), default=0))
        if rules:
            print()
            self._line("RESULT", "RULE", "WHY")

    def tell(self, result: Result) -> None:
        """Print what came of a rule; one that is broken shouts."""
        match result.outcome:
            case Outcome.SKIPPED:
                self._skipped[" ".join(result.reason.split())] += 1
            case Outcome.FAILED:
                self._line("FAILED", result.rule.name, result.reason)
            case Outcome.PASSED:
                self._line("passed", result.rule.name, "")

    def end(self) -> None:
        """Print how many rules were skipped for which reason; which ones, the report tells."""
        if self._skipped:
            rows = [("SKIPPED", "WHY"), *((str(count), reason) for reason, count in self._skipped.items())]
            print("\n" + aligned(rows, width=screen_width()).rstrip())

    def _line(self, outcome: str, name: str, reason: str) -> None:
        words = " ".join(reason.split())
        row = (f"{outcome:<7}", f"{name:<{self._name}}", words)
        print(aligned([row], width=screen_width()).rstrip(), flush=True)
