"""The table of rules that grows as they are tried."""

from collections.abc import Sequence

from nodewright.cli.table import aligned, screen_width
from nodewright.testing.conformance.live.results import Outcome, Result, Rule

_WIDEST = 72


class RuleTable:
    """Prints one line for each rule, as soon as it is known what came of it."""

    def __init__(self) -> None:
        self._name = 0

    def begin(self, rules: Sequence[Rule]) -> None:
        """Print the head."""
        self._name = min(_WIDEST, max((len(rule.name) for rule in rules), default=0))
        print()
        self._line("RESULT", "RULE", "WHY")

    def tell(self, result: Result) -> None:
        """Print a line; a rule that is broken shouts."""
        broken = result.outcome is Outcome.FAILED
        self._line(result.outcome.upper() if broken else result.outcome, result.rule.name, result.reason)

    def _line(self, outcome: str, name: str, reason: str) -> None:
        width = screen_width()
        words = " ".join(reason.split())
        print(aligned([(f"{outcome:<7}", f"{name:<{self._name}}", words)], width=width), flush=True)
