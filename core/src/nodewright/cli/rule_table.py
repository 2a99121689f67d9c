"""The table of rules that grows as they are tried."""

import textwrap
from collections.abc import Sequence

from nodewright.cli.table import aligned, screen_width
from nodewright.testing.conformance.live.results import Outcome, Result, Rule

_WIDEST = 72
#: So many rules that were skipped for one reason are named; more would push all else off the screen.
_NAMED = 9


class RuleTable:
    """Prints a line for each rule as soon as it has been tried, and in the end which ones were skipped, and why."""

    def __init__(self) -> None:
        self._name = 0
        self._skipped: dict[str, list[str]] = {}

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
                self._skipped.setdefault(result.reason, []).append(result.rule.name)
            case Outcome.FAILED:
                self._line("FAILED", result.rule.name, result.reason)
            case Outcome.PASSED:
                self._line("passed", result.rule.name, "")

    def end(self) -> None:
        """Print the rules that were skipped, reason by reason; where they are many, how many."""
        width = screen_width() or 10_000
        for reason, names in self._skipped.items():
            print(f"\n{len(names)} skipped: {reason}")
            if len(names) > _NAMED:
                continue
            print(textwrap.fill(", ".join(names), width, initial_indent="  ", subsequent_indent="  "))

    def _line(self, outcome: str, name: str, reason: str) -> None:
        words = " ".join(reason.split())
        row = (f"{outcome:<7}", f"{name:<{self._name}}", words)
        print(aligned([row], width=screen_width()).rstrip(), flush=True)
