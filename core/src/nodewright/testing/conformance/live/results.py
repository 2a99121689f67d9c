"""Results: the outcome of each rule of a suite."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
    #: The name of the test.
    test: str = ""
    #: What it needs of the cloud and the provider, such as ``Ability.CHANGE``.
    needs: tuple[str, ...] = ()
    #: Where to read on: a section of the documentation, and parts of the contract as ``pydoc`` finds them.
    read_on: tuple[str, ...] = ()


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
    #: The version of the contract that the rules are of.
    contract: int
    python: str
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
    def broken(self) -> tuple[Result, ...]:
        """The results of rules that are broken."""
        return tuple(result for result in self.results if result.outcome is Outcome.FAILED)

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many rules were skipped for each reason, the most frequent first."""
        reasons = (result.reason for result in self.results if result.outcome is Outcome.SKIPPED)
        return dict(Counter(" ".join(reason.split()) for reason in reasons).most_common())

    @property
    def themes(self) -> Mapping[str, Sequence[Result]]:
        """The results by theme."""
        themes: dict[str, list[Result]] = {}
        for result in self.results:
            themes.setdefault(result.rule.theme or "Other rules", []).append(result)
        return themes

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
