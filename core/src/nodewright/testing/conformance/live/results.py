"""Results: the outcome of each rule of a suite."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """The outcome of a rule."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One test of a suite, in words."""

    #: In a few words.
    name: str
    #: The whole sentence.
    sentence: str
    #: The section of the suite that it belongs to.
    theme: str


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of a rule, and why."""

    rule: Rule
    outcome: Outcome
    #: Why it is broken, or was skipped.
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of all rules, with the provider and its settings."""

    provider: str
    #: The distribution that the provider is of, with its version.
    distribution: str
    nodewright: str
    at: datetime
    #: ``read-only`` or ``full``.
    mode: str
    group: str
    #: The provider's settings, without secrets.
    config: Any
    results: tuple[Result, ...]
    #: What was not set back, or why not all rules were tried; empty if all is well.
    trouble: str = ""
    interrupted: bool = False

    def count(self, outcome: Outcome) -> int:
        """How many rules have this outcome."""
        return sum(result.outcome is outcome for result in self.results)

    @property
    def summary(self) -> str:
        """One line."""
        return ", ".join(f"{self.count(outcome)} {outcome}" for outcome in Outcome)

    @property
    def status(self) -> int:
        """The exit status: 0 if no rule is broken, 1 if one is, 2 if that could not be found out; 130 after Ctrl-C."""
        if self.interrupted:
            return 130
        if self.count(Outcome.FAILED):
            return 1
        return 2 if self.trouble or not self.count(Outcome.PASSED) else 0
