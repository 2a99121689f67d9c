"""The pace of a run: how long the rules that are left will take, by those that were tried."""

from collections.abc import Collection, Sequence

from nodewright.testing.conformance.live.results import Outcome, Result, Rule


class Pace:
    """Learns how long rules take: apart for those that resize groups, which wait for machines, and for all others.

    Times are in seconds of any monotonic clock.
    """

    def __init__(self, abilities: Collection[str]) -> None:
        """*abilities* are what the cloud can do: a rule that needs more is skipped, which takes no time."""
        self._abilities = frozenset(abilities)
        self._left: list[Rule] = []
        self._total = 0
        self._began: float | None = None
        self._took: dict[bool, list[float]] = {True: [], False: []}

    def begin(self, rules: Sequence[Rule]) -> None:
        """Note which rules are to be tried."""
        self._left = list(rules)
        self._total = len(rules)

    def start(self, now: float) -> None:
        """Note that the next rule begins *now*."""
        self._began = now

    def tell(self, result: Result, now: float) -> None:
        """Note that a rule has ended *now*."""
        self._left.remove(result.rule)
        if self._began is not None and result.outcome is not Outcome.SKIPPED:
            self._took[_resizes(result.rule)].append(now - self._began)

    @property
    def done(self) -> str:
        """How far it is, such as ``12 of 200``."""
        return f"{self._total - len(self._left)} of {self._total}"

    @property
    def left(self) -> float | None:
        """Seconds that it will take from here; None while that can't be told."""
        tried = [rule for rule in self._left if self._abilities >= _needed_of_cloud(rule)]
        total = 0.0
        for resizes, took in self._took.items():
            count = sum(_resizes(rule) is resizes for rule in tried)
            if count and not took:
                return None
            total += sum(took) / max(len(took), 1) * count
        return total


def _resizes(rule: Rule) -> bool:
    return "Ability.CHANGE" in rule.needs


def _needed_of_cloud(rule: Rule) -> set[str]:
    return {need for need in rule.needs if not need.startswith("Capability.")}
