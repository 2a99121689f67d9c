"""Answers of expanders that ask outside: they are recorded, and a replay takes them from the record."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256

from nodewright.api.decision import Answer
from nodewright.api.expander import ExpanderContext
from nodewright.api.option import Option
from nodewright.decision.policy import Policy
from nodewright.plugins.error_text import describe
from nodewright.plugins.results import part_of


class Answers:
    """The answers that one decision gets: now, or as recorded if the policy has a record.

    An expander that fails is not asked again in the same decision: the loop waits for it once at most.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._answers: list[Answer] = []

    @property
    def given(self) -> tuple[Answer, ...]:
        """The answers so far, in the order in which they were needed."""
        return tuple(self._answers)

    def best(
        self, name: str, ask: Callable[[], object], options: Sequence[Option], context: ExpanderContext
    ) -> Sequence[Option] | None:
        """Return what expander *name* keeps of *options*: all of them if the record has no answer, None if it fails.

        *ask* asks the expander, which reports to *context*.
        """
        answer = Answer(
            expander=name,
            offered=tuple(option.group.id for option in options),
            question=_digest(options),
            kept=tuple(option.group.id for option in options),
        )
        failure = next((each.error for each in self._answers if each.expander == name and each.error), "")
        if self._policy.answers is not None:
            recorded = _recorded(answer, self._policy.answers, context)
            if recorded is None:
                return options
            answer = recorded
        elif failure:
            answer = replace(answer, error=failure)
        else:
            answer = self._ask(answer, ask, options, context)
        self._answers.append(answer)
        if answer.error:
            return None
        by_group = {option.group.id: option for option in options}
        return [by_group[group] for group in answer.kept if group in by_group]

    def _ask(
        self, blank: Answer, ask: Callable[[], object], options: Sequence[Option], context: ExpanderContext
    ) -> Answer:
        """Ask and return the answer. A failure is noted as a fault, like that of any strategy."""
        check = part_of(options, Option, lambda option: f"an option to grow {option.group.id}")
        notices_before = len(context.notices)
        kept, failure = options, ""
        try:
            with self._policy.faults.calling(blank.expander, "best"):
                kept = check(ask())
        except Exception as error:
            self._policy.faults.note(blank.expander, "best", error)
            failure = describe(error)
        return replace(
            blank,
            kept=tuple(option.group.id for option in kept),
            error=failure,
            notices=tuple(context.notices[notices_before:]),
        )


def _recorded(blank: Answer, answers: Sequence[Answer], context: ExpanderContext) -> Answer | None:
    """Return the recorded answer to the same question and repeat its notices; None, with a notice, if there is none."""
    question = (blank.expander, blank.question)
    found = next((each for each in answers if (each.expander, each.question) == question), None)
    if found is None:
        message = (
            f"{blank.expander} was not asked about these options when its answers were recorded; all of them are kept"
        )
        context.notice("NoAnswerOnRecord", message, warning=False)
    else:
        context.notices.extend(found.notices)
    return found


def _digest(options: Sequence[Option]) -> str:
    """Return a digest of *options*. The order of pods does not count, as it has no meaning."""
    digest = sha256()
    for option in options:
        keys = sorted(key for pods in option.pods for key in pods.keys)
        digest.update("\n".join((option.group.id, str(option.nodes), *keys, "")).encode())
    return digest.hexdigest()[:16]
